import assert from "node:assert/strict";
import { createServer } from "node:http";
import { connect } from "node:net";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { createTokenId } from "@swath/auth";
import { sendWholeRequest, waitUntil } from "@swath/testing";

import { toPolicySet } from "../policies/declared-policies.ts";
import { type Fixture, HOST, RESOURCES, startFixture } from "./fixture.ts";

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
});
after(() => fixture.close());
beforeEach(() => fixture.seen.splice(0));

const navigation = { accept: "text/html,*/*", "sec-fetch-mode": "navigate" };
const until = (what: () => Promise<boolean> | boolean) => waitUntil("it happens", what);
const cookiesOf = (setCookie: readonly string[] = []) =>
  Object.fromEntries(setCookie.map((line) => [line.split("=", 1)[0] ?? "", line.split(";", 1)[0] ?? ""]));

describe("who may pass", () => {
  test("no token 401, wrong user 403, right user 200, unknown path 403, open path without a token", async () => {
    const missing = await fixture.send({ path: "/eric/a" });
    assert.equal(missing.status, 401);
    assert.match(missing.headers["www-authenticate"] ?? "", /^Bearer /);
    assert.equal((await fixture.send({ path: "/bob/a", headers: await fixture.bearer() })).status, 403);
    assert.equal((await fixture.send({ path: "/nobody", headers: await fixture.bearer() })).status, 403);
    const right = await fixture.send({ path: "/eric/a?b=c", headers: await fixture.bearer() });
    assert.equal(right.status, 200);
    assert.equal(right.headers["x-service"], "yes");
    assert.equal(right.body, "served GET /eric/a?b=c");
    assert.equal((await fixture.send({ path: "/eric", headers: await fixture.bearer() })).status, 200);
    assert.equal((await fixture.send({ path: "/docs" })).status, 200);
    assert.equal((await fixture.send({ path: "/docs/x" })).status, 401);
    assert.equal((await fixture.send({ host: "other.example.org", headers: await fixture.bearer() })).status, 421);
  });

  test("the most specific resource decides", async () => {
    assert.equal((await fixture.send({ path: "/shared/x", headers: await fixture.bearer() })).status, 200);
    assert.equal((await fixture.send({ path: "/shared/admin/x", headers: await fixture.bearer() })).status, 403);
    const admin = await fixture.bearer({ realm_access: { roles: ["admin"] } });
    assert.equal((await fixture.send({ path: "/shared/admin/x", headers: admin })).status, 200);
  });

  test("the service learns who it is, also on open paths when a good token is sent", async () => {
    await fixture.send({ path: "/eric/a", headers: { ...(await fixture.bearer()), "x-auth-username": "admin" } });
    await fixture.send({ path: "/docs", headers: await fixture.bearer() });
    await fixture.send({ path: "/docs", headers: { authorization: "Bearer x.y.z", "x-auth-username": "admin" } });
    assert.deepEqual(
      fixture.seen.map(({ headers }) => headers["x-auth-username"]),
      ["eric", "eric", undefined],
    );
    assert.equal(fixture.seen[0]?.headers["x-auth-roles"], "user");
    assert.equal(fixture.seen[0]?.headers["x-auth-userid"], "id-of-eric");
  });

  test("a refusal reaches clients that read it after they have sent a large body", async () => {
    const body = Buffer.alloc(8 << 20, "a");
    const chunked = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]);
    for (const [framing, bytes] of [
      [`Content-Length: ${body.length}`, body],
      ["Transfer-Encoding: chunked", chunked],
    ] as const) {
      const head = `POST /eric/a HTTP/1.1\r\nHost: ${HOST}\r\n${framing}\r\n\r\n`;
      assert.match(await sendWholeRequest({ path: fixture.socket }, head, bytes), /^HTTP\/1\.1 401 /, framing);
    }
  });

  test("so does the answer of a service that reads no body", async () => {
    const { authorization } = await fixture.bearer();
    const body = Buffer.alloc(8 << 20, "a");
    const head = `POST /eric/unread HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: ${authorization}\r\nContent-Length: ${body.length}\r\n\r\n`;
    assert.match(await sendWholeRequest({ path: fixture.socket }, head, body), /^HTTP\/1\.1 403 /);
  });

  test("a preflight is answered for every path", async () => {
    const headers = { origin: "https://x.example.org", "access-control-request-method": "PUT" };
    const response = await fixture.send({ method: "OPTIONS", path: "/eric/a", headers });
    assert.equal(response.status, 200);
    assert.equal(response.headers["access-control-allow-origin"], "https://x.example.org");
    assert.equal(response.headers["access-control-allow-credentials"], "true");
    const stranger = await fixture.send({ method: "OPTIONS", headers: { ...headers, origin: "https://evil.org" } });
    assert.equal(stranger.headers["access-control-allow-credentials"], undefined);
    assert.equal(fixture.seen.length, 0);
  });
});

