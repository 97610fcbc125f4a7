import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

/** Passwords that the service of the tests compares at once. */
const AT_ONCE = 2;
const LIMIT = 3;

let identity: TestIdentity;
before(async () => {
  identity = await startIdentity();
  const { access_token: bearer } = await identity.logIn("admin");
  const response = await identity.send("/admin/realms/master", {
    method: "PUT",
    bearer,
    json: { failureFactor: LIMIT },
  });
  assert.equal(response.status, 204, response.text);
});
after(() => identity.close());

test("guesses that come at once are no more than those that come one by one", async () => {
  const { hasher } = identity.context;
  const before = hasher.verifications();
  const guesses = Array.from({ length: 40 }, (_, index) => identity.logIn("bob", `guess ${index}`));
  // The right one is among them, too late.
  const responses = await Promise.all([...guesses, identity.logIn("bob")]);
  assert.ok(hasher.verifications() - before < LIMIT + AT_ONCE, `${hasher.verifications() - before} were compared`);
  assert.deepEqual([...new Set(responses.map(({ error }) => error as string))], ["invalid_grant"]);
});

test("many logins of one user at once are no failures", async () => {
  const responses = await Promise.all(Array.from({ length: 12 }, () => identity.logIn("alice", PASSWORD)));
  assert.deepEqual([...new Set(responses.map((response) => typeof response.access_token))], ["string"]);
});

const ADMIN = "/admin/realms/master";
const from = (ip: string, username: string, password: string) =>
  identity.send("/realms/master/protocol/openid-connect/token", {
    headers: { "x-forwarded-for": ip },
    form: { grant_type: "password", client_id: "admin-cli", username, password },
  });

test("guessing from one address locks the account out nowhere else", async () => {
  for (let attempt = 0; attempt < LIMIT; attempt += 1) {
    await from("192.0.2.1", "eric", "wrong");
  }
  assert.match((await from("192.0.2.1", "eric", PASSWORD)).body.error_description, /Too many/);
  assert.equal((await from("192.0.2.2", "eric", PASSWORD)).status, 200);
});

test("an address that fails with many accounts waits a moment, and is cleared by an administrator; the log tells", async () => {
  const { access_token: bearer } = await identity.logIn("admin");
  for (let attempt = 0; attempt < LIMIT * 10 + 6; attempt += 1) {
    // Too soon is no failure: the back-off is taken out of the way.
    await identity.context.pool.query("update login_failure set locked_until = null");
    await from("192.0.2.9", `nobody-${attempt}`, "wrong");
  }
  const shared = await from("192.0.2.9", "alice", PASSWORD);
  assert.match(shared.body.error_description, /Too many/);
  const { rows } = await identity.context.pool.query<{ seconds: number }>(
    "select extract(epoch from locked_until - now())::float8 as seconds from login_failure where subject = 'address:192.0.2.9'",
  );
  assert.ok((rows[0]?.seconds ?? 99) <= 30, "a moment, however often");
  const path = `${ADMIN}/attack-detection/brute-force/addresses`;
  const listed = (await identity.send(path, { bearer })).body as { address: string; disabled: boolean }[];
  assert.equal(listed.find(({ address }) => address === "192.0.2.9")?.disabled, true);
  assert.equal((await identity.send(`${path}/192.0.2.9`, { method: "DELETE", bearer })).status, 204);
  assert.equal((await from("192.0.2.9", "alice", PASSWORD)).status, 200);
  const events = (await identity.send(`${ADMIN}/events?type=USER_DISABLED_BY_TEMPORARY_LOCKOUT`, { bearer })).body;
  assert.ok(events.some(({ details }: { details: { limit: string } }) => details.limit === "address:192.0.2.9"));
});

test("the policy of passwords holds for administrators too: length and former ones", async () => {
  const { access_token: bearer } = await identity.logIn("admin");
  await identity.send(ADMIN, { method: "PUT", bearer, json: { passwordHistory: 2 } });
  const made = await identity.send(`${ADMIN}/users`, {
    bearer,
    json: { username: "henry", enabled: true, credentials: [{ type: "password", value: "short" }] },
  });
  assert.equal(made.status, 400);
  await identity.send(`${ADMIN}/users`, { bearer, json: { username: "henry", enabled: true } });
  const { id } = (await identity.send(`${ADMIN}/users?username=henry`, { bearer })).body[0];
  const reset = async (value: string) =>
    (
      await identity.send(`${ADMIN}/users/${id}/reset-password`, {
        method: "PUT",
        bearer,
        json: { type: "password", value },
      })
    ).status;
  assert.equal(await reset("1234567"), 400);
  assert.equal(await reset("henry"), 400);
  assert.equal(await reset("the first one"), 204);
  assert.equal(await reset("the second one"), 204);
  assert.equal(await reset("the first one"), 400);
  assert.equal(await reset("the third one"), 204);
  assert.equal(await reset("the first one"), 204);
});

test("user names that look like another one are refused", async () => {
  const { access_token: bearer } = await identity.logIn("admin");
  for (const username of ["аdmin", "\uff45ric", "ad\u200bmin"]) {
    const made = await identity.send(`${ADMIN}/users`, { bearer, json: { username, enabled: true } });
    assert.equal(made.status, 400, username);
    assert.match(made.body.errorMessage, /another one/);
  }
});
