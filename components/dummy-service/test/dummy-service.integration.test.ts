import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { createLogger } from "@swath/service";

import { createDummyService } from "../service.ts";

const server = createDummyService({ logger: createLogger("test", "silent"), maxEchoedBytes: 16 });
let base: string;

before(async () => {
  await new Promise<void>((resolve) => {
    server.listen({ host: "127.0.0.1", port: 0 }, resolve);
  });
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());

test("echoes method, path, query, headers and body", async () => {
  const response = await fetch(`${base}/a/b?x=1&x=2&y=`, { method: "PUT", body: "hello", headers: { "X-One": "1" } });
  const echoed = (await response.json()) as Record<string, unknown>;
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.equal(echoed["method"], "PUT");
  assert.equal(echoed["path"], "/a/b");
  assert.deepEqual(echoed["query"], { x: ["1", "2"], y: "" });
  assert.equal((echoed["headers"] as Record<string, string>)["x-one"], "1");
  assert.equal(echoed["body"], "hello");
});

test("a long body is counted whole and echoed in part; a binary one as base64", async () => {
  const long = (await (await fetch(base, { method: "POST", body: "x".repeat(1_000_000) })).json()) as Record<
    string,
    unknown
  >;
  assert.deepEqual([long["body"], long["bodyBytes"], long["bodyTruncatedTo"]], ["x".repeat(16), 1_000_000, 16]);
  const binary = (await (await fetch(base, { method: "POST", body: Buffer.from([0xff, 0]) })).json()) as Record<
    string,
    unknown
  >;
  assert.deepEqual([binary["body"], binary["bodyEncoding"]], ["/wA=", "base64"]);
});

test("/healthz says that it is well", async () => {
  assert.deepEqual(await (await fetch(`${base}/healthz`)).json(), { status: "ok" });
});

test("a full disk under its log does not stop it, and SIGTERM ends it well", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-dummy-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const socketPath = join(folder, "http.sock");
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [join(import.meta.dirname, "../main.ts")], {
    stdio: ["ignore", full, full],
    env: { ...process.env, LISTEN: `unix:${socketPath}`, MANAGEMENT_LISTEN: `unix:${join(folder, "management.sock")}` },
  });
  const get = () =>
    new Promise<number>((resolve, reject) => {
      request({ socketPath, path: "/x", agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on("error", reject)
        .end();
    });
  assert.equal(await waitUntil("it answers", get), 200);
  assert.equal(await get(), 200);
  const ended = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
  child.kill("SIGTERM");
  assert.equal(await ended, 0);
});
