import assert from "node:assert/strict";
import { createServer } from "node:http";
import { connect } from "node:net";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { createTokenId } from "@swath/auth";
import { waitUntil } from "@swath/testing";

import { toPolicySet } from "../policies/declared-policies.ts";
import { type Rig, HOST, RESOURCES, startRig } from "./rig.ts";

let rig: Rig;
before(async () => {
  rig = await startRig();
});
after(() => rig.close());
beforeEach(() => rig.seen.splice(0));

const navigation = { accept: "text/html,*/*", "sec-fetch-mode": "navigate" };
const until = (what: () => Promise<boolean> | boolean) => waitUntil("it happens", what);
const cookiesOf = (setCookie: readonly string[] = []) =>
  Object.fromEntries(setCookie.map((line) => [line.split("=", 1)[0] ?? "", line.split(";", 1)[0] ?? ""]));

describe("who may pass", () => {
  test("no token 401, wrong user 403, right user 200, unknown path 403, open path without a token", async () => {
    const missing = await rig.ask({ path: "/eric/a" });
    assert.equal(missing.status, 401);
    assert.match(missing.headers["www-authenticate"] ?? "", /^Bearer /);
    assert.equal((await rig.ask({ path: "/bob/a", headers: await rig.bearer() })).status, 403);
    assert.equal((await rig.ask({ path: "/nobody", headers: await rig.bearer() })).status, 403);
    const right = await rig.ask({ path: "/eric/a?b=c", headers: await rig.bearer() });
    assert.equal(right.status, 200);
    assert.equal(right.headers["x-service"], "yes");
    assert.equal(right.body, "served GET /eric/a?b=c");
    assert.equal((await rig.ask({ path: "/eric", headers: await rig.bearer() })).status, 200);
    assert.equal((await rig.ask({ path: "/docs" })).status, 200);
    assert.equal((await rig.ask({ path: "/docs/x" })).status, 401);
    assert.equal((await rig.ask({ host: "other.example.org", headers: await rig.bearer() })).status, 421);
  });

  test("the most specific resource decides", async () => {
    assert.equal((await rig.ask({ path: "/shared/x", headers: await rig.bearer() })).status, 200);
    assert.equal((await rig.ask({ path: "/shared/admin/x", headers: await rig.bearer() })).status, 403);
    const admin = await rig.bearer({ realm_access: { roles: ["admin"] } });
    assert.equal((await rig.ask({ path: "/shared/admin/x", headers: admin })).status, 200);
  });

  test("the service learns who it is, also on open paths when a good token is sent", async () => {
    await rig.ask({ path: "/eric/a", headers: { ...(await rig.bearer()), "x-auth-username": "admin" } });
    await rig.ask({ path: "/docs", headers: await rig.bearer() });
    await rig.ask({ path: "/docs", headers: { authorization: "Bearer x.y.z", "x-auth-username": "admin" } });
    assert.deepEqual(
      rig.seen.map(({ headers }) => headers["x-auth-username"]),
      ["eric", "eric", undefined],
    );
    assert.equal(rig.seen[0]?.headers["x-auth-roles"], "user");
    assert.equal(rig.seen[0]?.headers["x-auth-userid"], "id-of-eric");
  });

  test("a preflight is answered for every path", async () => {
    const headers = { origin: "https://x.example.org", "access-control-request-method": "PUT" };
    const answer = await rig.ask({ method: "OPTIONS", path: "/eric/a", headers });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["access-control-allow-origin"], "https://x.example.org");
    assert.equal(answer.headers["access-control-allow-credentials"], "true");
    const stranger = await rig.ask({ method: "OPTIONS", headers: { ...headers, origin: "https://evil.org" } });
    assert.equal(stranger.headers["access-control-allow-credentials"], undefined);
    assert.equal(rig.seen.length, 0);
  });
});

