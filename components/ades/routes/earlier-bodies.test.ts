import assert from "node:assert/strict";
import { test } from "node:test";

import { findEarlierUnit, fromEarlierExecute } from "./earlier-bodies.ts";

test("a package that is the input of a deployment is its execution unit", () => {
  const input = { format: { mimeType: "application/cwl" }, value: { href: "https://example.org/a.cwl" } };
  assert.deepEqual(findEarlierUnit({ inputs: [{ id: "applicationPackage", input }], outputs: [], mode: "auto" }), {
    href: "https://example.org/a.cwl",
    type: "application/cwl",
  });
  for (const other of [undefined, null, "x", {}, { inputs: {} }, { inputs: [] }, { inputs: [null, { id: "other" }] }]) {
    assert.equal(findEarlierUnit(other), undefined, JSON.stringify(other));
  }
});

test("lists of inputs become names and values, what is given more than once a list", () => {
  const inputs = [
    { id: "scene", input: { dataType: { name: "application/json" }, value: "https://example.org/item" } },
    { id: "bands", input: { value: "red" } },
    { id: "bands", input: { value: "nir" } },
    { id: "file", input: { href: "https://example.org/x", format: { mimeType: "text/plain" } } },
    { id: "__proto__", input: { value: 1 } },
  ];
  const { inputs: read, mode } = fromEarlierExecute({ inputs, mode: "auto" }) as { inputs: object; mode: string };
  assert.deepEqual(Object.entries(read), [
    ["scene", "https://example.org/item"],
    ["bands", ["red", "nir"]],
    ["file", { href: "https://example.org/x", type: "text/plain" }],
    ["__proto__", 1],
  ]);
  assert.equal(mode, "auto");
  assert.throws(() => fromEarlierExecute({ inputs: [{ input: { value: 1 } }] }), /items that have an id/);
});

test("200,000 values of one input are read in one pass", () => {
  const inputs = Array.from({ length: 200_000 }, () => ({ id: "a", value: 1 }));
  const { inputs: read } = fromEarlierExecute({ inputs }) as { inputs: { a: readonly number[] } };
  assert.equal(read.a.length, inputs.length);
});

test("lists of outputs name those that are wanted; wf_outputs is all of them", () => {
  const outputs = (list: readonly object[]) => fromEarlierExecute({ outputs: list })["outputs"];
  assert.deepEqual(outputs([{ id: "a", transmissionMode: "reference" }, { id: "b" }]), {
    a: { transmissionMode: "reference" },
    b: {},
  });
  assert.equal(outputs([{ id: "wf_outputs", transmissionMode: "value" }]), undefined);
});

test("requests of the standard stay as they are", () => {
  for (const body of [
    { inputs: { a: [1] }, outputs: { b: {} }, response: "raw" },
    { inputs: [], outputs: [] },
  ]) {
    assert.deepEqual(fromEarlierExecute(body), body);
  }
});
