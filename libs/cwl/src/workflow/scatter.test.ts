import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeSources } from "./link-merge.ts";
import { gather, planScatter } from "./scatter.ts";

test("nested crossproduct keeps its shape, also when a list is empty", () => {
  const plan = planScatter({ a: [1, 2], b: ["x", "y", "z"] }, ["a", "b"], "nested_crossproduct", "s");
  const results = Array.from({ length: plan.count }, (_, index) => {
    const { a, b } = plan.inputsOf(index);
    return `${JSON.stringify(a)}${JSON.stringify(b)}`;
  });
  assert.deepEqual(gather(results, plan.shape), [
    [`1"x"`, `1"y"`, `1"z"`],
    [`2"x"`, `2"y"`, `2"z"`],
  ]);
  const empty = planScatter({ a: [1, 2], b: [] }, ["a", "b"], "nested_crossproduct", "s");
  assert.deepEqual(gather([], empty.shape), [[], []]);
});

test("dotproduct refuses lists of different lengths", () => {
  assert.throws(() => planScatter({ a: [1], b: [1, 2] }, ["a", "b"], "dotproduct", "s"), /a: 1, b: 2/);
});

test("sources are merged and picked", () => {
  const options = { isList: true, linkMerge: undefined, pickValue: undefined, what: "x" };
  assert.deepEqual(mergeSources([[1], 2], { ...options, linkMerge: "merge_flattened" }), [1, 2]);
  assert.deepEqual(mergeSources([[1], 2], options), [[1], 2]);
  assert.equal(mergeSources([null, 2], { ...options, pickValue: "first_non_null" }), 2);
  assert.throws(() => mergeSources([1, 2], { ...options, pickValue: "the_only_non_null" }), /2 values/);
  assert.equal(mergeSources([null], { ...options, pickValue: "first_non_null" }), null);
  assert.deepEqual(mergeSources([null], { ...options, pickValue: "all_non_null" }), []);
  assert.equal(mergeSources([[null, 3]], { ...options, pickValue: "first_non_null" }), 3);
});
