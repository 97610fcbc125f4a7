import assert from "node:assert/strict";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { type RegistryClient, createClient, createProject, usedBytes } from "./client.ts";
import { query } from "./query.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";

let registry: TestRegistry;
let admin: RegistryClient;
before(async () => {
  registry = await startTestRegistry({ ALLOW_PRIVATE: "127.0.0.1", COLLECT_INTERVAL: "1s" });
  admin = createClient(registry.url);
});
after(() => registry.close());

const call = async (method: string, path: string, body?: object, status = 200) => {
  const response = await admin.call(method, `/api/v2.0${path}`, body && { body });
  assert.equal(response.status, status, `${method} ${path}: ${response.body.toString()}`);
  return response;
};
const tagsOf = async (name: string) => (await admin.call("GET", `/v2/${name}/tags/list`)).json().tags as string[];
const policyOf = (ref: number, tags: string, keep: number, cron = "") => ({
  algorithm: "or",
  scope: { level: "project", ref },
  trigger: { kind: "Schedule", settings: { cron } },
  rules: [
    {
      action: "retain",
      template: "latestPushedK",
      params: { latestPushedK: keep },
      tag_selectors: [{ kind: "doublestar", decoration: "matches", pattern: tags, extras: '{"untagged":true}' }],
      scope_selectors: { repository: [{ kind: "doublestar", decoration: "repoMatches", pattern: "tool*" }] },
    },
  ],
});
const execute = (sql: string) => query(registry.postgres.url, sql);

test("retention: a dry run says what would go and why, a run deletes it, and nothing else goes", async () => {
  const id = await createProject(admin, "kept");
  for (const tag of ["v1", "v2", "v3", "fixed"]) {
    await admin.pushImage("kept/tool", tag, [Buffer.from(tag)]);
    await admin.pushImage("kept/other", tag, [Buffer.from(tag)]);
  }
  // The same artifact under a tag that is kept.
  const digest = (await admin.call("HEAD", "/v2/kept/tool/manifests/v1")).headers.get("docker-content-digest") ?? "";
  await call("POST", `/projects/kept/repositories/tool/artifacts/${digest}/tags`, { name: "v4" }, 201);
  await call(
    "POST",
    "/projects/kept/immutabletagrules",
    { tag_selectors: [{ pattern: "fixed" }], scope_selectors: { repository: [{ pattern: "**" }] } },
    201,
  );
  await call("GET", `/retentions/${id}`, undefined, 404);
  await call("POST", "/retentions", policyOf(id, "v*", 2), 201);
  const saved = (await call("GET", `/retentions/${id}`)).json();
  assert.deepEqual(saved.rules[0].params, { latestPushedK: 2 });
  const dry = (await call("POST", `/retentions/${id}/executions`, { dry_run: true }, 201)).json();
  assert.deepEqual(
    dry.decisions.map(({ tag, reason }: { tag: string; reason: string }) => [tag, reason]),
    [
      ["v2", "no rule keeps it"],
      ["v1", "no rule keeps it"],
    ],
  );
  assert.deepEqual(await tagsOf("kept/tool"), ["fixed", "v1", "v2", "v3", "v4"], "a dry run deletes nothing");
  const before = await usedBytes(admin, "kept");
  const run = (await call("POST", `/retentions/${id}/executions`, {}, 201)).json();
  assert.equal(run.deleted, 2);
  assert.deepEqual(await tagsOf("kept/tool"), ["fixed", "v3", "v4"]);
  assert.equal((await admin.call("GET", `/v2/kept/tool/manifests/${digest}`)).status, 200, "v4 names it still");
  assert.deepEqual(await tagsOf("kept/other"), ["fixed", "v1", "v2", "v3"], "no rule speaks of it");
  assert.ok((await usedBytes(admin, "kept")) < before);
  const runs = (await call("GET", `/retentions/${id}/executions`)).json();
  assert.deepEqual(
    runs.map(({ dry_run: isDry, deleted, status }: Record<string, unknown>) => [isDry, deleted, status]),
    [
      [false, 2, "Success"],
      [true, 2, "Success"],
    ],
  );
  for (const wrong of [policyOf(id, "{{", 2), policyOf(id, "v*", 2, "* * * * * *"), policyOf(id, "v*", -1)]) {
    await call("PUT", `/retentions/${id}`, wrong, 400);
  }
});