describe("changes are felt at once", () => {
  test("rules, when the identity service tells of them", async () => {
    const headers = await fixture.bearer();
    assert.equal((await fixture.send({ path: "/eric/a", headers })).status, 200);
    fixture.provider.policySets.set("ades", { ...toPolicySet("ades", []), version: "none" });
    fixture.provider.tell("policy", { clientId: "ades" });
    await until(async () => (await fixture.send({ path: "/eric/a", headers })).status === 403);
    fixture.provider.policySets.set("ades", { ...toPolicySet("ades", RESOURCES), version: "again" });
    fixture.provider.tell("policy", {});
    await until(async () => (await fixture.send({ path: "/eric/a", headers })).status === 200);
  });

  test("the end of a session, and a change of a user", async () => {
    const ended = await fixture.bearer({ sid: "session-2" });
    const other = await fixture.bearer({ sid: "session-3" });
    assert.equal((await fixture.send({ path: "/eric/a", headers: ended })).status, 200);
    fixture.provider.tell("session", { sid: "session-2" });
    await until(async () => (await fixture.send({ path: "/eric/a", headers: ended })).status === 401);
    assert.equal((await fixture.send({ path: "/eric/a", headers: other })).status, 200);
    const carol = { preferred_username: "carol" };
    const before = await fixture.bearer(carol);
    assert.equal((await fixture.send({ path: "/shared/a", headers: before })).status, 200);
    fixture.provider.tell("user", { sub: "id-of-carol" });
    await until(async () => (await fixture.send({ path: "/shared/a", headers: before })).status === 401);
    const later = await fixture.bearer({ ...carol, iat: Math.floor(Date.now() / 1000) + 2 });
    assert.equal((await fixture.send({ path: "/shared/a", headers: later })).status, 200);
  });

  test("a token from right after a change of its user is good, one from right before it is not", async () => {
    // All within one second, as clients do that change something and log in again.
    const second = Math.floor(Date.now() / 1000);
    const dora = (at: number) =>
      fixture.bearer({ preferred_username: "dora", iat: second, jti: createTokenId(second * 1000 + at) });
    const [before, after] = [await dora(300), await dora(500)];
    fixture.provider.tell("user", { sub: "id-of-dora", at: second * 1000 + 400 });
    await until(async () => (await fixture.send({ path: "/shared/a", headers: before })).status === 401);
    assert.equal((await fixture.send({ path: "/shared/a", headers: after })).status, 200);
  });

  test("one token is revoked, others of its session are not", async () => {
    const [revoked, other] = [await fixture.bearer({ sid: "one", jti: "first" }), await fixture.bearer({ sid: "one" })];
    assert.equal((await fixture.send({ path: "/eric/a", headers: revoked })).status, 200);
    fixture.provider.tell("token", { jti: "first" });
    await until(async () => (await fixture.send({ path: "/eric/a", headers: revoked })).status === 401);
    assert.equal((await fixture.send({ path: "/eric/a", headers: other })).status, 200);
  });

  test("tokens from before the gatekeeper listened are asked about once", async () => {
    const iat = Math.floor(Date.now() / 1000) - 100;
    const good = await fixture.bearer({ iat });
    const bad = await fixture.bearer({ iat });
    fixture.provider.inactive.add(bad["authorization"]?.slice("Bearer ".length) ?? "");
    const { introspections } = fixture.provider.counts;
    assert.equal((await fixture.send({ path: "/eric/a", headers: bad })).status, 401);
    assert.equal((await fixture.send({ path: "/eric/a", headers: good })).status, 200);
    assert.equal((await fixture.send({ path: "/eric/a", headers: good })).status, 200);
    assert.equal(fixture.provider.counts.introspections, introspections + 2);
  });
});

describe("an identity service that is away", () => {
  test("for a moment stops nobody; what happened meanwhile is asked for when it is back", async () => {
    const [kept, ended] = [await fixture.bearer(), await fixture.bearer()];
    for (const headers of [kept, ended]) {
      assert.equal((await fixture.send({ path: "/eric/a", headers })).status, 200);
    }
    const path = fixture.provider.server.address() as string;
    fixture.provider.server.closeAllConnections();
    await new Promise((resolve) => fixture.provider.server.close(resolve));
    for (let tries = 0; tries < 5; tries += 1) {
      assert.equal((await fixture.send({ path: "/eric/a", headers: kept })).status, 200);
      await sleep(50);
    }
    fixture.provider.inactive.add(ended["authorization"]?.slice("Bearer ".length) ?? "");
    await new Promise<void>((resolve) => fixture.provider.server.listen(path, resolve));
    await until(() => fixture.provider.followers() > 0);
    assert.equal((await fixture.send({ path: "/eric/a", headers: kept })).status, 200);
    await until(async () => (await fixture.send({ path: "/eric/a", headers: ended })).status === 401);
  });
});

