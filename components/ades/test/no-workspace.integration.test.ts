// Results go to workspaces here, and the workspaces' service says who has one.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { type TestAdes, startAdes } from "./start-ades.ts";

const ECHO = {
  cwlVersion: "v1.2",
  class: "CommandLineTool",
  id: "say",
  baseCommand: ["echo", "said"],
  stdout: "said.txt",
  inputs: {},
  outputs: { said: "stdout" },
};

let ades: TestAdes;
let workspaces: Server;
let isAway = false;
before(async () => {
  workspaces = createServer((request, response) => {
    const name = /^\/users\/(\w+)\/storage$/.exec(request.url ?? "")?.[1];
    response.statusCode = isAway ? 503 : 404;
    response.end(JSON.stringify({ detail: isAway ? "The database is away." : `User ${name} has no workspace.` }));
  }).listen(0, "127.0.0.1");
  await once(workspaces, "listening");
  const { port } = workspaces.address() as AddressInfo;
  ades = await startAdes({
    env: { STAGEOUT_TARGET: "workspace", WORKSPACE_URL: `http://127.0.0.1:${port}`, WORKSPACE_SECRET: "a secret" },
  });
});
after(async () => {
  await ades.close();
  workspaces.close();
});

async function execute(user: string) {
  const base = `/${user}/ogc-api/processes`;
  await ades.send(base, { text: JSON.stringify(ECHO), type: "application/cwl+json" });
  return ades.send(`${base}/say/execution`, { json: { inputs: {} }, headers: { prefer: "respond-async" } });
}

test("who has no workspace is refused, and no job is made", async () => {
  const { status, body } = await execute("bob");
  const problem = body as { readonly title: string; readonly detail: string };
  assert.deepEqual([status, problem.title], [403, "NoWorkspace"], JSON.stringify(body));
  assert.match(problem.detail, /^Results go to a workspace, so nothing can be executed: User bob has no workspace\.$/);
  const { body: list } = await ades.send("/bob/ogc-api/jobs");
  assert.deepEqual((list as { jobs: unknown[] }).jobs, []);
});

test("while the workspaces' service is away a job is accepted: it waits", async () => {
  isAway = true;
  const { status, headers } = await execute("eric");
  assert.equal(status, 201);
  await ades.send(headers.get("location") ?? "", { method: "DELETE" });
});
