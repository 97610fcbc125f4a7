import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { compiledCode, findFreePorts, waitUntil } from "@swath/testing";

let service: ChildProcess;
let url: string;
let management: string;
let log = "";

before(async () => {
  const [port, managementPort] = await findFreePorts(2);
  url = `http://127.0.0.1:${port}`;
  management = `http://127.0.0.1:${managementPort}`;
  service = spawn(process.execPath, [join(import.meta.dirname, "faulty-service.ts")], {
    env: { ...compiledCode, LISTEN: `127.0.0.1:${port}`, MANAGEMENT_LISTEN: `127.0.0.1:${managementPort}` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  service.stdout?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  await waitUntil(
    "the service is ready",
    async () => (await fetch(`${management}/readyz`).catch(() => undefined))?.ok === true,
  );
});
after(() => service.kill());

const findLine = (text: string) => log.split("\n").find((line) => line.includes(`"message":"${text}"`)) ?? "{}";

for (const path of ["rejects", "rejects-later", "throws", "throws-in-a-timer", "throws-while-reading"]) {
  test(`answers 500 with an id that is in the log when a handler ${path.replaceAll("-", " ")}, and goes on`, async () => {
    const response = await fetch(`${url}/${path}?secret=1`, { method: "POST", body: "body" });
    assert.equal(response.status, 500);
    const { requestId } = (await response.json()) as { requestId: string };
    await waitUntil("the line of the log", () => findLine(path) !== "{}");
    const line = JSON.parse(findLine(path)) as Record<string, unknown>;
    assert.equal(line["faultId"], requestId);
    assert.equal(line["path"], `/${path}`);
    assert.ok(!log.includes("secret=1"));
    assert.equal(await (await fetch(`${url}/`)).text(), "ok");
  });
}

test("ends the connection of a response that has begun, and goes on", async () => {
  await assert.rejects((await fetch(`${url}/throws-after-the-head`)).text());
  assert.equal(await (await fetch(`${url}/throws-after-the-end`)).text(), "whole");
  await waitUntil("the line of the log", () => findLine("throws-after-the-end") !== "{}");
  assert.equal(await (await fetch(`${url}/`)).text(), "ok");
});

test("ends the connection of an upgrade that fails, and goes on", async () => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {}).resume();
  socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  await once(socket, "close");
  assert.notEqual(findLine("throws-upgrading"), "{}");
  assert.equal(await (await fetch(`${url}/`)).text(), "ok");
});

test("counts such errors in its metrics", async () => {
  const text = await (await fetch(`${management}/metrics`)).text();
  assert.match(text, /^request_faults_total 8$/m);
});

test("takes the longest heads that an ingress passes on, with a body behind them", async () => {
  const headers = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`x-${index}`, "a".repeat(6000)]));
  const response = await fetch(`${url}/`, { method: "POST", headers, body: "a".repeat(1 << 20) });
  assert.equal(response.status, 200);
});

test("lists what the process serves on its management listener", async () => {
  const { paths } = (await (await fetch(`${management}/routes`)).json()) as { paths: Record<string, object> };
  assert.deepEqual(Object.keys(paths["/things/{id}?acl"] ?? {}), ["put", "get"]);
  assert.deepEqual(paths["/apps/{name}/{rest}"], {
    post: {
      parameters: [{ name: "q", in: "query" }],
      requestBody: { content: { "application/json": { schema: { type: "object" } } } },
    },
  });
});

test("stops for an error that belongs to no request", async () => {
  const exited = once(service, "exit");
  await fetch(`${url}/throws-outside`).catch(() => undefined);
  assert.deepEqual(await exited, [1, null]);
  assert.match(log, /uncaught error; stopping/);
});
