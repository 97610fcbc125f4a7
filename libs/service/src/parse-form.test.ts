import assert from "node:assert/strict";
import { test } from "node:test";

import { parseForm, parseFormParameters } from "./parse-form.ts";

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

test("refuses more than 1,000 fields also where their order counts", () => {
  assert.deepEqual(
    [...parseFormParameters("b=1+2&a=%2B&b=é")],
    [
      ["b", "1 2"],
      ["a", "+"],
      ["b", "é"],
    ],
  );
  assert.throws(() => parseFormParameters("a&".repeat(500_000)), { statusCode: 413 });
});

test("a megabyte of plus signs costs little", () => {
  const text = `a=${"+".repeat(1 << 20)}`;
  for (const read of [() => parseForm(text)["a"], () => parseFormParameters(text).get("a")]) {
    const before = process.cpuUsage();
    assert.equal(read(), " ".repeat(1 << 20));
    // 20 ms; the parsers alone take 200.
    assert.ok(process.cpuUsage(before).user < 100_000);
  }
});

test("refuses JSON that is called a form, as curl does where its caller names no type", () => {
  for (const text of ['{"scopes":["read:users"]}', '\n [{"a":1}]', "{}", '{"a":"b=c&d"}']) {
    assert.throws(() => parseForm(text), { statusCode: 415, message: /content-type: application\/json/ }, text);
  }
  assert.equal(parseForm("a={}&b=[1]")["a"], "{}");
});
