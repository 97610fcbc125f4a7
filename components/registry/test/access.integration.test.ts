import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";

import {
  ADMIN,
  type RegistryClient,
  basic,
  createClient,
  createProject,
  digestOf,
  fetchToken,
  usedBytes,
} from "./client.ts";
import { type TestIssuer, startTestIssuer } from "./test-issuer.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";

let registry: TestRegistry;
let issuer: TestIssuer;
let admin: RegistryClient;
const LAYER = Buffer.from("a layer of somebody");

before(async () => {
  issuer = await startTestIssuer();
  registry = await startTestRegistry({ IDENTITY_ISSUER: issuer.url });
  admin = createClient(registry.url);
  await createProject(admin, "open", { metadata: { public: "true" } });
  await createProject(admin, "eric");
  await createProject(admin, "bob");
  for (const name of ["eric", "bob"]) {
    await addMember(name, { role_id: 1, member_user: { username: name } });
    await admin.pushImage(`${name}/tool`, "1", [LAYER, Buffer.from(`secret of ${name}`)]);
  }
  await admin.pushImage("open/tool", "1", [LAYER]);
});
after(async () => {
  await registry.close();
  issuer.stop();
});

const addMember = async (project: string, body: object) => {
  const { status } = await admin.call("POST", `/api/v2.0/projects/${project}/members`, { body });
  assert.equal(status, 201);
};
const as = async (user: string, claims?: object) =>
  createClient(registry.url, `Bearer ${await issuer.sign(user, claims)}`);

async function createRobot(project: string, actions: readonly string[], more: object = {}) {
  const permissions = [
    { kind: "project", namespace: project, access: actions.map((action) => ({ resource: "repository", action })) },
  ];
  const { status, json } = await admin.call("POST", "/api/v2.0/robots", {
    body: { name: `r${randomBytes(4).toString("hex")}`, level: "project", duration: -1, permissions, ...more },
  });
  assert.equal(status, 201);
  return json() as { id: number; name: string; secret: string };
}

test("without a login: public projects can be pulled from, others do not exist", async () => {
  const base = await fetch(`${registry.url}/v2/`);
  assert.match(base.headers.get("www-authenticate") ?? "", /^Bearer realm="http:.*\/service\/token",service="/);
  assert.equal((await fetch(`${registry.url}/v2/open/tool/manifests/1`)).status, 200);
  const [closed, missing] = await Promise.all(
    ["eric/tool", "nobody/tool"].map((name) => fetch(`${registry.url}/v2/${name}/manifests/1`)),
  );
  assert.deepEqual([closed?.status, missing?.status], [401, 401]);
  assert.match(closed?.headers.get("www-authenticate") ?? "", /scope="repository:eric\/tool:pull"/);
  const push = await fetch(`${registry.url}/v2/open/tool/blobs/uploads/`, { method: "POST" });
  assert.equal(push.status, 401);
});

test("members have the rights of their role, by name and by group, and nobody else has any", async () => {
  await addMember("bob", { role_id: 3, member_user: { username: "alice" } });
  await addMember("bob", { role_id: 2, member_group: { group_name: "builders" } });
  const alice = await as("alice");
  const builder = await as("carla", { groups: ["builders"] });
  const eric = await as("eric");
  const push = (client: RegistryClient) => client.call("POST", "/v2/bob/tool/blobs/uploads/");
  const pull = (client: RegistryClient) => client.call("GET", "/v2/bob/tool/manifests/1");
  const remove = (client: RegistryClient) => client.call("DELETE", "/v2/bob/tool/manifests/1");
  assert.deepEqual(
    [(await pull(alice)).status, (await push(alice)).status, (await remove(alice)).status],
    [200, 403, 403],
  );
  assert.deepEqual(
    [(await pull(builder)).status, (await push(builder)).status, (await remove(builder)).status],
    [200, 202, 403],
  );
  assert.deepEqual([(await pull(eric)).status, (await push(eric)).status], [403, 403]);
  assert.equal((await eric.call("GET", "/api/v2.0/projects/bob")).status, 404);
  assert.equal((await alice.call("GET", "/api/v2.0/projects/bob")).status, 200);
  assert.equal(
    (
      await alice.call("POST", "/api/v2.0/projects/bob/members", {
        body: { role_id: 1, member_user: { username: "alice" } },
      })
    ).status,
    403,
  );
  assert.equal((await eric.call("PUT", "/api/v2.0/quotas/1", { body: { hard: { storage: -1 } } })).status, 403);
  const names = (await eric.call("GET", "/api/v2.0/projects?page_size=100"))
    .json()
    .map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ["eric", "open"]);
  assert.deepEqual((await eric.call("GET", "/v2/_catalog")).json().repositories, ["eric/tool", "open/tool"]);
});

