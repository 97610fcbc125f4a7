import assert from "node:assert/strict";
import { test } from "node:test";

import { parseForm } from "./parse-form.ts";

test("reads the fields of a form, also those that prototypes have", () => {
  const form = parseForm("a=1&a=2&b=%C3%A9+c&__proto__=x&d");
  assert.deepEqual({ ...form, ["__proto__"]: undefined }, { a: ["1", "2"], b: "é c", d: "", ["__proto__"]: undefined });
  assert.equal(form["constructor"], undefined);
  assert.ok(Object.hasOwn(form, "__proto__"));
});

test("refuses a form of more than 1,000 fields", () => {
  assert.equal(Object.keys(parseForm(Array.from({ length: 1000 }, (_, i) => `a${i}=b`).join("&"))).length, 1000);
  for (const text of ["a&".repeat(1000), "a=b&".repeat(500_000), "&".repeat(1 << 20)]) {
    assert.throws(() => parseForm(text), { statusCode: 413 });
  }
});
