// What somebody hostile tries against the gatekeeper. The service behind must never see a request that it should not.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";

import { forgeByStranger, forgeUnsigned, forgeWithPublicKey } from "../../components/gatekeeper/test/forge.ts";
import { type Fixture, HOST, startFixture } from "../../components/gatekeeper/test/fixture.ts";
import { ISSUER } from "../../components/gatekeeper/test/test-provider.ts";

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
});
after(() => fixture.close());
beforeEach(() => fixture.seen.splice(0));

const refused = (status: number) => status === 400 || status === 401 || status === 403 || status === 421;
const statusOf = (response: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1] ?? 0);

describe("tokens", () => {
  const withToken = async (token: string) =>
    (await fixture.send({ path: "/shared/x", headers: { authorization: `Bearer ${token}` } })).status;

  test("alg none, and RS256 turned into HS256 with the public key as the secret", async () => {
    assert.equal(await withToken(forgeUnsigned()), 401);
    for (const token of await forgeWithPublicKey(fixture.provider)) {
      assert.equal(await withToken(token), 401);
    }
    assert.equal(fixture.seen.length, 0);
  });

  test("expired, not yet valid, for another audience, of another issuer, an ID token, signed by a stranger", async () => {
    const { provider } = fixture;
    for (const token of [
      await provider.sign({}, { seconds: -10 }),
      await provider.sign({ nbf: Math.floor(Date.now() / 1000) + 100 }),
      await provider.sign({ aud: ["another-service"] }),
      await provider.sign({ aud: [] }),
      await provider.sign({ iss: "http://identity.example.org/realms/other" }),
      await provider.sign({ typ: "ID", aud: "ades" }),
      await provider.sign({ typ: "Refresh", aud: "ades" }),
      await forgeByStranger(provider),
      `${await provider.sign()}x`,
    ]) {
      assert.equal(await withToken(token), 401);
    }
    assert.equal(fixture.seen.length, 0);
    assert.equal(await withToken(await provider.sign({ aud: ["another-service", "ades"] })), 200);
  });

  test("a token for one audience does not slip through because another host verified it before", async () => {
    const token = await fixture.provider.sign({ aud: "another-service" });
    for (let tries = 0; tries < 3; tries += 1) {
      assert.equal(await withToken(token), 401);
    }
  });

  test("two Authorization headers", async () => {
    const token = await fixture.provider.sign();
    const response = await fixture.raw(
      `GET /bob/x HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: Bearer ${token}\r\nAuthorization: Basic eDp5\r\n\r\n`,
    );
    assert.equal(statusOf(response), 400);
  });
});

describe("identity headers", () => {
  test("cannot be forged in any spelling, nor taken away", async () => {
    const { authorization } = await fixture.bearer();
    const forged = [
      "X-Auth-Username",
      "x-auth-username",
      "X_Auth_Username",
      "X-Auth_Username",
      "X-AUTH-ROLES",
      "X-Auth-Userid",
      "X-Auth-Token",
    ];
    const lines = forged.map((name) => `${name}: admin\r\n`).join("");
    const head = `GET /eric/x HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close, X-Auth-Username, X-Auth-Roles\r\n`;
    assert.equal(statusOf(await fixture.raw(`${head}Authorization: ${authorization}\r\n${lines}\r\n`)), 200);
    assert.equal(statusOf(await fixture.raw(`${head.replace("/eric/x", "/docs")}${lines}\r\n`)), 200);
    const [mine, open] = fixture.seen;
    assert.equal(mine?.headers["x-auth-username"], "eric");
    assert.equal(mine?.headers["x-auth-roles"], "user");
    for (const headers of [mine?.headers ?? {}, open?.headers ?? {}]) {
      assert.equal(Object.values(headers).includes("admin"), false);
    }
    assert.equal(
      Object.keys(open?.headers ?? {}).some((name) => name.startsWith("x-auth")),
      false,
    );
  });

  test("claims with line breaks or commas do not become other headers or roles", async () => {
    const claims = { preferred_username: "a\r\nX-Auth-Roles: admin", realm_access: { roles: ["x,admin"] } };
    assert.equal((await fixture.send({ path: "/shared/x", headers: await fixture.bearer(claims) })).status, 200);
    assert.equal(fixture.seen[0]?.headers["x-auth-roles"], "x%2Cadmin");
  });
});