test("a token never allows more than was asked for, nor more than its owner may", async () => {
  const robot = await createRobot("eric", ["pull", "push"]);
  const login = basic(robot.name, robot.secret);
  const narrow = await fetchToken(registry.url, ["repository:eric/tool:pull"], login);
  const wide = await fetchToken(
    registry.url,
    ["repository:eric/tool:pull,push,delete,*", "repository:bob/tool:pull", "registry:catalog:*"],
    login,
  );
  const call = (token: string, method: string, path: string) =>
    createClient(registry.url, `Bearer ${token}`).call(method, path);
  assert.equal((await call(narrow.token, "GET", "/v2/eric/tool/manifests/1")).status, 200);
  const refused = await call(narrow.token, "POST", "/v2/eric/tool/blobs/uploads/");
  assert.equal(refused.status, 401);
  assert.match(
    refused.headers.get("www-authenticate") ?? "",
    /scope="repository:eric\/tool:pull,push",error="insufficient_scope"/,
  );
  assert.equal((await call(narrow.token, "GET", "/v2/eric/other/manifests/1")).status, 401);
  assert.equal((await call(wide.token, "POST", "/v2/eric/tool/blobs/uploads/")).status, 202);
  assert.equal((await call(wide.token, "DELETE", "/v2/eric/tool/manifests/1")).status, 401);
  assert.equal((await call(wide.token, "GET", "/v2/bob/tool/manifests/1")).status, 401);
  // A token of the distribution API opens nothing else.
  assert.equal((await call(wide.token, "GET", "/api/v2.0/projects/eric")).status, 401);
  const [head = "", body = "", signature = ""] = wide.token.split(".");
  const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as { access: object[] };
  claims.access.push({ type: "repository", name: "bob/tool", actions: ["pull"] });
  const forged = `${head}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.${signature}`;
  const unsigned = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")}.${body}.`;
  for (const token of [forged, unsigned]) {
    assert.equal((await call(token, "GET", "/v2/bob/tool/manifests/1")).status, 401);
  }
  const anonymous = await fetchToken(registry.url, ["repository:open/tool:pull,push", "repository:eric/tool:pull"]);
  assert.equal((await call(anonymous.token, "GET", "/v2/open/tool/manifests/1")).status, 200);
  assert.equal((await call(anonymous.token, "GET", "/v2/eric/tool/manifests/1")).status, 401);
});

test("the OAuth 2 form of the token endpoint: password, and the refresh token that comes of it", async () => {
  const robot = await createRobot("eric", ["pull"]);
  const send = async (form: Record<string, string>) => {
    const response = await fetch(`${registry.url}/service/token`, {
      method: "POST",
      body: new URLSearchParams({
        service: "registry",
        client_id: "test",
        scope: "repository:eric/tool:pull",
        ...form,
      }),
    });
    return { status: response.status, ...((await response.json()) as { access_token: string; refresh_token: string }) };
  };
  const first = await send({
    grant_type: "password",
    username: robot.name,
    password: robot.secret,
    access_type: "offline",
  });
  const second = await send({ grant_type: "refresh_token", refresh_token: first.refresh_token });
  for (const { access_token: token } of [first, second]) {
    const client = createClient(registry.url, `Bearer ${token}`);
    assert.equal((await client.call("GET", "/v2/eric/tool/manifests/1")).status, 200);
  }
  assert.equal((await send({ grant_type: "password", username: robot.name, password: "wrong" })).status, 401);
  assert.equal((await send({ grant_type: "client_credentials" })).status, 400);
});

