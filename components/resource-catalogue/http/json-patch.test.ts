import assert from "node:assert/strict";
import { test } from "node:test";

import { applyJsonPatch } from "./json-patch.ts";
import { mergePatch } from "./merge-patch.ts";

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

const list = (length: number): number[] => Array.from({ length }, () => 1);
const deep = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) {
    value = [value];
  }
  return value;
};

for (const [what, document, patch] of [
  [
    "copies that double a list each time",
    {},
    [
      { op: "add", path: "/a", value: list(64) },
      ...Array.from({ length: 26 }, () => ({ op: "copy", from: "/a", path: "/a/-" })),
    ],
  ],
  [
    "copies that double a text each time",
    {},
    [
      { op: "add", path: "/a", value: { t: "x".repeat(1000) } },
      ...Array.from({ length: 26 }, (_, index) => ({ op: "copy", from: "/a", path: `/a/${index}` })),
    ],
  ],
  [
    "a long list that is changed at its beginning again and again",
    { a: list(400_000) },
    Array.from({ length: 1000 }, () => ({ op: "add", path: "/a/0", value: 1 })),
  ],
  [
    "moves that put a value ever deeper",
    { a: {} },
    Array.from({ length: 300 }, () => [
      { op: "add", path: "/n", value: {} },
      { op: "move", from: "/a", path: "/n/a" },
      { op: "move", from: "/n", path: "/a" },
    ]).flat(),
  ],
  [
    "copies that put a value ever deeper",
    { a: [] },
    Array.from({ length: 60 }, () => ({ op: "copy", from: "", path: `/a/0` })),
  ],
  ["a value that is nested deeply", {}, [{ op: "add", path: "/a", value: deep(400_000) }]],
  ["a test of a value that is nested deeply", {}, [{ op: "test", path: "", value: deep(400_000) }]],
] as const) {
  test(`refuses, before the work is done: ${what}`, () => {
    assert.throws(
      () => applyJsonPatch(document, patch),
      (error) => (error as { status?: number }).status === 413,
    );
  });
}

test("refuses pointers with more parts than a document can have", () => {
  assert.throws(
    () => applyJsonPatch({}, [{ op: "add", path: "/a".repeat(200_000), value: 1 }]),
    (error) => (error as { status?: number }).status === 400,
  );
});

test("a patch can be applied again: its values stay as they came", () => {
  const patch = [
    { op: "add", path: "/a", value: [1] },
    { op: "add", path: "/a/-", value: 2 },
  ];
  assert.deepEqual(applyJsonPatch({}, patch), { a: [1, 2] });
  assert.deepEqual(applyJsonPatch({}, patch), { a: [1, 2] });
});

test("a merge patch that is nested deeply is refused", () => {
  const patch = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`) as unknown;
  assert.throws(
    () => mergePatch({}, patch),
    (error) => (error as { status?: number }).status === 413,
  );
});
