import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { createLogger } from "@swath/service";
import { Registry } from "prom-client";

import { createIngress } from "../ingress.ts";
import { configOf, makeFolder, routeTo, startPod } from "./harness.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: pod.test\r\n\r\n";
const IDLE_MS = 3000;

test("a connection that a browser opened in advance waits as long as one between two requests", async (t) => {
  const folder = makeFolder();
  const socketPath = join(folder.path, "pod.sock");
  const pod = await startPod(socketPath, (_, response) => response.end("ok"));
  const ingress = createIngress({
    logger: createLogger("test", "silent"),
    registry: new Registry(),
    accessLogFd: 2,
    limits: { idleTimeout: IDLE_MS, headTimeout: 100 },
    takeover: false,
  });
  await ingress.apply(configOf(0, [routeTo("pod.test", socketPath)]));
  const [{ port } = { port: 0 }] = ingress.listening();
  t.after(async () => {
    await ingress.drain(0);
    pod.closeAllConnections();
    pod.close();
    folder.close();
  });
  // One that was never used, as browsers open them in advance, and one that was.
  for (const earlier of ["", REQUEST]) {
    const client = connect(port, "127.0.0.1");
    let received = "";
    client.setEncoding("utf8").on("data", (text: string) => (received += text));
    await once(client, "connect");
    client.write(earlier);
    await sleep(IDLE_MS / 2);
    received = "";
    client.write(REQUEST);
    await Promise.race([once(client, "data"), once(client, "close")]);
    assert.match(received, /^HTTP\/1\.1 200/);
    // Idle for longer than that, it is closed.
    await once(client, "close");
  }
});
