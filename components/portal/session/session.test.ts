import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { type TokenVerifier, TokenError, parseCookies } from "@swath/auth";

import { readReturnPath } from "./return-path.ts";
import { createSessionFinder } from "./session.ts";
import { createTokenCookies } from "./token-cookies.ts";

const cookies = createTokenCookies({
  accessName: "auth_user_id",
  accessDomain: ".example.org",
  refreshName: "auth_refresh_token",
  refreshDomain: ".example.org",
  secure: true,
});

describe("cookies", () => {
  test("of a login are for the domain, out of reach of scripts and of other sites", () => {
    assert.deepEqual(cookies.keep({ accessToken: "A", refreshToken: "R" }), [
      "auth_user_id=A; Path=/; Domain=.example.org; HttpOnly; SameSite=Strict; Secure",
      "auth_refresh_token=R; Path=/; Domain=.example.org; HttpOnly; SameSite=Strict; Secure",
    ]);
    assert.match(cookies.clear().join("\n"), /auth_user_id=; Path=\/; Domain=\.example\.org; Max-Age=0/);
    assert.throws(() => cookies.keep({ accessToken: "x".repeat(4090), refreshToken: undefined }), /roles and groups/);
  });

  test("a refresh token that the gatekeeper sealed is left to it", () => {
    const read = (header: string) => cookies.read(parseCookies(header));
    assert.deepEqual(read("auth_user_id=A; auth_refresh_token=R"), { accessToken: "A", refreshToken: "R" });
    assert.deepEqual(read("auth_user_id=A; auth_refresh_token=s1.xyz"), { accessToken: "A" });
    assert.deepEqual(read("auth_user_id=A; auth_user_id=B"), {});
  });
});

describe("a login that is renewed", () => {
  const find = (isAlive: boolean, accessToken: string) =>
    createSessionFinder({
      verifier: {
        verify: (token: string) =>
          token === "expired"
            ? Promise.reject(new TokenError("EXPIRED", "it has ended"))
            : Promise.resolve({ claims: { exp: Date.now() / 1000 + 600 }, identity: { realmRoles: [] } }),
      } as unknown as TokenVerifier,
      // The issuer takes a refresh token once, and another process was faster.
      refresher: { refresh: () => Promise.resolve(undefined) },
      cookies,
      isAlive: () => Promise.resolve(isAlive),
      audiences: ["swath-portal"],
      administrators: { role: "admin", user: "admin" },
    }).find(`auth_user_id=${accessToken}; auth_refresh_token=R`, { confirm: true });

  test("by the gatekeeper at the same moment keeps the cookies that the browser got from there", async () => {
    assert.deepEqual(await find(true, "expired"), { session: undefined, setCookies: [] });
  });

  test("loses its cookies when the identity service says that it has ended", async () => {
    assert.match((await find(false, "A")).setCookies.join(), /Max-Age=0/);
  });
});

describe("where a login returns to", () => {
  test("is a path of the portal", () => {
    assert.equal(readReturnPath("/workspaces/ws-eric/files?prefix=a/b/"), "/workspaces/ws-eric/files?prefix=a/b/");
    assert.equal(readReturnPath("/a/../b"), "/b");
  });

  test("and never another host, nor a loop", () => {
    for (const wrong of [
      undefined,
      "",
      "//evil.org",
      "/\\evil.org",
      "/a/..//evil.org",
      "/.//evil.org",
      "https://evil.org",
      "evil.org",
      "/a\r\nb",
      "/auth/logout",
      "/x/../auth/login",
    ]) {
      assert.equal(readReturnPath(wrong), "/", wrong);
    }
  });
});
