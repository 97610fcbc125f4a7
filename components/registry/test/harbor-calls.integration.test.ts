import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { INDEX, type RegistryClient, createClient, createProject, digestOf, usedBytes } from "./client.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";
import { type TestIssuer, startTestIssuer } from "./test-issuer.ts";

/* Calls of Harbor's API clients beside those of projects, members, robots and rules. */

let registry: TestRegistry;
let issuer: TestIssuer;
let admin: RegistryClient;
let eric: RegistryClient;
const API = "/api/v2.0";
before(async () => {
  issuer = await startTestIssuer();
  registry = await startTestRegistry({ IDENTITY_ISSUER: issuer.url });
  admin = createClient(registry.url);
  for (const [name, role] of [
    ["tests", 3],
    ["releases", 2],
    ["secret", 0],
  ] as const) {
    await createProject(admin, name);
    if (role > 0) {
      const body = { role_id: role, member_user: { username: "eric" } };
      await admin.call("POST", `${API}/projects/${name}/members`, { body });
    }
  }
  eric = createClient(registry.url, `Bearer ${await issuer.sign("eric")}`);
});
after(async () => {
  await registry.close();
  issuer.stop();
});

const copy = (client: RegistryClient, target: string, from: string) => {
  const [project, ...name] = target.split("/");
  const path = `${API}/projects/${project}/repositories/${encodeURIComponent(name.join("/"))}/artifacts`;
  return client.call("POST", `${path}?from=${encodeURIComponent(from)}`);
};

test("an artifact is copied with its parts and what refers to it, and counts as what it is", async () => {
  const parts = [];
  for (const name of ["amd64", "arm64"]) {
    const digest = await admin.pushImage("tests/tool", name, [Buffer.from(`layer for ${name}`)]);
    const { body, headers } = await admin.call("GET", `/v2/tests/tool/manifests/${digest}`);
    parts.push({ mediaType: headers.get("content-type") ?? "", digest, size: body.length });
  }
  const index = { schemaVersion: 2, mediaType: INDEX, manifests: parts };
  assert.equal((await admin.putManifest("tests/tool", "1.0", index, INDEX)).status, 201);
  const digest = digestOf(JSON.stringify(index));
  const config = await admin.pushBlob("tests/tool", Buffer.from("{}"));
  const type = "application/vnd.oci.image.manifest.v1+json";
  const signature = {
    schemaVersion: 2,
    mediaType: type,
    artifactType: "application/vnd.example.signature",
    config: { mediaType: "application/vnd.oci.empty.v1+json", digest: config, size: 2 },
    layers: [],
    subject: { mediaType: INDEX, digest, size: JSON.stringify(index).length },
  };
  assert.equal((await admin.putManifest("tests/tool", digestOf(JSON.stringify(signature)), signature)).status, 201);
  // More of them than are read at once.
  for (let number = 1; number < 120; number += 1) {
    const more = { ...signature, annotations: { number: String(number) } };
    assert.equal((await admin.putManifest("tests/tool", digestOf(JSON.stringify(more)), more)).status, 201);
  }
  const made = await copy(eric, "releases/apps/tool", "tests/tool:1.0");
  assert.equal(made.status, 201, made.body.toString());
  assert.ok(made.headers.get("location")?.endsWith(`/artifacts/${digest}`));
  const there = "/v2/releases/apps/tool";
  for (const reference of ["1.0", digest, parts[0]?.digest, parts[1]?.digest]) {
    assert.equal((await eric.call("GET", `${there}/manifests/${reference}`)).status, 200, reference);
  }
  assert.equal((await eric.call("GET", `${there}/manifests/amd64`)).status, 404, "tags of the parts stay");
  const referrers = [];
  for (let next: string | undefined = `${there}/referrers/${digest}`; next !== undefined;) {
    const { body, headers } = await eric.call("GET", next);
    referrers.push(...JSON.parse(body.toString()).manifests);
    next = /<([^>]+)>; rel="?next"?/.exec(headers.get("link") ?? "")?.[1];
  }
  assert.equal(referrers.length, 120);
  assert.equal(await usedBytes(admin, "releases"), await usedBytes(admin, "tests"));
  assert.equal((await copy(eric, "releases/apps/tool", "tests/tool:1.0")).status, 201, "it may be there already");
  // It stays when the first one goes.
  assert.equal((await admin.call("DELETE", `${API}/projects/tests/repositories/tool`)).status, 200);
  assert.equal((await eric.call("GET", `${there}/blobs/${digestOf("layer for arm64")}`)).status, 200);
});

