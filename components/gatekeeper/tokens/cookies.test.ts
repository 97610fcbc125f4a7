import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { parseCookies } from "@swath/auth";

import { readOnlyValue, renderTokenCookie, withoutCookies } from "./cookies.ts";
import { createSealer } from "./seal.ts";

describe("cookies", () => {
  test("are read as they are", () => {
    const cookies = parseCookies("a=1; b = 2;c;auth=x=y==; d=");
    assert.equal(readOnlyValue(cookies, "a"), "1");
    assert.equal(readOnlyValue(cookies, "b"), "2");
    assert.equal(readOnlyValue(cookies, "auth"), "x=y==");
    assert.equal(readOnlyValue(cookies, "c"), undefined);
    assert.equal(readOnlyValue(cookies, "d"), undefined);
    assert.equal(readOnlyValue(cookies, "__proto__"), undefined);
  });

  test("two values of one name are ambiguous, the same value twice is not", () => {
    assert.equal(readOnlyValue(parseCookies("a=1; a=1"), "a"), "1");
    assert.throws(() => readOnlyValue(parseCookies("a=1; a=2"), "a"), { code: "AMBIGUOUS_COOKIES" });
    assert.throws(() => readOnlyValue(parseCookies("a=; a=2"), "a"), { code: "AMBIGUOUS_COOKIES" });
  });

  test("some are held back from the service", () => {
    assert.equal(
      withoutCookies(parseCookies("a=1; auth=2; c"), (name) => name === "auth"),
      "a=1; c",
    );
    assert.equal(
      withoutCookies(parseCookies("auth=2"), (name) => name === "auth"),
      undefined,
    );
  });

  test("are set for the whole domain, out of reach of scripts", () => {
    assert.equal(
      renderTokenCookie("a", "1", { domain: ".example.org", secure: true, maxAge: 0 }),
      "a=1; Path=/; Domain=.example.org; Max-Age=0; HttpOnly; SameSite=Lax; Secure",
    );
    assert.throws(() => renderTokenCookie("a", "x".repeat(4096), { secure: true }), { code: "TOKEN_TOO_LARGE" });
  });
});

describe("sealed values", () => {
  const sealer = createSealer("changemechangeme", "login");

  test("open only with the same key for the same purpose, unchanged", () => {
    const sealed = sealer.seal({ path: "/eric" });
    assert.deepEqual(sealer.open(sealed), { path: "/eric" });
    assert.equal(createSealer("changemechangeme", "refresh").open(sealed), undefined);
    assert.equal(createSealer("another key", "login").open(sealed), undefined);
    const middle = Math.floor(sealed.length / 2);
    const changed = `${sealed.slice(0, middle)}${sealed[middle] === "A" ? "B" : "A"}${sealed.slice(middle + 1)}`;
    assert.equal(sealer.open(changed), undefined);
    for (const text of ["", "s1.", "s1.AAAA", sealed.slice(0, -4), sealed.slice(3)]) {
      assert.equal(sealer.open(text), undefined, text);
    }
  });

  test("derived secrets depend on every part", () => {
    assert.equal(sealer.derive("a", "b"), sealer.derive("a", "b"));
    assert.notEqual(sealer.derive("a", "b"), sealer.derive("ab"));
    assert.notEqual(sealer.derive("a", "b"), sealer.derive("b", "a"));
  });
});
