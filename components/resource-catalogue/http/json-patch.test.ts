import assert from "node:assert/strict";
import { test } from "node:test";

import { applyJsonPatch } from "./json-patch.ts";

test("the operations of RFC 6902, in order", () => {
  const document = { a: { b: [1, 2, 3] }, "x/y": 1, "m~n": 2 };
  const patched = applyJsonPatch(document, [
    { op: "test", path: "/a/b/0", value: 1 },
    { op: "add", path: "/a/b/1", value: 9 },
    { op: "add", path: "/a/b/-", value: { c: null } },
    { op: "remove", path: "/a/b/0" },
    { op: "replace", path: "/x~1y", value: "new" },
    { op: "move", from: "/m~0n", path: "/moved" },
    { op: "copy", from: "/a/b", path: "/copied" },
    { op: "add", path: "/__proto__", value: { evil: true } },
  ]);
  assert.equal(
    JSON.stringify(patched),
    '{"a":{"b":[9,2,3,{"c":null}]},"x/y":"new","moved":2,"copied":[9,2,3,{"c":null}],"__proto__":{"evil":true}}',
  );
  assert.deepEqual(document.a.b, [1, 2, 3]);
  assert.equal(applyJsonPatch({ a: 1 }, [{ op: "replace", path: "", value: 7 }]) as unknown, 7);
});

for (const [what, patch, status] of [
  ["no list", { op: "add" }, 400],
  ["an unknown operation", [{ op: "eval", path: "/a" }], 400],
  ["no pointer", [{ op: "remove", path: "a" }], 400],
  ["no value", [{ op: "add", path: "/a" }], 400],
  ["a place that is not there", [{ op: "remove", path: "/b" }], 409],
  ["a place in a text", [{ op: "add", path: "/t/x", value: 1 }], 409],
  ["a member of a prototype", [{ op: "add", path: "/constructor/prototype/x", value: 1 }], 409],
  ["an index beyond the end", [{ op: "add", path: "/l/2", value: 1 }], 409],
  ["a length as an index", [{ op: "replace", path: "/l/length", value: 0 }], 409],
  ["a test that fails", [{ op: "test", path: "/a", value: 2 }], 409],
  ["a value into itself", [{ op: "move", from: "/o", path: "/o/p" }], 409],
] as const) {
  test(`refused: ${what}`, () => {
    assert.throws(
      () => applyJsonPatch({ a: 1, t: "text", l: [1], o: { p: 1 } }, patch),
      (error) => (error as { status?: number }).status === status,
    );
  });
}