test("blobs are mounted from what the caller may pull, and from nothing else", async () => {
  const secret = digestOf("secret of bob");
  const eric = await as("eric");
  const mount = (client: RegistryClient, digest: string, from: string) =>
    client.call("POST", `/v2/eric/mounted/blobs/uploads/?mount=${digest}${from === "" ? "" : `&from=${from}`}`);
  assert.equal((await mount(eric, digestOf(LAYER), "open/tool")).status, 201);
  for (const from of ["bob/tool", "", "nobody/tool", "bob/%2e%2e"]) {
    assert.equal((await mount(eric, secret, from)).status, 202, from);
  }
  assert.equal((await eric.call("HEAD", `/v2/eric/mounted/blobs/${secret}`)).status, 404);
  assert.equal((await mount(admin, secret, "bob/tool")).status, 201);
  // A token that is too narrow is told which scopes it takes, where its owner may have them.
  const both = await createRobot("eric", ["pull", "push"]);
  const { token } = await fetchToken(
    registry.url,
    ["repository:eric/mounted:pull,push"],
    basic(both.name, both.secret),
  );
  const narrow = createClient(registry.url, `Bearer ${token}`);
  const response = await mount(narrow, digestOf("secret of eric"), "eric/tool");
  assert.equal(response.status, 401);
  assert.match(
    response.headers.get("www-authenticate") ?? "",
    /repository:eric\/mounted:pull,push repository:eric\/tool:pull/,
  );
  assert.equal((await mount(narrow, secret, "bob/tool")).status, 202);
});

test("a robot that may only push can push, and cannot pull", async () => {
  const robot = await createRobot("eric", ["push"]);
  const client = createClient(registry.url, basic(robot.name, robot.secret));
  await client.pushImage("eric/pushed", "1");
  assert.equal((await client.call("HEAD", "/v2/eric/pushed/manifests/1")).status, 200);
  assert.equal((await client.call("GET", "/v2/eric/pushed/manifests/1")).status, 403);
});

test("robots end with their secret, their time, their being disabled or deleted", async () => {
  const robot = await createRobot("eric", ["pull"]);
  const login = (secret: string) =>
    createClient(registry.url, basic(robot.name, secret)).call("GET", "/v2/eric/tool/manifests/1");
  assert.equal((await login(robot.secret)).status, 200);
  for (const body of [{ secret: "of-the-client" }, { name: "other" }, { disable: true }]) {
    const { status, body: text } = await admin.call("PATCH", `/api/v2.0/robots/${robot.id}`, { body });
    assert.equal(status, 400, `${JSON.stringify(body)}: ${text.toString()}`);
  }
  assert.equal((await login(robot.secret)).status, 200, "a refused change changes nothing");
  const { secret } = (await admin.call("PATCH", `/api/v2.0/robots/${robot.id}`, { body: {} })).json();
  assert.deepEqual([(await login(robot.secret)).status, (await login(secret)).status], [401, 200]);
  const change = (more: object) =>
    admin.call("PUT", `/api/v2.0/robots/${robot.id}`, {
      body: {
        name: "same",
        level: "project",
        duration: -1,
        permissions: [{ namespace: "eric", access: [{ resource: "repository", action: "pull" }] }],
        ...more,
      },
    });
  assert.equal((await change({ disable: true })).status, 200);
  assert.equal((await login(secret)).status, 401);
  assert.equal((await change({ duration: 0 })).status, 200);
  assert.equal((await login(secret)).status, 401);
  assert.equal((await change({})).status, 200);
  assert.equal((await login(secret)).status, 200);
  const elsewhere = { permissions: [{ namespace: "bob", access: [{ resource: "repository", action: "pull" }] }] };
  assert.equal((await change(elsewhere)).status, 400);
  assert.equal((await admin.call("DELETE", `/api/v2.0/robots/${robot.id}`)).status, 200);
  assert.equal((await login(secret)).status, 401);
});

