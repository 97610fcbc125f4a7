import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { canonicalizeHost } from "./canonical-host.ts";
import { canonicalizePath } from "./canonical-path.ts";

describe("one reading of a path", () => {
  test("plain and harmlessly encoded paths", () => {
    for (const [raw, encoded, decoded] of [
      ["/", "/", "/"],
      ["/eric/a.b/~c/", "/eric/a.b/~c/", "/eric/a.b/~c/"],
      ["/%65ric/%7e", "/eric/~", "/eric/~"],
      ["/a%20b/%c3%a9", "/a%20b/%C3%A9", "/a b/é"],
      ["//eric///a", "/eric/a", "/eric/a"],
      ["/a/...", "/a/...", "/a/..."],
      ["/.well-known/x", "/.well-known/x", "/.well-known/x"],
      ["/a[1]|^", "/a%5B1%5D%7C%5E", "/a[1]|^"],
      ["/100%25", "/100%25", "/100%"],
      ["/a:b@c,d=e+f!(g)*'$&", "/a:b@c,d=e+f!(g)*'$&", "/a:b@c,d=e+f!(g)*'$&"],
    ] as const) {
      assert.deepEqual(canonicalizePath(raw), { encoded, decoded }, raw);
    }
  });

  test("what services read differently is refused", () => {
    for (const raw of [
      "",
      "eric",
      "/a/../b",
      "/a/./b",
      "/a/..",
      "/..",
      "/.",
      "/%2e%2e/b",
      "/a/.%2E/b",
      "/a/%2e",
      "/a%2fb",
      "/a%2Fb",
      "/a%5cb",
      "/a\\b",
      "/a;x=1/b",
      "/a/..;/b",
      "/a%3bx",
      "/%252e%252e/b",
      "/%2565ric",
      "/a%00",
      "/a%0d%0ab",
      "/a%7f",
      "/%",
      "/%4",
      "/%zz",
      "/%c0%ae%c0%ae/b",
      "/%ff",
      "/a b",
      "/é",
      "/a#b",
      "/a?b",
      "/a{b}",
    ]) {
      assert.throws(() => canonicalizePath(raw), { code: "AMBIGUOUS_REQUEST" }, raw);
    }
  });
});

describe("one reading of a host", () => {
  test("case, port and the last dot do not matter", () => {
    for (const raw of ["ades.example.org", "ADES.Example.Org", "ades.example.org."]) {
      assert.deepEqual(canonicalizeHost(raw), { name: "ades.example.org", authority: "ades.example.org" });
    }
    assert.equal(canonicalizeHost("ades.example.org.:8443").authority, "ades.example.org:8443");
  });

  test("anything else is refused", () => {
    for (const raw of [
      "",
      ".",
      "a..b",
      "a..",
      ".a",
      "a b",
      "a/b",
      "a@b",
      "a:b",
      "a:1:2",
      "[::1]",
      "é.org",
      "a%2eb",
      "-a",
    ]) {
      assert.throws(() => canonicalizeHost(raw), { code: "AMBIGUOUS_REQUEST" }, raw);
    }
  });
});
