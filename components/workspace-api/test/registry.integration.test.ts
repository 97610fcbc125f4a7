// Workspaces and an image registry of their own: PostgreSQL and the registry for real, the step as the reconciler runs it.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestServer, startTestServer } from "@swath/postgres/server";
import { createPeer } from "@swath/service";
import { compiledCode, findFreePort, programFile, waitUntil } from "@swath/testing";

import { createRegistryAdmin } from "../clients/registry-admin.ts";
import { type RegistryOutputs, createRegistryStep } from "../steps/registry.ts";
import type { Outputs, Role } from "../store/tables.ts";
import type { Workspace } from "../store/workspaces.ts";

const PASSWORD = "password-of-the-tests";
let postgres: TestServer;
let folder: string;
let child: ChildProcess;
let url: string;

before(async () => {
  postgres = await startTestServer();
  folder = mkdtempSync(join(tmpdir(), "swath-workspace-registry-"));
  const port = await findFreePort();
  url = `http://127.0.0.1:${port}`;
  child = spawn(process.execPath, [programFile("registry/main.ts")], {
    env: {
      PATH: process.env["PATH"],
      ...compiledCode,
      LOG_LEVEL: "error",
      DATABASE_URL: postgres.url,
      PUBLIC_URL: url,
      LISTEN: `127.0.0.1:${port}`,
      REGISTRY_ADMIN_PASSWORD: PASSWORD,
      TOKEN_SECRET: "secret of the tests, which is long enough",
      DATA_DIR: folder,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await waitUntil("the registry answers", async () => {
    const response = await fetch(`${url}/healthz`).catch(() => undefined);
    return response?.ok;
  });
});
after(async () => {
  child.kill("SIGKILL");
  await postgres.close();
  rmSync(folder, { recursive: true, force: true });
});

const api = (method: string, path: string, user = "admin", password = PASSWORD) =>
  fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` },
  });

test("a workspace gets a project, its members their roles, and programs a robot account that survives repairs", async () => {
  const peer = createPeer(url);
  const step = createRegistryStep({
    registry: createRegistryAdmin({ peer, password: PASSWORD }),
    host: "registry.example.org",
    cluster: undefined,
  });
  let outputs: Outputs | null = null;
  const run = async (wasDone: boolean, members: Readonly<Record<string, Role>>, change: Partial<Workspace> = {}) => {
    const workspace = {
      name: "ws-eric",
      data: "purge",
      members: Object.entries(members).map(([username, role]) => ({ username, userId: null, role })),
      ...change,
    } as unknown as Workspace;
    const context = {
      workspace,
      outputs,
      wasDone,
      save: async (next: Outputs) => {
        outputs = next;
      },
    };
    return { context, mended: await step.apply(context) };
  };
  const roles = async () => {
    const members = (await (await api("GET", "/api/v2.0/projects/ws-eric/members")).json()) as {
      entity_name: string;
      role_id: number;
    }[];
    return members.map(({ entity_name: name, role_id: role }) => `${name} ${role}`);
  };

  assert.deepEqual((await run(false, { eric: "owner", bob: "writer" })).mended, []);
  assert.deepEqual(await roles(), ["bob 2", "eric 1"]);
  await run(true, { eric: "owner", bob: "reader", alice: "writer" });
  assert.deepEqual(await roles(), ["alice 2", "bob 3", "eric 1"]);
  assert.deepEqual((await run(true, { eric: "owner" })).mended, []);
  assert.deepEqual(await roles(), ["eric 1"]);

  const { robot } = outputs as unknown as RegistryOutputs;
  assert.equal(robot?.name, "robot$ws-eric+workspace");
  const push = () => api("POST", "/v2/ws-eric/tool/blobs/uploads/", robot?.name, robot?.secret);
  assert.equal((await push()).status, 202);

  await api("DELETE", `/api/v2.0/robots/${robot?.id}`);
  const { mended: repaired } = await run(true, { eric: "owner" });
  assert.match(repaired.join(), /the robot account of the image project ws-eric was gone/);
  assert.equal((await push()).status, 401);
  // An attempt that ended before it kept the secret leaves a robot that nobody can use: the next one replaces it.
  outputs = { members: [] };
  const { context } = await run(false, { eric: "owner" });
  await step.remove({ ...context, outputs });
  assert.equal((await api("GET", "/api/v2.0/projects/ws-eric")).status, 404);
  await step.remove({ ...context, outputs });
  await peer.close();
});
