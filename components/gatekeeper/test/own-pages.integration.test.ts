import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { toPolicySet } from "../policies/declared-policies.ts";
import { type Fixture, RESOURCES, startFixture } from "./fixture.ts";
import { ISSUER } from "./test-provider.ts";

let fixture: Fixture;
before(async () => {
  fixture = await startFixture({ settings: { PAGE_ORIGINS: "http://portal.example.org", UMA: "true" } });
});
after(() => fixture.close());
beforeEach(() => fixture.seen.splice(0));

const OWN = ["http://portal.example.org", "http://ades.example.org"];
/** Content of users: below the platform's domain, or a sandboxed page, whose origin is `null`. */
const FOREIGN = ["http://evil.objstore.example.org", "http://objstore.example.org", "null", "https://evil.org"];

test("a login in cookies is for the platform's own pages, whatever the method", async () => {
  const cookie = `auth_user_id=${await fixture.provider.sign()}`;
  for (const method of ["GET", "POST"]) {
    const send = async (origin: string) =>
      (await fixture.send({ method, path: "/eric/x", headers: { cookie, origin, "sec-fetch-site": "same-site" } }))
        .status;
    for (const origin of OWN) {
      assert.equal(await send(origin), 200, `${method} ${origin}`);
    }
    for (const origin of FOREIGN) {
      assert.equal(await send(origin), 403, `${method} ${origin}`);
    }
  }
});

test("what a sandboxed page loads without saying where from is refused, a link is followed", async () => {
  const cookie = `auth_user_id=${await fixture.provider.sign()}`;
  const get = async (headers: Record<string, string>) =>
    (await fixture.send({ path: "/eric/x", headers: { cookie, "sec-fetch-site": "cross-site", ...headers } })).status;
  assert.equal(await get({ "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }), 403);
  assert.equal(await get({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }), 403);
  assert.equal(await get({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }), 200);
  // A program that is no browser says nothing of all this.
  assert.equal((await fixture.send({ path: "/eric/x", headers: { cookie } })).status, 200);
});

test("pages that may not use cookies are not told what was answered to them", async () => {
  for (const [origin, credentials] of [...OWN.map((one) => [one, "true"]), ...FOREIGN.map((one) => [one, undefined])]) {
    const response = await fixture.send({ path: "/eric/x", headers: { origin: origin ?? "" } });
    assert.equal(response.headers["access-control-allow-credentials"], credentials, origin);
  }
});

test("a token for another client is refused, and its login is not spent on renewing it", async () => {
  const token = await fixture.provider.sign({ aud: "other", azp: "other" });
  const refresh = fixture.provider.issueRefreshToken("swath-portal");
  const { refreshes } = fixture.provider.counts;
  const cookie = `auth_user_id=${token}; auth_refresh_token=${refresh}`;
  assert.equal((await fixture.send({ path: "/eric/x", headers: { cookie } })).status, 401);
  assert.equal(fixture.provider.counts.refreshes, refreshes);
});

test("on an open path a wrong token is ignored, and the answer says so", async () => {
  const wrong = await fixture.send({ path: "/docs", headers: { authorization: "Bearer x.y.z" } });
  assert.equal(wrong.status, 200);
  assert.match(String(wrong.headers["x-auth-ignored"]), /token/);
  assert.equal(fixture.seen[0]?.headers["x-auth-username"], undefined);
  assert.equal(
    (await fixture.send({ path: "/docs", headers: await fixture.bearer() })).headers["x-auth-ignored"],
    undefined,
  );
  assert.equal((await fixture.send({ path: "/docs" })).headers["x-auth-ignored"], undefined);
});

test("401 carries a permission ticket for the path's resources where UMA is on (UMA 2.0 Grant §3.2)", async () => {
  // The rules are read with the first request that has a token.
  await fixture.send({ path: "/eric/x", headers: await fixture.bearer() });
  const resource = toPolicySet("ades", RESOURCES).resources.find(({ name }) => name === "eric");
  for (const headers of [{}, { authorization: "Bearer x.y.z" }]) {
    const response = await fixture.send({ path: "/eric/x", headers });
    assert.equal(response.status, 401);
    const challenge = response.headers["www-authenticate"] ?? "";
    assert.match(challenge, /^Bearer /);
    const found = /UMA realm="http:\/\/ades\.example\.org", as_uri="([^"]+)", ticket="ticket-for-([^"]+)"/.exec(
      challenge,
    );
    assert.equal(found?.[1], ISSUER);
    const asked = JSON.parse(Buffer.from(found?.[2] ?? "", "base64url").toString()) as unknown;
    assert.deepEqual(asked, [{ resource_id: resource?.id }]);
  }
  // What no resource covers has no ticket that could help.
  assert.doesNotMatch((await fixture.send({ path: "/nobody" })).headers["www-authenticate"] ?? "", /UMA/);
});