describe("changes are felt at once", () => {
  test("rules, when the identity service tells of them", async () => {
    const headers = await rig.bearer();
    assert.equal((await rig.ask({ path: "/eric/a", headers })).status, 200);
    rig.provider.policySets.set("ades", { ...toPolicySet("ades", []), version: "none" });
    rig.provider.tell("policy", { clientId: "ades" });
    await until(async () => (await rig.ask({ path: "/eric/a", headers })).status === 403);
    rig.provider.policySets.set("ades", { ...toPolicySet("ades", RESOURCES), version: "again" });
    rig.provider.tell("policy", {});
    await until(async () => (await rig.ask({ path: "/eric/a", headers })).status === 200);
  });

  test("the end of a session, and a change of a user", async () => {
    const ended = await rig.bearer({ sid: "session-2" });
    const other = await rig.bearer({ sid: "session-3" });
    assert.equal((await rig.ask({ path: "/eric/a", headers: ended })).status, 200);
    rig.provider.tell("session", { sid: "session-2" });
    await until(async () => (await rig.ask({ path: "/eric/a", headers: ended })).status === 401);
    assert.equal((await rig.ask({ path: "/eric/a", headers: other })).status, 200);
    const carol = { preferred_username: "carol" };
    const before = await rig.bearer(carol);
    assert.equal((await rig.ask({ path: "/shared/a", headers: before })).status, 200);
    rig.provider.tell("user", { sub: "id-of-carol" });
    await until(async () => (await rig.ask({ path: "/shared/a", headers: before })).status === 401);
    const later = await rig.bearer({ ...carol, iat: Math.floor(Date.now() / 1000) + 2 });
    assert.equal((await rig.ask({ path: "/shared/a", headers: later })).status, 200);
  });

  test("a token from right after a change of its user is good, one from right before it is not", async () => {
    // All within one second, as clients do that change something and log in again.
    const second = Math.floor(Date.now() / 1000);
    const dora = (at: number) =>
      rig.bearer({ preferred_username: "dora", iat: second, jti: createTokenId(second * 1000 + at) });
    const [before, after] = [await dora(300), await dora(500)];
    rig.provider.tell("user", { sub: "id-of-dora", at: second * 1000 + 400 });
    await until(async () => (await rig.ask({ path: "/shared/a", headers: before })).status === 401);
    assert.equal((await rig.ask({ path: "/shared/a", headers: after })).status, 200);
  });

  test("one token is revoked, others of its session are not", async () => {
    const [revoked, other] = [await rig.bearer({ sid: "one", jti: "first" }), await rig.bearer({ sid: "one" })];
    assert.equal((await rig.ask({ path: "/eric/a", headers: revoked })).status, 200);
    rig.provider.tell("token", { jti: "first" });
    await until(async () => (await rig.ask({ path: "/eric/a", headers: revoked })).status === 401);
    assert.equal((await rig.ask({ path: "/eric/a", headers: other })).status, 200);
  });

  test("tokens from before the gatekeeper listened are asked about once", async () => {
    const iat = Math.floor(Date.now() / 1000) - 100;
    const good = await rig.bearer({ iat });
    const bad = await rig.bearer({ iat });
    rig.provider.inactive.add(bad["authorization"]?.slice("Bearer ".length) ?? "");
    const { introspections } = rig.provider.counts;
    assert.equal((await rig.ask({ path: "/eric/a", headers: bad })).status, 401);
    assert.equal((await rig.ask({ path: "/eric/a", headers: good })).status, 200);
    assert.equal((await rig.ask({ path: "/eric/a", headers: good })).status, 200);
    assert.equal(rig.provider.counts.introspections, introspections + 2);
  });
});

describe("an identity service that is away", () => {
  test("for a moment stops nobody; what happened meanwhile is asked for when it is back", async () => {
    const [kept, ended] = [await rig.bearer(), await rig.bearer()];
    for (const headers of [kept, ended]) {
      assert.equal((await rig.ask({ path: "/eric/a", headers })).status, 200);
    }
    const path = rig.provider.server.address() as string;
    rig.provider.server.closeAllConnections();
    await new Promise((resolve) => rig.provider.server.close(resolve));
    for (let tries = 0; tries < 5; tries += 1) {
      assert.equal((await rig.ask({ path: "/eric/a", headers: kept })).status, 200);
      await sleep(50);
    }
    rig.provider.inactive.add(ended["authorization"]?.slice("Bearer ".length) ?? "");
    await new Promise<void>((resolve) => rig.provider.server.listen(path, resolve));
    await until(() => rig.provider.followers() > 0);
    assert.equal((await rig.ask({ path: "/eric/a", headers: kept })).status, 200);
    await until(async () => (await rig.ask({ path: "/eric/a", headers: ended })).status === 401);
  });
});