describe("logging in with a browser", () => {
  const login = async () => {
    const start = await fixture.send({ path: "/eric/a?b=c", headers: navigation });
    assert.equal(start.status, 302);
    const page = new URL(start.headers.location ?? "");
    assert.equal(page.searchParams.get("code_challenge_method"), "S256");
    assert.equal(page.searchParams.get("redirect_uri"), `http://${HOST}/oauth/callback`);
    const callback = await follow(page);
    return { browser: cookiesOf(start.headers["set-cookie"])["swath_login"] ?? "", callback, page };
  };
  const follow = async (page: URL) => {
    const address = fixture.provider.server.address() as string;
    const { request } = await import("node:http");
    return new Promise<string>((resolve, reject) => {
      request({ socketPath: address, path: `${page.pathname}${page.search}` }, (response) => {
        response.resume();
        const location = new URL(response.headers.location ?? "");
        resolve(`${location.pathname}${location.search}`);
      })
        .on("error", reject)
        .end();
    });
  };

  test("leads to the login page and back to where it began, with the login in cookies", async () => {
    const { browser, callback } = await login();
    const done = await fixture.send({ path: callback, headers: { cookie: browser } });
    assert.equal(done.status, 302, done.body);
    assert.equal(done.headers.location, `http://${HOST}/eric/a?b=c`);
    const set = done.headers["set-cookie"] ?? [];
    assert.ok(
      set.every((line) => /; Domain=\.example\.org; HttpOnly; SameSite=Lax/.test(line)),
      set.join(),
    );
    const cookies = cookiesOf(set);
    const cookie = `mine=1; ${cookies["auth_user_id"]}; ${cookies["auth_refresh_token"]}`;
    assert.equal((await fixture.send({ path: "/eric/a", headers: { cookie } })).status, 200);
    assert.equal(fixture.seen.at(-1)?.headers.cookie, "mine=1");
    assert.match(fixture.seen.at(-1)?.headers.authorization ?? "", /^Bearer /);

    const out = await fixture.send({ path: "/oauth/logout", headers: { cookie, ...navigation } });
    assert.equal(out.status, 302);
    assert.ok(out.headers["set-cookie"]?.every((line) => line.includes("Max-Age=0")));
    assert.equal((await fixture.send({ path: "/eric/a", headers: { cookie } })).status, 401);
  });

  test("cannot be finished in another browser, with another state, or twice", async () => {
    const { browser, callback } = await login();
    const other = (await login()).browser;
    for (const [path, cookie] of [
      [callback, ""],
      [callback, other],
      [callback.replace(/state=[^&]+/, "state=s1.AAAA"), browser],
    ] as const) {
      const response = await fixture.send({ path, headers: { cookie } });
      assert.equal(response.status, 400, path);
      assert.equal(response.headers["set-cookie"], undefined);
    }
    const third = await login();
    const finish = () => fixture.send({ path: third.callback, headers: { cookie: third.browser } });
    assert.equal((await finish()).status, 302);
    const again = await finish();
    assert.deepEqual([again.status, again.headers["set-cookie"]], [400, undefined]);
  });

  test("is offered to people only", async () => {
    assert.equal((await fixture.send({ path: "/eric/a", headers: { accept: "text/html" } })).status, 401);
    assert.equal((await fixture.send({ method: "POST", path: "/eric/a", headers: navigation })).status, 401);
    const forbidden = await fixture.send({ path: "/bob/a", headers: { ...navigation, ...(await fixture.bearer()) } });
    assert.equal(forbidden.status, 403);
    assert.match(forbidden.headers["content-type"] ?? "", /text\/html/);
  });

  test("user name and password at /oauth/login, as the known gatekeeper has it", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const send = (body: string) => fixture.send({ method: "POST", path: "/oauth/login", headers, body });
    const right = await send("username=eric&password=right");
    assert.equal(right.status, 200);
    const { access_token: token } = JSON.parse(right.body) as { access_token: string };
    assert.equal((await fixture.send({ path: "/eric/a", headers: { authorization: `Bearer ${token}` } })).status, 200);
    assert.equal((await send("username=eric&password=wrong")).status, 401);
    assert.equal((await send("username=eric")).status, 400);
  });

  test("its other addresses", async () => {
    assert.equal((await fixture.send({ path: "/oauth/expired" })).status, 401);
    assert.equal((await fixture.send({ path: "/oauth/expired", headers: await fixture.bearer() })).status, 200);
    const shown = await fixture.send({ path: "/oauth/token", headers: await fixture.bearer() });
    assert.equal((JSON.parse(shown.body) as { preferred_username: string }).preferred_username, "eric");
    assert.equal((await fixture.send({ path: "/oauth/token" })).status, 401);
    const found = JSON.parse((await fixture.send({ path: "/oauth/discovery" })).body) as Record<string, string>;
    assert.equal(found["logout_endpoint"], "/oauth/logout");
    assert.equal((await fixture.send({ method: "PUT", path: "/oauth/token" })).status, 405);
  });
});

