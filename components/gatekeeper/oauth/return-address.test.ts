import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { readReturnAddress } from "./return-address.ts";

const read = (parameter: string) => readReturnAddress(parameter, "https://ades.example.org", "example.org");

describe("return addresses", () => {
  test("of the host and the domain are taken", () => {
    assert.equal(read("/"), "https://ades.example.org/");
    assert.equal(read("/eric/a?b=c?d#e"), "https://ades.example.org/eric/a?b=c?d");
    assert.equal(read("https://portal.example.org/x?y#z"), "https://portal.example.org/x?y#z");
    assert.equal(read("https://example.org"), "https://example.org/");
  });

  test("of anybody else are refused", () => {
    for (const parameter of [
      "",
      "//evil.org",
      "///evil.org",
      "/\\evil.org",
      "\\\\evil.org",
      "/a/../../b",
      "https://evil.org",
      "https://evil.org/example.org",
      "https://example.org.evil.org",
      "https://evilexample.org",
      "https://example.org@evil.org",
      "https://a:b@portal.example.org",
      "https:evil.org",
      "https:/evil.org",
      "https:///evil.org",
      "http://portal.example.org/",
      "javascript:alert(1)",
      "data:text/html,x",
      "evil.org",
      " https://portal.example.org",
      "https://portal.example.org\\@evil.org",
      "https://evil.org%2f.example.org",
      "/a\r\nSet-Cookie: x=y",
      "/é",
    ]) {
      assert.throws(() => read(parameter), { status: 400 }, parameter);
    }
  });
});