describe("paths", () => {
  test("no spelling of a path reaches what the path itself does not", async () => {
    const { authorization } = await fixture.bearer();
    const targets = [
      "/eric/../bob/x",
      "/eric/%2e%2e/bob/x",
      "/eric/%2E./bob/x",
      "/eric/..%2fbob/x",
      "/eric/..%5cbob/x",
      "/eric/..;/bob/x",
      "/eric/;/../bob/x",
      "/eric/%252e%252e/bob/x",
      "/eric/%c0%ae%c0%ae/bob/x",
      "/eric/..\\bob/x",
      "/shared/x/../admin/x",
      "/shared//admin/x",
      "//shared/admin/x",
      "/shared/%61dmin/x",
      "/shared/./admin/x",
      "/shared;a=b/admin/x",
      "/shared/admin;a=b/x",
      "/shared/admin%3b/x",
      "/shared/admin%00/x",
      "/docs/../shared/admin/x",
      "/docs%2f..%2fshared/admin/x",
      "/docs;/../bob/x",
      "/BOB/x",
      "/bob/x?/docs",
      "/bob/x#/docs",
      "bob/x",
      "*",
      `http://${HOST}/bob/x`,
      "http://other.example.org/eric/x",
      `http://eric@${HOST}/eric/x`,
    ];
    for (const target of targets) {
      const response = await fixture.raw(
        `GET ${target} HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
      );
      assert.ok(refused(statusOf(response)), `${target}: ${response.slice(0, 60)}`);
    }
    assert.deepEqual(fixture.seen, []);
  });

  test("what is sent on is what was decided on", async () => {
    const { authorization } = await fixture.bearer();
    for (const [target, sent] of [
      ["//eric///%78?q=%2e%2e//", "/eric/x?q=%2e%2e//"],
      [`http://${HOST.toUpperCase()}./eric/x`, "/eric/x"],
      ["/eric/%e2%82%ac", "/eric/%E2%82%AC"],
    ] as const) {
      fixture.seen.splice(0);
      await fixture.raw(
        `GET ${target} HTTP/1.1\r\nHost: ${HOST}.\r\nAuthorization: ${authorization}\r\nX-Original-URL: /bob\r\nConnection: close\r\n\r\n`,
      );
      assert.equal(fixture.seen[0]?.url, sent);
      assert.equal(fixture.seen[0]?.headers.host, HOST);
      assert.equal(fixture.seen[0]?.headers["x-original-url"], undefined);
    }
  });
});

