import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type RegistryClient, createClient, createProject } from "./client.ts";
import { query } from "./query.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";

/*
 * Bodies as Harbor's Terraform provider sends them: Go's encoding leaves no object out and no false in, and what is read back is compared
 * with what was sent. What differs is sent again with every `apply`.
 */

let registry: TestRegistry;
let admin: RegistryClient;
let projectId: number;
before(async () => {
  registry = await startTestRegistry();
  admin = createClient(registry.url);
  await createProject(admin, "eo");
  projectId = (await admin.call("GET", "/api/v2.0/projects/eo")).json().project_id;
});
after(() => registry.close());

const API = "/api/v2.0";
/** Where what was created is. */
async function create(path: string, body: object): Promise<string> {
  const made = await admin.call("POST", `${API}${path}`, { body });
  assert.equal(made.status, 201, `${path}: ${made.body.toString()}`);
  return made.headers.get("location") ?? "";
}
async function read(path: string) {
  const found = await admin.call("GET", path);
  assert.equal(found.status, 200, `${path}: ${found.body.toString()}`);
  return found.json();
}
async function replace(path: string, body: object): Promise<void> {
  const { status, body: text } = await admin.call("PUT", path, { body });
  assert.equal(status, 200, `${path}: ${text.toString()}`);
}
async function refuse(method: string, path: string, body: object, message: RegExp): Promise<void> {
  const { status, body: text } = await admin.call(method, `${API}${path}`, { body });
  assert.equal(status, 400, text.toString());
  assert.match(text.toString(), message);
}

test("members: the empty object of the other kind is none", async () => {
  const members = `/projects/${projectId}/members`;
  const user = await create(members, { role_id: 2, member_group: {}, member_user: { username: "alice" } });
  assert.deepEqual(await read(user), { ...(await read(user)), entity_name: "alice", entity_type: "u", role_id: 2 });
  await replace(user, { role_id: 3, member_group: {}, member_user: { username: "alice" } });
  const group = await create(members, {
    role_id: 4,
    member_group: { group_type: 3, group_name: "builders" },
    member_user: {},
  });
  assert.equal((await read(group)).entity_name, "builders");
  const both = { member_user: { username: "a" }, member_group: { group_name: "b" } };
  await refuse("POST", members, { role_id: 1, ...both }, /one of member_user/);
  await refuse("POST", members, { role_id: 1, member_user: {}, member_group: {} }, /one of member_user/);
});

test("registries: an empty login is none; changes have their login beside the other fields", async () => {
  const body = { name: "mirror", url: "https://mirror.example.org", type: "harbor", credential: { type: "basic" } };
  const path = await create("/registries", body);
  const found = await read(path);
  assert.deepEqual([found.type, found.url, found.credential], ["harbor", body.url, undefined]);
  const change = { name: "mirror", url: body.url, insecure: false, description: "", ca_certificate: "" };
  await replace(path, { ...change, access_key: "robot", access_secret: "secret" });
  assert.equal((await read(path)).credential.access_key, "robot");
  // Clients that write what they read send the mask back.
  await replace(path, { ...change, credential: (await read(path)).credential });
  assert.equal((await read(path)).credential.access_key, "robot");
  await replace(path, { ...change, access_key: "", access_secret: "" });
  assert.equal((await read(path)).credential, undefined);
  const hub = { name: "hub", url: "https://hub.docker.com", type: "docker-hub", credential: { type: "basic" } };
  assert.equal((await read(await create("/registries", hub))).url, hub.url);
  await refuse("POST", "/registries", { ...body, name: "x", insecure: true }, /insecure/);
  await refuse("POST", "/registries", { ...body, name: "x", ca_certificate: "-----BEGIN" }, /ca_certificate/);
});

test("webhooks: an empty login is none, a login does not go to another address, certificates are looked at unless told otherwise", async () => {
  const policies = `/projects/${projectId}/webhook/policies`;
  const zero = { update_time: "0001-01-01T00:00:00Z", creation_time: "0001-01-01T00:00:00Z", creator: "", id: 0 };
  const target = { type: "http", auth_header: "", skip_cert_verify: true, address: "https://hooks.example.org/a" };
  const hook = { ...zero, project_id: 0, name: "h", description: "", enabled: true, event_types: ["PUSH_ARTIFACT"] };
  const path = await create(policies, { ...hook, targets: [{ ...target, "payload_format:omitempty": "" }] });
  const [shown] = (await read(path)).targets;
  assert.deepEqual([shown.auth_header ?? "", shown.skip_cert_verify, shown.address], ["", true, target.address]);
  const put = (more: object) => replace(path, { ...hook, targets: [{ ...target, ...more }] });
  const header = async () => {
    const [row] = await query(registry.postgres.url, "select auth_header, skips_verification from registry.webhook");
    return row as { readonly auth_header: string | null };
  };
  await put({ auth_header: "Bearer one", skip_cert_verify: false });
  assert.deepEqual(await header(), { auth_header: "Bearer one", skips_verification: false });
  assert.equal((await read(path)).targets[0].auth_header, "***");
  await put({ auth_header: "***" });
  assert.equal((await header()).auth_header, "Bearer one");
  await put({ auth_header: "***", address: "https://elsewhere.example.org/" });
  assert.equal((await header()).auth_header, null);
  await put({ auth_header: "Bearer two" });
  await put({ auth_header: "" });
  assert.equal((await header()).auth_header, null);
});

