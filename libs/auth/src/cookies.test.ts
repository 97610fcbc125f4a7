import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { parseCookies, readCookie, renderCookie, valuesOfCookie } from "./cookies.ts";

describe("cookies", () => {
  test("are read as they are", () => {
    const cookies = parseCookies("a=1; b = x=y== ;c; d=; a=1");
    assert.equal(readCookie(cookies, "a"), "1");
    assert.equal(readCookie(cookies, "b"), "x=y==");
    assert.equal(readCookie(cookies, "c"), undefined);
    assert.equal(readCookie(cookies, "d"), "");
    assert.equal(readCookie(cookies, "__proto__"), undefined);
    assert.deepEqual(parseCookies(undefined), []);
  });

  test("two values of one name are none, and a third does not bring one back", () => {
    assert.equal(readCookie(parseCookies("e=1; e=2"), "e"), undefined);
    assert.equal(readCookie(parseCookies("e=1; e=2; e=1"), "e"), undefined);
    assert.deepEqual(valuesOfCookie(parseCookies("e=1; e=2; e=1"), "e"), ["1", "2"]);
  });

  test("are set out of reach of scripts", () => {
    assert.equal(
      renderCookie("a", "1", { domain: ".example.org", secure: true, sameSite: "Strict", maxAge: 0 }),
      "a=1; Path=/; Domain=.example.org; Max-Age=0; HttpOnly; SameSite=Strict; Secure",
    );
    assert.equal(renderCookie("a", "1", { secure: false, sameSite: "Lax" }), "a=1; Path=/; HttpOnly; SameSite=Lax");
  });
});