describe("hosts and framing", () => {
  test("case and the last dot of a host change nothing; other hosts are not served", async () => {
    for (const host of [HOST.toUpperCase(), `${HOST}.`, `${HOST}:80`, `${HOST}.:443`]) {
      assert.equal((await fixture.send({ path: "/bob/x", host, headers: await fixture.bearer() })).status, 403, host);
    }
    for (const host of ["", "localhost", `x.${HOST}`, `${HOST}..`, `${HOST}/`, `${HOST}:80:80`, `evil.org\t${HOST}`]) {
      assert.ok(refused((await fixture.send({ path: "/eric/x", host, headers: await fixture.bearer() })).status), host);
    }
    assert.deepEqual(fixture.seen, []);
  });

  test("requests whose end or host can be read in two ways", async () => {
    const { authorization } = await fixture.bearer();
    const start = `POST /eric/x HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: ${authorization}\r\n`;
    const smuggled = `GET /bob/x HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;
    for (const [name, text] of Object.entries({
      "length and chunked": `${start}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      "two lengths": `${start}Content-Length: 0\r\nContent-Length: 30\r\n\r\n${smuggled}`,
      "the same length twice": `${start}Content-Length: 2\r\nContent-Length: 2\r\n\r\nab`,
      "a list of lengths": `${start}Content-Length: 2, 2\r\n\r\nab`,
      "a signed length": `${start}Content-Length: +2\r\n\r\nab`,
      "unknown coding": `${start}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      "two codings": `${start}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      "two coding headers": `${start}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
      "space before the colon": `${start}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
      "folded header": `${start}X: a\r\n Transfer-Encoding: chunked\r\n\r\n`,
      "bare line feeds": `${start.replaceAll("\r\n", "\n")}\n`,
      "two hosts": `${start}Host: other.example.org\r\n\r\n`,
      "the same host twice": `${start}Host: ${HOST}\r\n\r\n`,
      "no host": `GET /eric/x HTTP/1.1\r\nAuthorization: ${authorization}\r\n\r\n`,
      "chunked in HTTP/1.0": `${start.replace("HTTP/1.1", "HTTP/1.0")}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      "a tunnel": `CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: ${authorization}\r\n\r\n`,
      trace: `TRACE /eric/x HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: ${authorization}\r\n\r\n`,
    })) {
      const response = await fixture.raw(text);
      assert.ok(!response.includes("served"), `${name}: ${response.slice(0, 300)}`);
    }
    assert.deepEqual(fixture.seen, []);
  });

  test("a switch to HTTP/2 is not a way around", async () => {
    const { authorization } = await fixture.bearer();
    const upgrade =
      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n";
    const response = await fixture.raw(
      `GET /eric/x HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: ${authorization}\r\n${upgrade}\r\n`,
    );
    assert.equal(statusOf(response), 200);
    assert.equal(fixture.seen[0]?.headers.upgrade, undefined);
  });
});

describe("redirects", () => {
  test("lead nowhere but to the deployment", async () => {
    const evil = [
      "//evil.org",
      "https://evil.org",
      "/\\evil.org",
      "https://example.org@evil.org",
      "javascript:alert(1)",
      "https://example.org.evil.org",
    ];
    for (const target of evil) {
      for (const path of ["/oauth/logout", "/oauth/authorize"]) {
        const response = await fixture.send({ path: `${path}?redirect=${encodeURIComponent(target)}` });
        assert.equal(response.status, 400, target);
        assert.equal(response.headers.location, undefined);
      }
    }
    const outside = await fixture.send({ path: "/oauth/authorize?redirect=https%3A%2F%2Fportal.example.org%2F" });
    assert.equal(outside.status, 400);
  });

  test("the callback of a login takes its address from nobody but itself", async () => {
    for (const query of [
      "",
      "?code=x",
      "?code=x&state=/evil",
      "?code=x&state=s1.AAAAAAAA",
      "?error=<script>&state=x",
    ]) {
      const response = await fixture.send({ path: `/oauth/callback${query}` });
      assert.equal(response.status, 400);
      assert.equal(response.body.includes("<script>"), false);
    }
    const navigation = { accept: "text/html", "sec-fetch-mode": "navigate" };
    const start = await fixture.send({ path: "//evil.org/%65ric?next=//evil.org", headers: navigation });
    assert.equal(new URL(start.headers.location ?? "").origin, new URL(ISSUER).origin);
  });
});

describe("cookies", () => {
  test("two different logins in one request are refused", async () => {
    const [mine, planted] = [await fixture.provider.sign(), await fixture.provider.sign({ preferred_username: "bob" })];
    for (const cookie of [
      `auth_user_id=${mine}; auth_user_id=${planted}`,
      `auth_user_id=${planted}; auth_user_id=${mine}`,
    ]) {
      assert.equal((await fixture.send({ path: "/eric/x", headers: { cookie } })).status, 400);
    }
    const split = `GET /eric/x HTTP/1.1\r\nHost: ${HOST}\r\nCookie: auth_user_id=${mine}\r\nCookie: auth_user_id=${planted}\r\n\r\n`;
    assert.equal(statusOf(await fixture.raw(split)), 400);
    assert.deepEqual(fixture.seen, []);
    const out = await fixture.send({
      path: "/oauth/logout",
      headers: { cookie: `auth_user_id=${mine}; auth_user_id=${planted}` },
    });
    assert.equal(out.headers["set-cookie"]?.filter((line) => line.startsWith("auth_user_id=;")).length, 2);
  });

  test("pages of other sites cannot use them to change anything, or open a WebSocket", async () => {
    const cookie = `auth_user_id=${await fixture.provider.sign()}`;
    const post = (headers: Record<string, string>) =>
      fixture.send({ method: "POST", path: "/eric/x", headers: { cookie, ...headers }, body: "x" });
    for (const origin of ["https://evil.org", "null", "https://example.org.evil.org", "https://evilexample.org"]) {
      assert.equal((await post({ origin })).status, 403, origin);
    }
    assert.equal((await post({ "sec-fetch-site": "cross-site" })).status, 403);
    const upgrade = `Cookie: ${cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: https://evil.org\r\n`;
    assert.equal(statusOf(await fixture.raw(`GET /eric/ws HTTP/1.1\r\nHost: ${HOST}\r\n${upgrade}\r\n`)), 403);
    assert.deepEqual(fixture.seen, []);
    assert.equal((await post({ origin: "https://portal.example.org" })).status, 200);
    const login = { "content-type": "application/x-www-form-urlencoded", origin: "https://evil.org" };
    const forged = await fixture.send({
      method: "POST",
      path: "/oauth/login",
      headers: login,
      body: "username=eric&password=right",
    });
    assert.equal(forged.status, 403);
  });

  test("a header wins over cookies, and a bad one is not made good by them", async () => {
    const cookie = `auth_user_id=${await fixture.provider.sign()}`;
    assert.equal((await fixture.send({ path: "/eric/x", headers: { cookie, authorization: "Bearer x" } })).status, 401);
    assert.equal((await fixture.send({ path: "/eric/x", headers: { cookie, authorization: "Bearer" } })).status, 401);
  });

  test("refresh tokens never reach the service, and sealed ones cannot be made up", async () => {
    const cookie = `auth_user_id=${await fixture.provider.sign()}; auth_refresh_token=secret-refresh-token; other=1`;
    assert.equal((await fixture.send({ path: "/eric/x", headers: { cookie } })).status, 200);
    assert.equal(JSON.stringify(fixture.seen).includes("secret-refresh-token"), false);
    const sealed = `auth_refresh_token=s1.${Buffer.from("x".repeat(60)).toString("base64url")}`;
    assert.equal((await fixture.send({ path: "/eric/x", headers: { cookie: sealed } })).status, 401);
  });
});