describe("logging in with a browser", () => {
  const login = async () => {
    const start = await rig.ask({ path: "/eric/a?b=c", headers: navigation });
    assert.equal(start.status, 302);
    const page = new URL(start.headers.location ?? "");
    assert.equal(page.searchParams.get("code_challenge_method"), "S256");
    assert.equal(page.searchParams.get("redirect_uri"), `http://${HOST}/oauth/callback`);
    const callback = await follow(page);
    return { browser: cookiesOf(start.headers["set-cookie"])["swath_login"] ?? "", callback, page };
  };
  const follow = async (page: URL) => {
    const address = rig.provider.server.address() as string;
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
    const done = await rig.ask({ path: callback, headers: { cookie: browser } });
    assert.equal(done.status, 302, done.body);
    assert.equal(done.headers.location, `http://${HOST}/eric/a?b=c`);
    const set = done.headers["set-cookie"] ?? [];
    assert.ok(
      set.every((line) => /; Domain=\.example\.org; HttpOnly; SameSite=Lax/.test(line)),
      set.join(),
    );
    const cookies = cookiesOf(set);
    const cookie = `mine=1; ${cookies["auth_user_id"]}; ${cookies["auth_refresh_token"]}`;
    assert.equal((await rig.ask({ path: "/eric/a", headers: { cookie } })).status, 200);
    assert.equal(rig.seen.at(-1)?.headers.cookie, "mine=1");
    assert.match(rig.seen.at(-1)?.headers.authorization ?? "", /^Bearer /);

    const out = await rig.ask({ path: "/oauth/logout", headers: { cookie, ...navigation } });
    assert.equal(out.status, 302);
    assert.ok(out.headers["set-cookie"]?.every((line) => line.includes("Max-Age=0")));
    assert.equal((await rig.ask({ path: "/eric/a", headers: { cookie } })).status, 401);
  });

  test("cannot be finished in another browser, with another state, or twice", async () => {
    const { browser, callback } = await login();
    const other = (await login()).browser;
    for (const [path, cookie] of [
      [callback, ""],
      [callback, other],
      [callback.replace(/state=[^&]+/, "state=s1.AAAA"), browser],
    ] as const) {
      const answer = await rig.ask({ path, headers: { cookie } });
      assert.equal(answer.status, 400, path);
      assert.equal(answer.headers["set-cookie"], undefined);
    }
    const third = await login();
    const finish = () => rig.ask({ path: third.callback, headers: { cookie: third.browser } });
    assert.equal((await finish()).status, 302);
    const again = await finish();
    assert.deepEqual([again.status, again.headers["set-cookie"]], [400, undefined]);
  });

  test("is offered to people only", async () => {
    assert.equal((await rig.ask({ path: "/eric/a", headers: { accept: "text/html" } })).status, 401);
    assert.equal((await rig.ask({ method: "POST", path: "/eric/a", headers: navigation })).status, 401);
    const forbidden = await rig.ask({ path: "/bob/a", headers: { ...navigation, ...(await rig.bearer()) } });
    assert.equal(forbidden.status, 403);
    assert.match(forbidden.headers["content-type"] ?? "", /text\/html/);
  });

  test("user name and password at /oauth/login, as the known gatekeeper has it", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const ask = (body: string) => rig.ask({ method: "POST", path: "/oauth/login", headers, body });
    const right = await ask("username=eric&password=right");
    assert.equal(right.status, 200);
    const { access_token: token } = JSON.parse(right.body) as { access_token: string };
    assert.equal((await rig.ask({ path: "/eric/a", headers: { authorization: `Bearer ${token}` } })).status, 200);
    assert.equal((await ask("username=eric&password=wrong")).status, 401);
    assert.equal((await ask("username=eric")).status, 400);
  });

  test("its other addresses", async () => {
    assert.equal((await rig.ask({ path: "/oauth/expired" })).status, 401);
    assert.equal((await rig.ask({ path: "/oauth/expired", headers: await rig.bearer() })).status, 200);
    const shown = await rig.ask({ path: "/oauth/token", headers: await rig.bearer() });
    assert.equal((JSON.parse(shown.body) as { preferred_username: string }).preferred_username, "eric");
    assert.equal((await rig.ask({ path: "/oauth/token" })).status, 401);
    const found = JSON.parse((await rig.ask({ path: "/oauth/discovery" })).body) as Record<string, string>;
    assert.equal(found["logout_endpoint"], "/oauth/logout");
    assert.equal((await rig.ask({ method: "PUT", path: "/oauth/token" })).status, 405);
  });
});