test("a copy takes the right to pull there and to push here", async () => {
  await admin.pushImage("secret/tool", "1");
  await admin.pushImage("tests/other", "1");
  for (const [target, from, status] of [
    ["releases/x", "secret/tool:1", 404],
    ["releases/x", "nothing/tool:1", 404],
    ["releases/x", "tests/other:2", 404],
    ["releases/x", "tests/other", 400],
    ["releases/x", "../x:1", 400],
    ["releases/UPPER", "tests/other:1", 400],
    ["tests/x", "tests/other:1", 403],
    ["secret/x", "tests/other:1", 404],
    ["releases/x", "tests/other:1", 201],
  ] as const) {
    assert.equal((await copy(eric, target, from)).status, status, `${from} to ${target}`);
  }
  const limited = { hard: { storage: 1 } };
  const { project_id: id } = (await admin.call("GET", `${API}/projects/releases`)).json();
  assert.equal((await admin.call("PUT", `${API}/quotas/${id}`, { body: limited })).status, 200);
  await admin.pushImage("tests/other", "2", [Buffer.from("another layer")]);
  assert.equal((await copy(eric, "releases/x", "tests/other:2")).status, 403);
  assert.equal((await eric.call("GET", "/v2/releases/x/manifests/2")).status, 404);
  const away = await admin.call("PUT", `${API}/quotas/${id}`, { body: { hard: { storage: -1 } } });
  assert.equal(away.status, 200);
});

test("settings of a project one by one, and whether it can be deleted", async () => {
  const metadata = { public: "false", enable_content_trust_cosign: "true" };
  await createProject(admin, "settings", { metadata });
  const path = `${API}/projects/settings/metadatas`;
  const read = async (name = "") => (await admin.call("GET", `${path}${name}`)).json();
  assert.deepEqual(await read(), { ...metadata, allow_sparse_index: "false" });
  const status = async (method: string, name: string, body?: object) =>
    (await admin.call(method, `${path}${name}`, body && { body })).status;
  assert.equal(await status("PUT", "/public", { public: "true" }), 200);
  assert.deepEqual(await read("/public"), { public: "true" });
  assert.equal(await status("POST", "", { allow_sparse_index: "true" }), 200);
  assert.equal(await status("DELETE", "/public"), 200);
  assert.deepEqual(await read(), { ...metadata, allow_sparse_index: "true" });
  for (const [method, name, body, expected] of [
    ["PUT", "/public", { allow_sparse_index: "false" }, 400],
    ["PUT", "/public", { public: "yes" }, 400],
    ["POST", "", { unknown: "true" }, 400],
    ["PUT", "/unknown", { public: "true" }, 404],
    ["PUT", "/constructor", { public: "true" }, 404],
  ] as const) {
    assert.equal(await status(method, name, body), expected, `${name} ${JSON.stringify(body)}`);
  }
  assert.equal((await eric.call("PUT", `${path}/public`, { body: { public: "true" } })).status, 404);
  const deletable = async (name: string) => (await admin.call("GET", `${API}/projects/${name}/_deletable`)).json();
  assert.deepEqual(await deletable("settings"), { deletable: true });
  assert.equal((await deletable("secret")).deletable, false);
});

test("the templates of retention are no policy", async () => {
  const { templates } = (await eric.call("GET", `${API}/retentions/metadatas`)).json();
  assert.ok(templates.some((each: { rule_template: string }) => each.rule_template === "latestPushedK"));
});

test("users who came here once are listed for the administrator; others ask for a whole name", async () => {
  await createClient(registry.url, `Bearer ${await issuer.sign("erika")}`).call("GET", `${API}/users/current`);
  await eric.call("GET", `${API}/users/current`);
  const names = (list: readonly { username: string }[]) => list.map(({ username }) => username);
  const listed = await admin.call("GET", `${API}/users?q=username=~ERI&page_size=1`);
  assert.deepEqual([names(listed.json()), listed.headers.get("x-total-count")], [["eric"], "2"]);
  const [{ user_id: id }] = listed.json();
  assert.equal((await admin.call("GET", `${API}/users/${id}`)).json().username, "eric");
  assert.equal((await admin.call("GET", `${API}/users/99999`)).status, 404);
  assert.equal((await admin.call("GET", `${API}/users/current`)).json().username, "admin");
  for (const path of ["/users", `/users/${id}`]) {
    assert.equal((await eric.call("GET", `${API}${path}`)).status, 403, path);
  }
  const search = async (client: RegistryClient, name: string) =>
    names((await client.call("GET", `${API}/users/search?username=${name}`)).json());
  assert.deepEqual(await search(admin, "eri"), ["eric", "erika"]);
  assert.deepEqual(await search(eric, "eri"), []);
  assert.deepEqual(await search(eric, "erika"), ["erika"]);
  const anonymous = await fetch(`${registry.url}${API}/users/search?username=eric`);
  assert.equal(anonymous.status, 401);
});

test("kinds of other registries, what one can do, and whether it answers", async () => {
  assert.ok((await admin.call("GET", `${API}/replication/adapters`)).json().includes("docker-hub"));
  const body = { name: "far", url: registry.url };
  const made = await admin.call("POST", `${API}/registries`, { body });
  const id = Number(made.headers.get("location")?.split("/").at(-1));
  assert.deepEqual((await admin.call("GET", `${API}/registries/${id}/info`)).json().supported_triggers, [
    "manual",
    "scheduled",
  ]);
  assert.equal((await admin.call("POST", `${API}/registries/ping`, { body: { id } })).status, 502, "it is private");
  assert.equal((await admin.call("POST", `${API}/registries/ping`, { body: { id: 999 } })).status, 404);
  for (const path of ["/replication/adapters", `/registries/${id}/info`]) {
    assert.equal((await eric.call("GET", `${API}${path}`)).status, 403, path);
  }
});
