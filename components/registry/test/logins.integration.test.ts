import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ADMIN_PASSWORD, type TestRegistry, startTestRegistry } from "./start-registry.ts";
import { type RegistryClient, basic, createClient, createProject } from "./client.ts";
import { query } from "./query.ts";
import { type TestIssuer, startTestIssuer } from "./test-issuer.ts";

let registry: TestRegistry;
let issuer: TestIssuer;
let admin: RegistryClient;
before(async () => {
  issuer = await startTestIssuer();
  registry = await startTestRegistry({ IDENTITY_ISSUER: issuer.url });
  admin = createClient(registry.url);
  await createProject(admin, "eric");
  await admin.pushImage("eric/tool", "1");
});
after(async () => {
  await registry.close();
  issuer.stop();
});

const as = async (user: string, claims?: object) =>
  createClient(registry.url, `Bearer ${await issuer.sign(user, claims)}`);
const addMember = (client: RegistryClient, project: string, username: string, role = 3) =>
  client.call("POST", `/api/v2.0/projects/${project}/members`, {
    body: { role_id: role, member_user: { username } },
  });

async function sendForm(form: Record<string, string>) {
  const response = await fetch(`${registry.url}/service/token`, {
    method: "POST",
    body: new URLSearchParams({ service: "registry", client_id: "test", scope: "repository:eric/tool:pull", ...form }),
  });
  const body = (await response.json()) as { access_token: string; refresh_token?: string };
  return { status: response.status, ...body };
}
const logIn = (username: string, password: string) =>
  sendForm({ grant_type: "password", username, password, access_type: "offline" });
const refresh = (token: string) => sendForm({ grant_type: "refresh_token", refresh_token: token });

test("a refresh token tells nothing of the login, and ends with the secret that it was given for", async () => {
  const access = [{ resource: "repository", action: "pull" }];
  const made = await admin.call("POST", "/api/v2.0/robots", {
    body: { name: "r", level: "project", duration: -1, permissions: [{ namespace: "eric", access }] },
  });
  const robot = made.json() as { id: number; name: string; secret: string };
  const { refresh_token: token = "" } = await logIn(robot.name, robot.secret);
  assert.match(token, /^[\w-]{43}$/);
  const again = await refresh(token);
  assert.deepEqual([again.status, again.refresh_token], [200, token]);
  const client = createClient(registry.url, `Bearer ${again.access_token}`);
  assert.equal((await client.call("GET", "/v2/eric/tool/manifests/1")).status, 200);
  const stored = JSON.stringify(await query(registry.postgres.url, "select * from registry.refresh_token"));
  assert.ok(!stored.includes(token) && !stored.includes(robot.secret));
  await admin.call("PATCH", `/api/v2.0/robots/${robot.id}`, { body: {} });
  assert.equal((await refresh(token)).status, 401);
  for (const wrong of [Buffer.from(`${robot.name}:${robot.secret}`).toString("base64"), "", "a".repeat(43)]) {
    assert.equal((await refresh(wrong)).status, 401, wrong);
  }

  const alice = await as("alice");
  const { secret } = (await alice.call("POST", "/api/v2.0/users/current/cli_secret")).json();
  const offered = await fetch(`${registry.url}/service/token?offline_token=true`, {
    headers: { authorization: basic("alice", secret) },
  });
  const { refresh_token: hers } = (await offered.json()) as { refresh_token: string };
  assert.equal((await refresh(hers)).status, 200);
  await alice.call("DELETE", "/api/v2.0/users/current/cli_secret");
  assert.equal((await refresh(hers)).status, 401);
  // An access token ends by itself; nothing outlives it.
  assert.equal((await logIn("alice", await issuer.sign("alice"))).refresh_token, undefined);

  const { refresh_token: administrators = "" } = await logIn("admin", ADMIN_PASSWORD);
  assert.equal((await refresh(administrators)).status, 200);
  await registry.kill();
  await registry.start({ REGISTRY_ADMIN_PASSWORD: "another password of the tests" });
  assert.equal((await refresh(administrators)).status, 401);
  await registry.kill();
  await registry.start();
});

test("a user without administration any more gets no token of an administrator by an old refresh token", async () => {
  const root = await as("root", { realm_access: { roles: ["admin"] } });
  const { secret } = (await root.call("POST", "/api/v2.0/users/current/cli_secret")).json();
  const { refresh_token: token = "" } = await logIn("root", secret);
  await query(registry.postgres.url, "update registry.account set is_admin = true where username = 'root'");
  const pull = async () => {
    const client = createClient(registry.url, `Bearer ${(await refresh(token)).access_token}`);
    return (await client.call("GET", "/v2/eric/tool/manifests/1")).status;
  };
  assert.equal(await pull(), 200);
  await query(registry.postgres.url, "update registry.account set is_admin = false where username = 'root'");
  assert.equal(await pull(), 401);
});

test("a member is a user who is known here; whoever gets the name later gets nothing of it", async () => {
  await addMember(admin, "eric", "eric", 1);
  const eric = await as("eric");
  const unknown = await addMember(eric, "eric", "carla");
  assert.equal(unknown.status, 404);
  assert.match(unknown.body.toString(), /no user carla.*log in to the registry/);
  const pull = async (client: RegistryClient) => (await client.call("GET", "/v2/eric/tool/manifests/1")).status;
  const carla = await as("carla");
  assert.equal(await pull(carla), 403);
  assert.equal((await addMember(eric, "eric", "carla")).status, 201);
  assert.equal(await pull(carla), 200);
  const another = await as("carla", { sub: "somebody-else" });
  assert.equal(await pull(another), 403);
  const { secret } = (await another.call("POST", "/api/v2.0/users/current/cli_secret")).json();
  const { access_token: token } = await logIn("carla", secret);
  const refused = await createClient(registry.url, `Bearer ${token}`).call("GET", "/v2/eric/tool/manifests/1");
  assert.equal(refused.status, 401);
  assert.match(refused.body.toString(), /does not have the right/);
  assert.doesNotMatch(refused.body.toString(), /log in/i);
});

test("a chunk at the wrong place is told where the upload is", async () => {
  const started = await admin.call("POST", "/v2/eric/tool/blobs/uploads/");
  const location = started.headers.get("location") ?? "";
  const chunk = (range: string, body = "0123456789") =>
    admin.call("PATCH", location, {
      body: Buffer.from(body),
      headers: { "content-range": range, "content-type": "application/octet-stream" },
    });
  assert.equal((await chunk("0-9")).status, 202);
  for (const range of ["20-29", "0-9", "nonsense", "29-20"]) {
    const { status, headers } = await chunk(range);
    assert.equal(status, 416, range);
    assert.deepEqual([headers.get("location"), headers.get("range")], [location, "0-9"], range);
  }
  const finish = await admin.call("PUT", `${location}?digest=sha256:${"0".repeat(64)}`, {
    body: Buffer.from("x"),
    headers: { "content-range": "5-5" },
  });
  assert.deepEqual(
    [finish.status, finish.headers.get("location"), finish.headers.get("range")],
    [416, location, "0-9"],
  );
  assert.equal((await chunk("10-19")).status, 202);
});