describe("a login in cookies", () => {
  test("is renewed without the person noticing, once for many requests at once", async () => {
    const expired = await fixture.provider.sign({}, { seconds: -60 });
    const cookie = `auth_user_id=${expired}; auth_refresh_token=${fixture.provider.issueRefreshToken("swath-portal")}`;
    const { refreshes } = fixture.provider.counts;
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => fixture.send({ path: "/eric/a", headers: { cookie } })),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
    assert.equal(fixture.provider.counts.refreshes, refreshes + 1);
    const renewed = cookiesOf(responses[0]?.headers["set-cookie"]);
    assert.equal(
      (await fixture.send({ path: "/eric/a", headers: { cookie: renewed["auth_user_id"] ?? "" } })).status,
      200,
    );
  });

  test("has ended when the issuer says so", async () => {
    const expired = await fixture.provider.sign({}, { seconds: -60 });
    const cookie = `auth_user_id=${expired}; auth_refresh_token=unknown`;
    assert.equal((await fixture.send({ path: "/eric/a", headers: { cookie } })).status, 401);
  });
});

describe("streams", () => {
  test("a WebSocket passes both ways, and ends with its login", async () => {
    const { authorization = "" } = await fixture.bearer({ sid: "session-ws" });
    const head = [
      "GET /eric/ws HTTP/1.1",
      `Host: ${HOST}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      `Authorization: ${authorization}`,
    ];
    const socket = connect(fixture.socket, () => socket.write(`${head.join("\r\n")}\r\n\r\nearly `));
    let received = "";
    socket.on("data", (data) => (received += data.toString()));
    await until(() => received.includes("EARLY"));
    assert.match(received, /^HTTP\/1\.1 101 [^]*hello/);
    assert.equal(fixture.seen.at(-1)?.headers["x-auth-username"], "eric");
    socket.write("late");
    await until(() => received.includes("LATE"));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    fixture.provider.tell("session", { sid: "session-ws" });
    await closed;
  });

  test("a WebSocket without a token, or for somebody else, never reaches the service", async () => {
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    assert.match(
      await fixture.raw(`GET /eric/ws HTTP/1.1\r\nHost: ${HOST}\r\n${upgrade}\r\nsmuggled`),
      /^HTTP\/1\.1 401 /,
    );
    const { authorization } = await fixture.bearer({ preferred_username: "bob" });
    const response = await fixture.raw(
      `GET /eric/ws HTTP/1.1\r\nHost: ${HOST}\r\n${upgrade}Authorization: ${authorization}\r\n\r\n`,
    );
    assert.match(response, /^HTTP\/1\.1 403 /);
    assert.equal(fixture.seen.length, 0);
  });

  test("large bodies pass whole, in both directions", async () => {
    const body = "x".repeat(3_000_000);
    const response = await fixture.send({ method: "PUT", path: "/eric/big", headers: await fixture.bearer(), body });
    assert.equal(response.status, 200);
    assert.equal(fixture.seen.at(-1)?.body.length, body.length);
    const chunked = { ...(await fixture.bearer()), "transfer-encoding": "chunked" };
    await fixture.send({ method: "PUT", path: "/eric/big", headers: chunked, body });
    assert.equal(fixture.seen.at(-1)?.body.length, body.length);
  });

  test("a body is asked for only when the request may pass", async () => {
    const head = (authorization: string) =>
      `PUT /eric/a HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n${authorization}\r\n`;
    assert.match(await fixture.raw(head("")), /^HTTP\/1\.1 401 /);
    const { authorization } = await fixture.bearer();
    assert.match(await fixture.raw(`${head(`Authorization: ${authorization}\r\n`)}`), /^HTTP\/1\.1 100 Continue/);
  });

  test("a service that is away is a 502, one that comes back is found", async () => {
    const path = fixture.service.address() as string;
    fixture.service.closeAllConnections();
    await new Promise((resolve) => fixture.service.close(resolve));
    assert.equal((await fixture.send({ path: "/eric/a", headers: await fixture.bearer() })).status, 502);
    const again = createServer((_, response) => response.end("back"));
    await new Promise<void>((resolve) => again.listen(path, resolve));
    assert.equal((await fixture.send({ path: "/eric/a", headers: await fixture.bearer() })).body, "back");
    again.closeAllConnections();
    again.close();
  });
});