test("labels: the colour of a label without one", async () => {
  const label = {
    description: "",
    color: "false",
    deleted: false,
    scope: "p",
    project_id: projectId,
    id: 0,
    name: "l",
  };
  const path = await create("/labels", label);
  assert.equal((await read(path)).color, "false");
  await refuse("POST", "/labels", { ...label, name: "m", color: "red;x" }, /color/);
});

test("replication: the empty end is none, and what Go leaves out is false", async () => {
  const source = await create("/registries", { name: "from", url: "https://from.example.org", credential: {} });
  const policy = {
    name: "r",
    id: 0,
    src_registry: { id: Number(source.split("/").at(-1)) },
    dest_registry: {},
    dest_namespace: "eo",
    dest_namespace_replace_count: -1,
    trigger: { type: "manual", trigger_settings: {} },
    enabled: true,
  };
  const path = await create("/replication/policies", policy);
  const found = await read(path);
  assert.deepEqual([found.override, found.trigger.type], [false, "manual"]);
  await refuse("POST", "/replication/policies", { ...policy, name: "s", trigger: { type: "event_based" } }, /manual/);
  await refuse("POST", "/replication/policies", { ...policy, name: "s", deletion: true }, /deletion/);
});

test("robots: an effect that is null or empty allows, an unknown one is refused", async () => {
  const robot = (name: string, effect: unknown) => ({
    name,
    level: "project",
    duration: -1,
    permissions: [{ kind: "project", namespace: "eo", access: [{ resource: "repository", action: "pull", effect }] }],
  });
  for (const [index, effect] of [null, "", "allow"].entries()) {
    await create("/robots", robot(`r${index}`, effect));
  }
  await refuse("POST", "/robots", robot("r9", "DENY"), /effect/);
  await refuse("POST", "/robots", robot("r9", "deny"), /grant nothing/);
});

test("retention and immutable tags: the project says its policy, and a selector that would be ignored is refused", async () => {
  const selectors = {
    tag_selectors: [{ kind: "doublestar", decoration: "matches", pattern: "**", extras: '{"untagged":false}' }],
    scope_selectors: { repository: [{ kind: "doublestar", decoration: "repoMatches", pattern: "**" }] },
  };
  const path = await create("/retentions", {
    algorithm: "or",
    rules: [{ disabled: false, action: "retain", params: {}, template: "always", ...selectors }],
    trigger: { kind: "Schedule", references: {}, settings: { cron: "" } },
    scope: { level: "project", ref: projectId },
  });
  const { metadata } = await read(`${API}/projects/eo`);
  assert.equal(`${API}/retentions/${metadata.retention_id}`, path);
  const rules = `/projects/${projectId}/immutabletagrules`;
  const rule = { disabled: false, action: "immutable", template: "immutable_template" };
  for (let each = 0; each < 16; each += 1) {
    const tags = [{ kind: "doublestar", decoration: "matches", pattern: `v${each}` }];
    await create(rules, { ...rule, ...selectors, tag_selectors: tags });
  }
  // A client asks for pages until one is not full.
  const pages = [1, 2].map(async (page) => (await read(`${API}${rules}?page=${page}&page_size=15`)).length);
  assert.deepEqual(await Promise.all(pages), [15, 1]);
  for (const [field, decoration] of [
    ["tag_selectors", "excludes"],
    ["repository", "repoExcludes"],
  ] as const) {
    const [selector] = [{ kind: "doublestar", decoration, pattern: "release-*" }];
    const changed = field === "repository" ? { scope_selectors: { repository: [selector] } } : { [field]: [selector] };
    await refuse("POST", rules, { ...rule, ...selectors, ...changed }, /decoration/);
  }
});

test("everything is deleted by requests that name a type and have no body", async () => {
  const remove = async (path: string) => {
    const { status, body } = await admin.call("DELETE", path, { headers: { "content-type": "application/json" } });
    assert.equal(status, 200, `${path}: ${body.toString()}`);
  };
  const each = async (path: string) => (await read(`${API}${path}`)) as readonly { readonly id: number }[];
  const members = `/projects/${projectId}/members`;
  const webhooks = `/projects/${projectId}/webhook/policies`;
  const rules = `/projects/${projectId}/immutabletagrules`;
  const robots = `/robots?q=Level=project,ProjectID=${projectId}`;
  for (const path of [members, webhooks, rules, robots, "/replication/policies", "/registries"]) {
    for (const { id } of await each(path)) {
      await remove(`${API}${path.split("?", 1)[0]}/${id}`);
    }
    assert.deepEqual(await each(path), [], path);
  }
  for (const { id } of await each(`/labels?scope=p&project_id=${projectId}`)) {
    await remove(`${API}/labels/${id}`);
  }
  await remove(`${API}/retentions/${projectId}`);
  await remove(`${API}/projects/${projectId}`);
});