test("a secret for command lines lives until it is revoked, whatever becomes of the token", async () => {
  const alice = await as("dora");
  const made = await alice.call("POST", "/api/v2.0/users/current/cli_secret");
  assert.equal(made.status, 201);
  await addMember("eric", { role_id: 3, member_user: { username: "dora" } });
  const login = basic("dora", made.json().secret);
  const client = createClient(registry.url, login);
  assert.equal((await client.call("GET", "/v2/eric/tool/manifests/1")).status, 200);
  const { token } = await fetchToken(registry.url, ["repository:eric/tool:pull"], login);
  const bearer = createClient(registry.url, `Bearer ${token}`);
  assert.equal((await bearer.call("GET", "/v2/eric/tool/manifests/1")).status, 200);
  assert.equal((await alice.call("DELETE", "/api/v2.0/users/current/cli_secret")).status, 200);
  assert.equal((await client.call("GET", "/v2/eric/tool/manifests/1")).status, 401);
  // An access token of the identity service is as good as a password.
  const byToken = createClient(registry.url, basic("dora", await issuer.sign("dora")));
  assert.equal((await byToken.call("GET", "/v2/eric/tool/manifests/1")).status, 200);
  // Another user of that name is somebody else, and has no secret yet.
  const later = (await alice.call("POST", "/api/v2.0/users/current/cli_secret")).json().secret as string;
  const withSecret = () => createClient(registry.url, basic("dora", later)).call("GET", "/v2/");
  assert.equal((await withSecret()).status, 200);
  await (await as("dora", { sub: "another" })).call("GET", "/api/v2.0/users/current");
  assert.equal((await withSecret()).status, 401);
});

test("a quota holds for what is there and what is on its way", async () => {
  const id = await createProject(admin, "small", { storage_limit: 10_000 });
  const [first, second] = [randomBytes(6000), randomBytes(6000)];
  const digest = await admin.pushImage("small/x", "1", [first]);
  const upload = await admin.call("POST", `/v2/small/x/blobs/uploads/?digest=${digestOf(second)}`, { body: second });
  assert.deepEqual([upload.status, upload.code()], [403, "DENIED"]);
  assert.match(upload.json().errors[0].message, /quota of project small/);
  assert.ok((await usedBytes(admin, "small")) < 7000);
  assert.equal((await admin.call("DELETE", `/v2/small/x/manifests/${digest}`)).status, 202);
  assert.equal(await usedBytes(admin, "small"), 0);
  await admin.pushImage("small/x", "2", [second]);
  // What is there already in another project is mounted, and counts.
  const mount = await admin.call(
    "POST",
    `/v2/small/x/blobs/uploads/?mount=${await admin.pushBlob("open/tool", Buffer.alloc(5000, 1))}&from=open/tool`,
  );
  assert.equal(mount.status, 403);
  assert.equal((await admin.call("PUT", `/api/v2.0/quotas/${id}`, { body: { hard: { storage: -1 } } })).status, 200);
  await admin.pushImage("small/x", "3", [first]);
});

