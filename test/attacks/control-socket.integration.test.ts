// Whoever talks a service of the operator's into connecting to the supervisor's control socket commands nothing by that.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster, dummyServiceOnly } from "@swath/testing";

let cluster: TestCluster;

before(async () => {
  cluster = await createTestCluster({ USE_TLS: "false", ...dummyServiceOnly });
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
});

after(() => cluster.close());

const readState = (name: string): unknown => JSON.parse(readFileSync(join(cluster.directory, name), "utf8"));
const key = () => (readState("control.json") as { key: string }).key;

function send(
  method: string,
  path: string,
  { body, authorization }: { body?: unknown; authorization?: string } = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const socketPath = join(cluster.directory, "run/control.sock");
    const headers = authorization === undefined ? {} : { authorization };
    const outgoing = request({ socketPath, method, path, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    outgoing.on("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

test("every command without the key, or with another one, is refused", async () => {
  const desired = readState("plan.json");
  const pods = await cluster.pods();
  for (const authorization of [undefined, "Bearer", "Bearer x", `Basic ${key()}`, `Bearer ${key().slice(1)}`]) {
    for (const [method, path, body] of [
      ["GET", "/status"],
      ["GET", "/events"],
      ["GET", "/nothing"],
      ["PUT", "/desired", desired],
      ["POST", "/restart", { name: "dummy-service" }],
      ["POST", "/stop"],
      ["POST", "/hand-over"],
    ] as const) {
      const status = await send(method, path, { body, ...(authorization !== undefined && { authorization }) });
      assert.equal(status, 401, `${method} ${path} with ${authorization}`);
    }
  }
  assert.deepEqual(await cluster.pods(), pods);
});

test("only the operator can open the socket and read its key", () => {
  for (const file of [join(cluster.directory, "control.json"), join(cluster.directory, "run/control.sock")]) {
    const { mode, uid } = statSync(file);
    assert.equal(mode & 0o077, 0, file);
    assert.equal(uid, process.getuid?.(), file);
  }
});

test("a plan that would load code of its own is refused also with the key, and the one before stays", async () => {
  const desired = readState("plan.json") as { plan: { workloads: { name: string; env: object }[] } };
  const pods = await cluster.pods();
  const put = (change: object) => {
    const workloads = desired.plan.workloads.map((workload) =>
      workload.name === "dummy-service" ? { ...workload, ...change } : workload,
    );
    const body = { ...desired, plan: { ...desired.plan, workloads } };
    return send("PUT", "/desired", { body, authorization: `Bearer ${key()}` });
  };
  for (const change of [
    { env: { NODE_OPTIONS: "--import=data:text/javascript,process.exit(3)" } },
    { env: { LD_PRELOAD: "/tmp/evil.so" } },
    { entry: "../../../../tmp/evil" },
    { execArgv: ["--import=data:text/javascript,1"] },
  ]) {
    assert.equal(await put(change), 422, JSON.stringify(change));
  }
  assert.deepEqual(readState("plan.json"), desired);
  assert.deepEqual(await cluster.pods(), pods);
  assert.equal(await put({}), 204);
});