describe("a login in cookies", () => {
  test("is renewed without the person noticing, once for many requests at once", async () => {
    const expired = await rig.provider.sign({}, { seconds: -60 });
    const cookie = `auth_user_id=${expired}; auth_refresh_token=${rig.provider.issueRefreshToken("swath-portal")}`;
    const { refreshes } = rig.provider.counts;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => rig.ask({ path: "/eric/a", headers: { cookie } })),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(rig.provider.counts.refreshes, refreshes + 1);
    const renewed = cookiesOf(answers[0]?.headers["set-cookie"]);
    assert.equal((await rig.ask({ path: "/eric/a", headers: { cookie: renewed["auth_user_id"] ?? "" } })).status, 200);
  });

  test("has ended when the issuer says so", async () => {
    const expired = await rig.provider.sign({}, { seconds: -60 });
    const cookie = `auth_user_id=${expired}; auth_refresh_token=unknown`;
    assert.equal((await rig.ask({ path: "/eric/a", headers: { cookie } })).status, 401);
  });
});

describe("streams", () => {
  test("a WebSocket passes both ways, and ends with its login", async () => {
    const { authorization = "" } = await rig.bearer({ sid: "session-ws" });
    const head = [
      "GET /eric/ws HTTP/1.1",
      `Host: ${HOST}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      `Authorization: ${authorization}`,
    ];
    const socket = connect(rig.socket, () => socket.write(`${head.join("\r\n")}\r\n\r\nearly `));
    let received = "";
    socket.on("data", (data) => (received += data.toString()));
    await until(() => received.includes("EARLY"));
    assert.match(received, /^HTTP\/1\.1 101 [^]*hello/);
    assert.equal(rig.seen.at(-1)?.headers["x-auth-username"], "eric");
    socket.write("late");
    await until(() => received.includes("LATE"));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    rig.provider.tell("session", { sid: "session-ws" });
    await closed;
  });

  test("a WebSocket without a token, or for somebody else, never reaches the service", async () => {
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    assert.match(await rig.raw(`GET /eric/ws HTTP/1.1\r\nHost: ${HOST}\r\n${upgrade}\r\nsmuggled`), /^HTTP\/1\.1 401 /);
    const { authorization } = await rig.bearer({ preferred_username: "bob" });
    const answer = await rig.raw(
      `GET /eric/ws HTTP/1.1\r\nHost: ${HOST}\r\n${upgrade}Authorization: ${authorization}\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1\.1 403 /);
    assert.equal(rig.seen.length, 0);
  });

  test("large bodies pass whole, in both directions", async () => {
    const body = "x".repeat(3_000_000);
    const answer = await rig.ask({ method: "PUT", path: "/eric/big", headers: await rig.bearer(), body });
    assert.equal(answer.status, 200);
    assert.equal(rig.seen.at(-1)?.body.length, body.length);
    const chunked = { ...(await rig.bearer()), "transfer-encoding": "chunked" };
    await rig.ask({ method: "PUT", path: "/eric/big", headers: chunked, body });
    assert.equal(rig.seen.at(-1)?.body.length, body.length);
  });

  test("a body is asked for only when the request may pass", async () => {
    const head = (authorization: string) =>
      `PUT /eric/a HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n${authorization}\r\n`;
    assert.match(await rig.raw(head("")), /^HTTP\/1\.1 401 /);
    const { authorization } = await rig.bearer();
    assert.match(await rig.raw(`${head(`Authorization: ${authorization}\r\n`)}`), /^HTTP\/1\.1 100 Continue/);
  });

  test("a service that is away is a 502, one that comes back is found", async () => {
    const path = rig.service.address() as string;
    rig.service.closeAllConnections();
    await new Promise((resolve) => rig.service.close(resolve));
    assert.equal((await rig.ask({ path: "/eric/a", headers: await rig.bearer() })).status, 502);
    const again = createServer((_, response) => response.end("back"));
    await new Promise<void>((resolve) => again.listen(path, resolve));
    assert.equal((await rig.ask({ path: "/eric/a", headers: await rig.bearer() })).body, "back");
    again.closeAllConnections();
    again.close();
  });
});
