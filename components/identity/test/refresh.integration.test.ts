import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { decodeJwt } from "jose";

import { rotateRefreshToken } from "../store/sessions.ts";
import { type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
before(async () => {
  identity = await startIdentity();
});
after(() => identity.close());

const TOKEN = "/realms/master/protocol/openid-connect/token";

test("refresh rotates; of many at once all get the same successor; an old one ends the session (RFC 9700 §4.14)", async () => {
  const tokens = await identity.logIn("alice");
  const refresh = (token: string) =>
    identity.ask(TOKEN, { form: { grant_type: "refresh_token", client_id: "admin-cli", refresh_token: token } });
  const answers = await Promise.all(Array.from({ length: 12 }, () => refresh(tokens.refresh_token)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  const ids = new Set(answers.map(({ body }) => decodeJwt(body.refresh_token).jti));
  assert.equal(ids.size, 1);
  const second = await refresh(answers[0]?.body.refresh_token);
  const third = await refresh(second.body.refresh_token);
  assert.equal(third.status, 200);
  // Two generations old: not a race any more.
  const old = await refresh(tokens.refresh_token);
  assert.equal(old.status, 400);
  assert.equal(old.body.error, "invalid_grant");
  assert.equal((await refresh(third.body.refresh_token)).status, 400);
  const check = await identity.ask("/realms/master/protocol/openid-connect/userinfo", {
    bearer: third.body.access_token,
  });
  assert.equal(check.status, 401);
});

test("a refused refresh does not prolong the session", async () => {
  const tokens = await identity.logIn("alice");
  const sid = decodeJwt(tokens.access_token)["sid"];
  const expiry = async () =>
    (
      await identity.context.pool.query<{ expires_at: Date }>("select expires_at from user_session where id = $1", [
        sid,
      ])
    ).rows[0]?.expires_at.getTime();
  await identity.context.pool.query("update user_session set expires_at = now() + interval '1 hour' where id = $1", [
    sid,
  ]);
  const before = await expiry();
  await identity.context.pool.query(
    "update client_session set refresh_id = gen_random_uuid()::text, previous_id = null where session_id = $1",
    [sid],
  );
  const handle = await identity.context.realms.find("master");
  const portal = await handle?.findClient("admin-cli");
  assert.ok(handle && portal);
  const claims = decodeJwt(tokens.refresh_token);
  const rotated = await rotateRefreshToken(
    identity.context.pool,
    { sessionId: String(sid), client: portal.id, refreshId: String(claims.jti) },
    handle.realm.settings,
    identity.context.startedAt,
  );
  assert.equal(rotated, undefined);
  assert.equal(await expiry(), before);
});

test("a token exchanged just before the service died is good once more when it is back, and not for ever", async () => {
  const tokens = await identity.logIn("eric");
  const { sid, jti } = decodeJwt(tokens.refresh_token);
  const { pool, realms } = identity.context;
  const form = { grant_type: "refresh_token", client_id: "admin-cli", refresh_token: tokens.refresh_token };
  assert.equal((await identity.ask(TOKEN, { form })).status, 200);
  const handle = await realms.find("master");
  const client = await handle?.findClient("admin-cli");
  assert.ok(handle && client);
  const exchange = (startedAt: Date) =>
    rotateRefreshToken(
      pool,
      { sessionId: String(sid), client: client.id, refreshId: String(jti) },
      handle.realm.settings,
      startedAt,
    );
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
  await pool.query("update client_session set rotated_at = now() - interval '40 seconds' where session_id = $1", [sid]);
  assert.equal(await exchange(ago(600)), undefined, "it has run all the time: this is a copy");
  assert.equal(await exchange(ago(20)), undefined, "the interval after the start is over");
  assert.ok(await exchange(ago(5)));
  await pool.query("update client_session set rotated_at = now() - interval '90 seconds' where session_id = $1", [sid]);
  assert.equal(await exchange(ago(5)), undefined, "too long before the start");
});
