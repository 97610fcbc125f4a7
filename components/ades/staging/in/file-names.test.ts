import assert from "node:assert/strict";
import { test } from "node:test";

import { displayUrl } from "../display-url.ts";
import { createPlacer, nameInUrl, safeName, uniqueName } from "./file-names.ts";

for (const [raw, safe] of [
  ["B03.tif", "B03.tif"],
  ["../../etc/passwd", "passwd"],
  ["..%2f..%2fetc%2fpasswd", "passwd"],
  ["..\\..\\boot.ini", "boot.ini"],
  [".bashrc", "bashrc"],
  ["..", "fallback"],
  ["", "fallback"],
  ["%00%0a.tif", "__.tif"],
  ["a<b>|c?.tif", "a_b__c_.tif"],
  ["gpj.\u202Efit", "gpj._fit"],
  ["50%.tif", "50%.tif"],
  ["Größe 1.tif", "Größe 1.tif"],
] as const) {
  test(`${JSON.stringify(raw)} becomes ${safe}`, () => {
    assert.equal(safeName(raw, "fallback"), safe);
  });
}

test("long names are cut, stay different and keep their extension", () => {
  const [one, other] = [safeName(`${"ü".repeat(300)}1.tif`, ""), safeName(`${"ü".repeat(300)}2.tif`, "")];
  assert.ok(Buffer.byteLength(one) <= 180 && one.endsWith(".tif"));
  assert.notEqual(one, other);
});

test("no two names are the same on a file system that does not tell cases apart", () => {
  const taken = new Set<string>();
  assert.deepEqual(
    ["a.tif", "A.tif", "a.tif", "a"].map((name) => uniqueName(name, taken)),
    ["a.tif", "A-2.tif", "a-3.tif", "a"],
  );
});

test("keys that are files and folders at once have places of their own", () => {
  const place = createPlacer();
  assert.deepEqual(
    ["a", "a/b", "a/b/c", "../x", "a/B", "catalog.json"].map((key) => place(key)),
    ["a", "a-2/b", "a-2/b-2/c", "folder/x", "a-2/B-3", "catalog-2.json"],
  );
});

test("the name in an address has no query", () => {
  assert.equal(nameInUrl("https://h/a/b.tif?x=/c#d"), "b.tif");
  assert.equal(nameInUrl("s3://b/a/c?d#e.tif"), "c?d#e.tif");
});

test("addresses in messages hold no secrets", () => {
  assert.equal(displayUrl("https://u:p@h/a?X-Amz-Signature=s&limit=1#f"), "https://h/a?X-Amz-Signature=…&limit=1");
  assert.equal(displayUrl("data:text/plain;base64,AAAA"), "data:text/plain;base64,…");
});
