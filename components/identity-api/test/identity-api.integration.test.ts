import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { after, before, test } from "node:test";

import { startTestServer, type TestServer } from "@swath/postgres/server";
import { createLogger, createPeer } from "@swath/service";
import { compiledCode, createAnswerCheck, findFreePort, programFile, waitUntil } from "@swath/testing";
import type { FastifyInstance } from "fastify";

import { createIdentityApi } from "../service.ts";

const PASSWORD = "changeme";
let postgres: TestServer;
let identity: ChildProcess;
let url: string;
let app: FastifyInstance;
let admin: string;
let checkResponse: ReturnType<typeof createAnswerCheck>;

before(async () => {
  postgres = await startTestServer();
  const port = await findFreePort();
  url = `http://127.0.0.1:${port}`;
  const env = {
    ...compiledCode,
    DATABASE_URL: postgres.url,
    IDENTITY_ADMIN_PASSWORD: PASSWORD,
    IDENTITY_TEST_USERS: "eric,bob,alice",
    TEST_USER_PASSWORD_ERIC: PASSWORD,
    TEST_USER_PASSWORD_BOB: PASSWORD,
    TEST_USER_PASSWORD_ALICE: PASSWORD,
    LOG_LEVEL: "error",
  };
  const setUp = spawn(process.execPath, [programFile("identity/bootstrap/main.ts")], { env, stdio: "inherit" });
  await new Promise((resolve) => setUp.once("exit", resolve));
  identity = spawn(process.execPath, [programFile("identity/main.ts")], {
    env: { ...env, PUBLIC_URL: url, PLATFORM_DOMAIN: "platform.test", LISTEN: `127.0.0.1:${port}` },
    stdio: "inherit",
  });
  await waitUntil(
    "the identity service answers",
    async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok,
  );
  app = await createIdentityApi(createLogger("identity-api", "fatal"), createPeer(url), "master");
  await app.ready();
  checkResponse = createAnswerCheck(app.swagger());
  admin = await logIn("admin");
});
after(async () => {
  await app.close();
  identity.kill("SIGKILL");
  await postgres.close();
});

async function logIn(username: string): Promise<string> {
  const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "password", client_id: "admin-cli", username, password: PASSWORD }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}
const send = async (method: "GET" | "POST" | "PUT" | "DELETE", path: string, payload?: object, token = admin) => {
  const response = await app.inject({
    method,
    url: path,
    headers: { authorization: `Bearer ${token}` },
    ...(payload && { payload }),
  });
  const provided = { status: response.statusCode, body: response.body === "" ? undefined : response.json() };
  checkResponse(method, path, provided.status, provided.body);
  return provided;
};
const decision = async (user: string, permission: string) => {
  const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    headers: { authorization: `Bearer ${await logIn(user)}` },
    body: new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:uma-ticket",
      audience: "maps",
      permission,
      permission_resource_format: "uri",
      response_mode: "decision",
    }),
  });
  return response.status;
};

test("one call makes a client whose resources are protected for those named", async () => {
  const made = await send("POST", "/clients", {
    clientId: "maps",
    name: "Maps",
    secret: "sesame",
    resources: [
      { name: "eric", uris: ["/eric/*"], permissions: { user: ["eric"] } },
      { name: "Default Resource", uris: ["/*"], permissions: { authenticated: true } },
    ],
  });
  assert.equal(made.status, 200);
  assert.match(made.body.client, /^[0-9a-f-]{36}$/);
  assert.equal(made.body.resources.length, 2);
  assert.equal(await decision("eric", "/eric/x"), 200);
  assert.equal(await decision("bob", "/eric/x"), 403);
  assert.equal(await decision("bob", "/elsewhere"), 200);
  // Again: it exists, and nothing doubles.
  const again = await send("POST", "/clients", { clientId: "maps", resources: [{ name: "eric", uris: ["/eric/*"] }] });
  assert.equal(again.status, 200);
  assert.equal((await send("GET", "/resources?client_id=maps")).body.length, 2);
});

test("resources are added, changed and taken away with their policies", async () => {
  const added = await send("POST", "/maps/resources", [
    { name: "bob", uris: ["/bob/*"], permissions: { user: ["bob"] } },
  ]);
  assert.equal(added.status, 200);
  assert.equal(await decision("bob", "/bob/x"), 200);
  assert.equal(await decision("eric", "/bob/x"), 403);
  assert.equal((await send("POST", "/maps/resources", [{ name: "bob", uris: ["/bob/*"] }])).status, 409);
  const id = added.body[0]._id as string;
  assert.equal((await send("PUT", `/maps/resources/${id}`, { uris: ["/robert/*"] })).status, 200);
  assert.equal(await decision("bob", "/robert/x"), 200);
  assert.equal((await send("DELETE", "/maps/resources/bob/all")).status, 200);
  const policies = (await send("GET", "/maps/policies")).body as readonly { name: string }[];
  assert.ok(!policies.some(({ name }) => name.startsWith("bob")));
});

test("policies of each kind", async () => {
  const role = await send("POST", "/maps/policies/role", { name: "administrators", roles: [{ id: "admin" }] });
  assert.equal(role.status, 200);
  const changed = await send("PUT", `/maps/policies/role/${role.body.id}`, {
    name: "administrators",
    logic: "NEGATIVE",
    roles: [{ id: "admin" }],
  });
  assert.equal(changed.body.logic, "NEGATIVE");
  assert.equal((await send("POST", "/maps/policies/magic", { name: "x" })).status, 422);
  assert.equal((await send("DELETE", `/maps/policies/${role.body.id}`)).status, 200);
  assert.deepEqual((await send("GET", "/maps/permissions/management")).body, { enabled: true });
});

test("wrong requests, and requests of who is no administrator", async () => {
  assert.equal((await send("POST", "/clients", { clientId: "x", magic: true })).status, 422);
  assert.equal((await send("POST", "/clients", {})).status, 422);
  assert.equal((await send("POST", "/nobody/resources", [{ name: "x", uris: ["/x"] }])).status, 404);
  const eric = await logIn("eric");
  assert.equal((await send("POST", "/clients", { clientId: "y" }, eric)).status, 403);
  assert.equal((await send("GET", "/maps/policies", undefined, eric)).status, 403);
  assert.equal((await send("GET", "/maps/policies", undefined, "x.y.z")).status, 401);
});

test("a resource is changed as the known API takes it: shown fields, attributes, trailing slashes", async () => {
  const client = "shown";
  await send("POST", "/clients/", { clientId: client, resources: [{ name: "data", uris: ["/data/*"] }] });
  const list = (await send("GET", `/resources/?client_id=${client}`)).body as { _id: string; name: string }[];
  const resource = list.find(({ name }) => name === "data");
  assert.ok(resource);
  const changed = await send("PUT", `/${client}/resources/${resource._id}/`, {
    ...resource,
    displayName: "Data of all",
    attributes: { kind: ["open"], size: "big" },
  });
  assert.equal(changed.status, 200);
  const { body } = await send("GET", `/resources/${resource._id}?client_id=${client}`);
  assert.equal(body.displayName, "Data of all");
  assert.deepEqual(body.attributes, { kind: ["open"], size: ["big"] });
  assert.deepEqual(
    body.scopes.map(({ name }: { name: string }) => name),
    ["view"],
  );
});
