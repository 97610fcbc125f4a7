import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { decodeJwt } from "jose";

import type { Queryable } from "../store/database.ts";
import { createRefreshRotation } from "../store/refresh-batches.ts";
import { type ShownRefresh, rotateRefreshTokens } from "../store/refresh-rotation.ts";
import type { RealmSettings } from "../realm-settings.ts";
import { type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
before(async () => {
  identity = await startIdentity();
});
after(() => identity.close());

const TOKEN = "/realms/master/protocol/openid-connect/token";

const exchange = async (shown: ShownRefresh, settings: RealmSettings, startedAt: Date) => {
  const [grant] = await rotateRefreshTokens(identity.context.pool, [{ shown, settings }], startedAt, "wait");
  return grant;
};

test("refresh rotates; of many at once all get the same successor; an old one ends its chain (RFC 9700 §4.14)", async () => {
  const tokens = await identity.logIn("alice");
  const refresh = (token: string) =>
    identity.send(TOKEN, { form: { grant_type: "refresh_token", client_id: "admin-cli", refresh_token: token } });
  const responses = await Promise.all(Array.from({ length: 12 }, () => refresh(tokens.refresh_token)));
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
  const ids = new Set(responses.map(({ body }) => decodeJwt(body.refresh_token).jti));
  assert.equal(ids.size, 1);
  const second = await refresh(responses[0]?.body.refresh_token);
  const third = await refresh(second.body.refresh_token);
  assert.equal(third.status, 200);
  // Two generations old: not a race any more.
  const old = await refresh(tokens.refresh_token);
  assert.equal(old.status, 400);
  assert.equal(old.body.error, "invalid_grant");
  assert.equal((await refresh(third.body.refresh_token)).status, 400);
  const check = await identity.send("/realms/master/protocol/openid-connect/userinfo", {
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
  const rotated = await exchange(
    { sessionId: String(sid), client: portal.id, refreshId: String(claims.jti) },
    handle.realm.settings,
    new Date(),
  );
  assert.equal(rotated, undefined);
  assert.equal(await expiry(), before);
});

test("a token exchanged just before the service died is good once more when it is back, and not for ever", async () => {
  const tokens = await identity.logIn("eric");
  const { sid, jti } = decodeJwt(tokens.refresh_token);
  const { pool, realms } = identity.context;
  const form = { grant_type: "refresh_token", client_id: "admin-cli", refresh_token: tokens.refresh_token };
  assert.equal((await identity.send(TOKEN, { form })).status, 200);
  const handle = await realms.find("master");
  const client = await handle?.findClient("admin-cli");
  assert.ok(handle && client);
  const exchangeAt = (startedAt: Date) =>
    exchange({ sessionId: String(sid), client: client.id, refreshId: String(jti) }, handle.realm.settings, startedAt);
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
  await pool.query("update client_session set rotated_at = now() - interval '40 seconds' where session_id = $1", [sid]);
  assert.equal(await exchangeAt(ago(600)), undefined, "it has run all the time: this is a copy");
  assert.equal(await exchangeAt(ago(20)), undefined, "the interval after the start is over");
  assert.ok(await exchangeAt(ago(5)));
  await pool.query("update client_session set rotated_at = now() - interval '90 seconds' where session_id = $1", [sid]);
  assert.equal(await exchangeAt(ago(5)), undefined, "too long before the start");
});

test("exchanges that come together go to the database together, each with its own answer", async () => {
  const { pool, realms } = identity.context;
  const handle = await realms.find("master");
  const client = await handle?.findClient("admin-cli");
  assert.ok(handle && client);
  const logins = await Promise.all(
    Array.from({ length: 12 }, (_, index) => identity.logIn(index % 2 ? "alice" : "eric")),
  );
  const shown = logins.map(({ refresh_token: token }) => {
    const { sid, jti, chain } = decodeJwt(token);
    return { sessionId: String(sid), client: client.id, refreshId: String(jti), chain: String(chain) };
  });
  // One is no token any more, and another one's session is being changed by somebody else.
  const bad = { ...(shown[3] as ShownRefresh), refreshId: "another" };
  const response = shown.map((each, index) => (index === 3 ? bad : each));
  let statements = 0;
  const counting: Queryable = {
    query: (text, values) => {
      statements += 1;
      return pool.query(text, values);
    },
  };
  const holder = await pool.connect();
  await holder.query("begin");
  await holder.query("select 1 from user_session where id = $1 for update", [shown[5]?.sessionId]);
  const rotation = createRefreshRotation(counting, new Date());
  const responses = response.map((each) => rotation.rotate(each, handle.realm.settings));
  const free = await Promise.all(responses.filter((_, index) => index !== 5));
  await holder.query("rollback");
  holder.release();
  const held = await responses[5];
  const grants = [...free.slice(0, 5), held, ...free.slice(5)];
  grants.forEach((grant, index) => {
    assert.equal(grant === undefined, index === 3, String(index));
    assert.equal(grant?.user.username, index === 3 ? undefined : index % 2 ? "alice" : "eric");
    assert.equal(grant?.chain, index === 3 ? undefined : shown[index]?.chain);
  });
  assert.equal(new Set(grants.map((grant) => grant?.refreshId)).size, 12);
  // All together, and then the two that were left out by themselves.
  assert.equal(statements, 3);
});
