import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { type TokenVerifier, IssuerUnavailableError, createTokenVerifier, openIssuer } from "@swath/auth";
import { type OidcClient, createOidcClient } from "@swath/auth/login";
import { createLogger } from "@swath/service";

import { type TestIdentity, startIdentity } from "../../../components/identity/test/start-identity.ts";
import { createHubKeys } from "../../../components/application-hub/session/seal.ts";
import { type Logins, createLogins } from "../../../components/application-hub/session/logins.ts";
import { type HubDatabase, openHubDatabase } from "../../../components/application-hub/store/database.ts";

/** Logins of the hub with a real identity service and PostgreSQL. */
let identity: TestIdentity;
let database: HubDatabase;
let client: OidcClient;
let logins: Logins;
let closeIssuer: () => Promise<void>;
/** Whether the keys of the issuer cannot be had just now. */
let isUnavailable = false;
const sealer = createHubKeys("a secret of the tests, long enough");

before(async () => {
  identity = await startIdentity();
  database = await openHubDatabase({ url: identity.postgres.url, onError: () => {} });
  const issuer = openIssuer({ issuer: identity.issuer });
  closeIssuer = () => issuer.close();
  const verifier = createTokenVerifier({ issuer });
  client = createOidcClient({ issuer: identity.issuer, clientId: "admin-cli" });
  const unreliable: TokenVerifier = {
    ...verifier,
    verify: (...provided) =>
      isUnavailable ? Promise.reject(new IssuerUnavailableError("it is away")) : verifier.verify(...provided),
  };
  logins = createLogins({
    sql: database,
    client,
    verifier: unreliable,
    audiences: ["swath-platform"],
    administrators: { role: "admin", user: "admin" },
    sealer,
    logger: createLogger("hub", "fatal"),
  });
});
after(async () => {
  await client?.close();
  await closeIssuer?.();
  await database?.close();
  await identity?.close();
});
beforeEach(async () => {
  isUnavailable = false;
  await database.rows("delete from logins");
});

async function begin(user: string): Promise<{ cookie: string; refreshToken: string; sessionId: string }> {
  const {
    access_token: accessToken,
    refresh_token: refreshToken,
    session_state: sessionId,
  } = await identity.logIn(user);
  const { cookie } = await logins.begin({ accessToken, refreshToken, sessionId });
  return { cookie, refreshToken, sessionId };
}

const storedTokens = async (): Promise<{ refreshToken: string }> => {
  const row = await database.first<{ sealed_tokens: string }>("select sealed_tokens from logins");
  return JSON.parse(sealer.open(row?.sealed_tokens ?? "") ?? "null");
};

test("a renewal whose token cannot be checked keeps the new refresh token, and the next one succeeds", async () => {
  const { refreshToken } = await begin("eric");
  await database.rows("update logins set access_expires = now()");
  isUnavailable = true;
  await assert.rejects(logins.accessToken("eric"), /it is away/);
  const kept = await storedTokens();
  assert.notEqual(kept.refreshToken, refreshToken);
  isUnavailable = false;
  const renewed = await logins.accessToken("eric");
  assert.ok(renewed !== undefined && renewed.expires.getTime() > Date.now() + 30_000);
});

test("an issuer's notice ends the session that it names, and all of a user where it names none", async () => {
  const first = await begin("eric");
  const second = await begin("eric");
  const other = await begin("bob");
  const exists = async (cookie: string) => (await logins.find(cookie)) !== undefined;
  await logins.endAll({ sessionId: first.sessionId, userId: undefined });
  assert.deepEqual([await exists(first.cookie), await exists(second.cookie)], [false, true]);
  const row = await database.first<{ subject: string }>("select subject from logins where user_name = 'eric'");
  await logins.endAll({ sessionId: second.sessionId, userId: "somebody else" });
  assert.equal(await exists(second.cookie), true);
  await logins.endAll({ sessionId: undefined, userId: row?.subject ?? "" });
  assert.deepEqual([await exists(second.cookie), await exists(other.cookie)], [false, true]);
});