test("tags that a rule holds are neither moved nor deleted, and go with nothing", async () => {
  await createProject(admin, "fixed");
  const rule = {
    tag_selectors: [{ kind: "doublestar", decoration: "matches", pattern: "v*" }],
    scope_selectors: { repository: [{ kind: "doublestar", decoration: "repoMatches", pattern: "**" }] },
  };
  const made = await admin.call("POST", "/api/v2.0/projects/fixed/immutabletagrules", { body: rule });
  assert.equal(made.status, 201);
  const digest = await admin.pushImage("fixed/a/b", "v1", [Buffer.from("one")]);
  await admin.pushImage("fixed/a/b", "v1", [Buffer.from("one")]);
  await assert.rejects(admin.pushImage("fixed/a/b", "v1", [Buffer.from("two")]), /403.*immutable/);
  await admin.pushImage("fixed/a/b", "latest", [Buffer.from("two")]);
  for (const path of [
    "/v2/fixed/a/b/manifests/v1",
    `/v2/fixed/a/b/manifests/${digest}`,
    "/api/v2.0/projects/fixed/repositories/a%252Fb",
    "/api/v2.0/projects/fixed/repositories/a%2Fb/artifacts/v1",
  ]) {
    assert.equal((await admin.call("DELETE", path)).status, 403, path);
  }
  const id = made.headers.get("location")?.split("/").at(-1);
  assert.equal((await admin.call("DELETE", `/api/v2.0/projects/fixed/immutabletagrules/${id}`)).status, 200);
  assert.equal((await admin.call("DELETE", "/v2/fixed/a/b/manifests/v1")).status, 202);
});

test("a session of the console changes something only from its own pages, and ends with what it hangs on", async () => {
  const dora = await as("dora");
  const { secret } = (await dora.call("POST", "/api/v2.0/users/current/cli_secret")).json();
  const signIn = async (user: string, password: string) => {
    const response = await fetch(`${registry.url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ user, password }),
    });
    return { status: response.status, cookie: response.headers.get("set-cookie")?.split(";", 1)[0] ?? "" };
  };
  const robot = await createRobot("eric", ["pull"]);
  assert.equal((await signIn(robot.name, robot.secret)).status, 403);
  assert.equal((await signIn("dora", "wrong")).status, 401);
  const { cookie } = await signIn("dora", secret);
  const call = (method: string, path: string, origin?: string) =>
    fetch(`${registry.url}${path}`, { method, headers: { cookie, ...(origin !== undefined && { origin }) } });
  assert.equal((await call("GET", "/api/v2.0/users/current")).status, 200);
  assert.equal((await call("GET", "/v2/eric/tool/manifests/1")).status, 401, "the cookie is for the console alone");
  const renew = "/api/v2.0/users/current/cli_secret";
  for (const origin of [undefined, "null", "http://user-content.127.0.0.1", `${registry.url}.example.org`]) {
    assert.equal((await call("POST", renew, origin)).status, 403, origin);
  }
  assert.equal((await call("POST", renew, registry.url)).status, 201);
  assert.equal((await call("GET", "/api/session")).status, 401, "the secret that opened it is gone");
  const admins = await signIn("admin", "password-of-the-tests");
  await fetch(`${registry.url}/api/session`, { method: "DELETE", headers: { cookie: admins.cookie } });
  const after = await fetch(`${registry.url}/api/session`, { headers: { cookie: admins.cookie } });
  assert.equal(after.status, 401);
});

test("ten wrong passwords a minute are enough", async () => {
  const login = (password: string) => createClient(registry.url, basic("guessed", password)).call("GET", "/v2/");
  for (let attempt = 0; attempt < 10; attempt++) {
    assert.equal((await login(`wrong ${attempt}`)).status, 401);
  }
  const refused = await login("wrong");
  assert.deepEqual([refused.status, refused.code()], [429, "TOOMANYREQUESTS"]);
  assert.equal((await createClient(registry.url, ADMIN).call("GET", "/v2/")).status, 200);
});

test("the audit log says who did what", async () => {
  const logs = (await admin.call("GET", "/api/v2.0/projects/fixed/logs?page_size=100")).json();
  assert.ok(
    logs.some(
      (entry: { operation: string; resource: string }) =>
        entry.operation === "push" && entry.resource === "fixed/a/b:v1",
    ),
  );
  assert.ok(
    logs.some(
      (entry: { operation: string; resource_type: string }) =>
        entry.operation === "delete" && entry.resource_type === "tag",
    ),
  );
  assert.equal((await (await as("eric")).call("GET", "/api/v2.0/audit-logs")).status, 403);
});
