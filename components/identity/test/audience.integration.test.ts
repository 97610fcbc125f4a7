import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PLATFORM_AUDIENCE, TokenError, createTokenVerifier, openIssuer } from "@swath/auth";
import { decodeJwt } from "jose";

import { type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
let admin: string;
const ADMIN = "/admin/realms/master";
before(async () => {
  identity = await startIdentity();
  admin = (await identity.logIn("admin")).access_token;
});
after(() => identity.close());

const idOf = async (clientId: string) =>
  (await identity.send(`${ADMIN}/clients?clientId=${clientId}`, { bearer: admin })).body[0].id as string;

/** Whether a service with the client `own` takes a token, as every service of the platform decides. */
async function isTaken(token: string, own: string): Promise<boolean> {
  const issuer = openIssuer({ issuer: identity.issuer });
  try {
    await createTokenVerifier({ issuer }).verify(token, { audiences: [own, PLATFORM_AUDIENCE] });
    return true;
  } catch (error) {
    if (error instanceof TokenError && error.code === "AUDIENCE") {
      return false;
    }
    throw error;
  } finally {
    await issuer.close();
  }
}

async function makeClient(clientId: string): Promise<void> {
  const made = await identity.send(`${ADMIN}/clients`, {
    bearer: admin,
    json: { clientId, publicClient: true, directAccessGrantsEnabled: true },
  });
  assert.equal(made.status, 201);
}

test("a token made for another client is taken by that client's service alone", async () => {
  await makeClient("stranger");
  const { access_token: token } = await identity.logIn("eric", undefined, { client_id: "stranger" });
  assert.equal(await isTaken(token, "ades"), false);
  assert.equal(await isTaken(token, "stranger"), true);
  // Nor can it administer, whoever logged in there.
  const { access_token: stolen } = await identity.logIn("admin", undefined, { client_id: "stranger" });
  assert.equal((await identity.send(`${ADMIN}/users`, { bearer: stolen })).status, 401);
  assert.equal((await identity.send("/admin/realms", { bearer: stolen })).status, 401);
});

test("scripts that log in with admin-cli reach every service, until the operator takes the mapper away", async () => {
  const { access_token: token } = await identity.logIn("eric");
  assert.equal(await isTaken(token, "ades"), true);
  assert.ok(([] as unknown[]).concat(decodeJwt(token).aud).includes("account"), "existing clients look for it");
  const cli = await idOf("admin-cli");
  const mappers = `${ADMIN}/clients/${cli}/protocol-mappers/models`;
  const shown = (await identity.send(mappers, { bearer: admin })).body as { id: string; name: string }[];
  const mapper = shown.find(({ name }) => name === "platform services");
  assert.ok(mapper);
  assert.equal((await identity.send(`${mappers}/${mapper.id}`, { method: "DELETE", bearer: admin })).status, 204);
  assert.equal(await isTaken((await identity.logIn("eric")).access_token, "ades"), false);
  // The next deployment does not bring it back.
  await identity.setUpAgain();
  assert.equal(await isTaken((await identity.logIn("eric")).access_token, "ades"), false);
  const again = await identity.send(mappers, {
    bearer: admin,
    json: {
      name: "platform services",
      protocol: "openid-connect",
      protocolMapper: "oidc-audience-mapper",
      config: { "included.custom.audience": PLATFORM_AUDIENCE, "access.token.claim": "true" },
    },
  });
  assert.equal(again.status, 201);
  assert.equal(await isTaken((await identity.logIn("eric")).access_token, "ades"), true);
});

test("the portal's tokens go everywhere, and so does what a mapper of another client adds", async () => {
  const portal = (await identity.send(`${ADMIN}/clients?clientId=portal`, { bearer: admin })).body[0];
  assert.equal(portal.protocolMappers[0].config["included.custom.audience"], PLATFORM_AUDIENCE);
  await makeClient("notebooks");
  const one = await identity.send(`${ADMIN}/clients/${await idOf("notebooks")}/protocol-mappers/models`, {
    bearer: admin,
    json: {
      name: "ades",
      protocol: "openid-connect",
      protocolMapper: "oidc-audience-mapper",
      config: { "included.client.audience": "ades", "access.token.claim": "true" },
    },
  });
  assert.equal(one.status, 201);
  const { access_token: token } = await identity.logIn("eric", undefined, { client_id: "notebooks" });
  assert.equal(await isTaken(token, "ades"), true);
  assert.equal(await isTaken(token, "workspace-api"), false);
});

test("a client without full scope sees the roles that it is given, and no others", async () => {
  await makeClient("narrow");
  const id = await idOf("narrow");
  await identity.send(`${ADMIN}/roles`, { bearer: admin, json: { name: "one" } });
  await identity.send(`${ADMIN}/roles`, { bearer: admin, json: { name: "two" } });
  const roles = ((await identity.send(`${ADMIN}/roles`, { bearer: admin })).body as { name: string }[]).filter(
    ({ name }) => ["one", "two"].includes(name),
  );
  const eric = (await identity.send(`${ADMIN}/users?username=eric&exact=true`, { bearer: admin })).body[0].id;
  await identity.send(`${ADMIN}/users/${eric}/role-mappings/realm`, { bearer: admin, json: roles });
  const seen = async () => {
    const { access_token: token } = await identity.logIn("eric", undefined, { client_id: "narrow" });
    return (decodeJwt(token)["realm_access"] as { roles: string[] }).roles;
  };
  assert.deepEqual(
    (await seen()).filter((role) => ["one", "two"].includes(role)),
    ["one", "two"],
  );
  await identity.send(`${ADMIN}/clients/${id}`, { method: "PUT", bearer: admin, json: { fullScopeAllowed: false } });
  assert.deepEqual(await seen(), []);
  const provided = await identity.send(`${ADMIN}/clients/${id}/scope-mappings/realm`, {
    bearer: admin,
    json: roles.filter(({ name }) => name === "one"),
  });
  assert.equal(provided.status, 204);
  assert.deepEqual(await seen(), ["one"]);
});