test("retention: a policy runs by itself when its time has come, and only for who maintains the project", async () => {
  const id = await createProject(admin, "timed");
  await admin.pushImage("timed/tool", "a", [Buffer.from("a")]);
  await admin.pushImage("timed/tool", "b", [Buffer.from("b")]);
  await call("POST", "/retentions", policyOf(id, "**", 1, "0 0 0 * * *"), 201);
  assert.equal((await fetch(`${registry.url}/api/v2.0/retentions/${id}`)).status, 401);
  await execute(`update registry.retention set next_at = now() where project_id = ${id}`);
  await waitUntil("the policy has run", async () => (await tagsOf("timed/tool")).join() === "b");
  const logs = (await call("GET", "/projects/timed/logs?page_size=100")).json();
  assert.ok(
    logs.some(({ username, operation }: Record<string, string>) => username === "retention" && operation === "delete"),
  );
});

interface Received {
  readonly event: string;
  readonly key: string;
  readonly authorization: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- payloads are looked into freely
  readonly body: any;
}

/** Answers 503 to the first so many requests. */
async function startReceiver(failures: number) {
  const received: Received[] = [];
  let left = failures;
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const { "x-registry-event": event = "", "idempotency-key": key = "", authorization } = request.headers;
      received.push({ event: String(event), key: String(key), authorization, body: JSON.parse(body) });
      response.writeHead(left > 0 ? 503 : 200).end();
      left -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { received, url: `http://127.0.0.1:${port}/hook`, stop: () => server.close() };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

test("webhooks: pushes and deletions are told, again after a failure, and after the service was killed", async () => {
  await createProject(admin, "told");
  const receiver = await startReceiver(1);
  const hook = (name: string, address: string, more: object = {}) => ({
    name,
    event_types: ["PUSH_ARTIFACT", "DELETE_ARTIFACT"],
    targets: [{ type: "http", address, auth_header: "Bearer of-the-receiver" }],
    ...more,
  });
  const policies = "/projects/told/webhook/policies";
  await call("POST", policies, hook("ci", receiver.url), 201);
  await call("POST", policies, hook("off", receiver.url, { enabled: false }), 201);
  for (const address of ["ftp://example.org/", "http://user:secret@example.org/", "no address"]) {
    await call("POST", policies, hook("wrong", address), 400);
  }
  assert.ok(!(await call("GET", policies)).body.toString().includes("of-the-receiver"), "its login is not shown");
  const digest = await admin.pushImage("told/tool", "1");
  await waitUntil("the push was told", () => receiver.received.length >= 1);
  // The receiver failed; the next attempt comes after a while, or when the registry is there again.
  await registry.kill();
  await registry.start();
  await execute("update registry.webhook_delivery set next_at = now() where state = 'pending'");
  await waitUntil("it was told again", () => receiver.received.length >= 2);
  const [first, second] = receiver.received;
  assert.equal(first?.key, second?.key);
  assert.equal(second?.authorization, "Bearer of-the-receiver");
  assert.deepEqual(
    [second?.body.type, second?.body.operator, second?.body.event_data.repository.repo_full_name],
    ["PUSH_ARTIFACT", "admin", "told/tool"],
  );
  assert.deepEqual(second?.body.event_data.resources, [{ digest, tag: "1" }]);
  assert.equal((await admin.call("DELETE", "/v2/told/tool/manifests/1")).status, 202);
  await waitUntil("the deletion was told", () => receiver.received.some(({ event }) => event === "DELETE_ARTIFACT"));
  const [{ id }] = (await call("GET", policies)).json();
  await waitUntil("it is noted", async () =>
    (await call("GET", `${policies}/${id}/executions`))
      .json()
      .every(({ status }: { status: string }) => status === "Success"),
  );
  receiver.stop();
});

test("webhooks: private addresses are refused, and what did not happen is not told", async () => {
  await createProject(admin, "guarded", { storage_limit: 3000 });
  const policies = "/projects/guarded/webhook/policies";
  const address = "http://127.0.0.2:9/";
  await call("POST", policies, { name: "in", event_types: ["PUSH_ARTIFACT"], targets: [{ address }] }, 201);
  await assert.rejects(admin.pushImage("guarded/tool", "1", [Buffer.alloc(9000)]));
  await admin.pushImage("guarded/tool", "2");
  const [{ id }] = (await call("GET", policies)).json();
  const told = await waitUntil("it was tried", async () => {
    const list = (await call("GET", `${policies}/${id}/executions`)).json();
    return list.some(({ status_message: said }: { status_message: string | null }) => said !== null) ? list : undefined;
  });
  assert.equal(told.length, 1, "the push that was refused is not told");
  assert.match(told[0].status_message, /private address/);
});
