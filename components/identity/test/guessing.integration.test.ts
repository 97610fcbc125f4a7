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

/** Wrong logins with many names, until tries from the address take turns. */
async function guessFrom(ip: string): Promise<void> {
  for (let attempt = 0; attempt < LIMIT * 10; attempt += 1) {
    await from(ip, `nobody-${attempt}`, "wrong");
  }
}

test("while someone guesses at an address, its other people get in after a moment; an administrator ends it; the log tells", async () => {
  const { access_token: bearer } = await identity.logIn("admin");
  await guessFrom("192.0.2.9");
  const path = `${ADMIN}/attack-detection/brute-force/addresses`;
  const listed = (await identity.send(path, { bearer })).body as { address: string; disabled: boolean }[];
  assert.equal(listed.find(({ address }) => address === "192.0.2.9")?.disabled, true);
  const { hasher } = identity.context;
  const before = hasher.verifications();
  const guesses = Array.from({ length: 60 }, (_, index) => from("192.0.2.9", "root", `guess ${index}`));
  for (const name of ["alice", "alice", "bob-new", "admin"]) {
    const { status, text } = await from("192.0.2.9", name, name === "bob-new" ? "wrong" : PASSWORD);
    assert.equal(status, name === "bob-new" ? 401 : 200, text);
    assert.doesNotMatch(text, /Too many/);
  }
  const refused = (await Promise.all(guesses)).filter(({ text }) => /Too many/.test(text));
  assert.ok(refused.length >= 50, `${refused.length} of 60 guesses were refused`);
  assert.ok(refused.every(({ headers }) => Number(headers.get("retry-after")) >= 1));
  assert.ok(hasher.verifications() - before < 20, `${hasher.verifications() - before} were compared`);
  assert.equal((await identity.send(`${path}/192.0.2.9`, { method: "DELETE", bearer })).status, 204);
  const left = (await identity.send(path, { bearer })).body as { address: string }[];
  assert.equal(
    left.some(({ address }) => address === "192.0.2.9"),
    false,
  );
  const events = (await identity.send(`${ADMIN}/events?type=USER_DISABLED_BY_TEMPORARY_LOCKOUT`, { bearer })).body;
  assert.ok(events.some(({ details }: { details: { limit: string } }) => details.limit === "address:192.0.2.9"));
});

test("an account that has logged in from an address before does not wait for those who guess there", async () => {
  assert.equal((await from("192.0.2.10", "alice", PASSWORD)).status, 200);
  await guessFrom("192.0.2.10");
  const { pool } = identity.context;
  const { pace, taken } = { pace: identity.context.loginPace, taken: [] as string[] };
  const take = pace.take.bind(pace);
  pace.take = (key, lane) => {
    taken.push(lane);
    return take(key, lane);
  };
  assert.equal((await from("192.0.2.10", "alice", PASSWORD)).status, 200);
  assert.deepEqual(taken, []);
  await from("192.0.2.10", "nobody", "wrong");
  assert.deepEqual(taken, ["nobody"]);
  pace.take = take;
  await pool.query("delete from login_failure");
});

test("a right login forgets the failures of no account whose name begins like its own", async () => {
  const { access_token: bearer } = await identity.logIn("admin");
  const json = (username: string) => ({
    username,
    enabled: true,
    credentials: [{ type: "password", value: "words of mallory alone" }],
  });
  for (const username of ["mallory", "mallory@example.org"]) {
    const made = await identity.send(`${ADMIN}/users`, { bearer, json: json(username) });
    assert.equal(made.status, 201, made.text);
  }
  const { hasher } = identity.context;
  let compared = 0;
  for (let guess = 0; guess < 60; guess += 1) {
    if (guess % LIMIT === LIMIT - 1) {
      await from("192.0.2.11", "mallory", "words of mallory alone");
    }
    const before = hasher.verifications();
    await from("192.0.2.11", "mallory@example.org", `guess ${guess}`);
    compared += hasher.verifications() - before;
  }
  assert.equal(compared, LIMIT);
  const locked = await from("192.0.2.11", "mallory@example.org", "words of mallory alone");
  assert.match(locked.body.error_description, /Too many/);
  assert.ok(Number(locked.headers.get("retry-after")) >= 1);
});

test("a right login elsewhere forgets no failures of the address that guesses the account", async () => {
  for (let guess = 0; guess < LIMIT; guess += 1) {
    await from("192.0.2.12", "bob", "wrong");
    await from("192.0.2.13", "bob", PASSWORD);
  }
  assert.match((await from("192.0.2.12", "bob", PASSWORD)).body.error_description, /Too many/);
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
