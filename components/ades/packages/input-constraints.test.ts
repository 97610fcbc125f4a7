import assert from "node:assert/strict";
import { test } from "node:test";

import type { Schema } from "./describe.ts";
import { findConstraintMistake, findConstraintProblems } from "./input-constraints.ts";

const problemsOf = (schema: Schema, value: unknown): readonly string[] =>
  findConstraintProblems({ x: { title: "x", schema, minOccurs: 1 } }, { x: value }).map(
    ({ path, message }) => `${path} ${message}`,
  );

test("limits of numbers, texts and lists hold, and say what is allowed", () => {
  assert.deepEqual(problemsOf({ minimum: 0, maximum: 100 }, 100), []);
  assert.deepEqual(problemsOf({ minimum: 0, maximum: 100 }, 101), ["inputs.x must be at most 100"]);
  assert.deepEqual(problemsOf({ exclusiveMinimum: 0 }, { value: 0 }), ["inputs.x must be more than 0"]);
  assert.deepEqual(problemsOf({ exclusiveMaximum: 1 }, 1), ["inputs.x must be less than 1"]);
  assert.deepEqual(problemsOf({ multipleOf: 0.1 }, 0.3), []);
  assert.deepEqual(problemsOf({ multipleOf: 0.1 }, 0.35), ["inputs.x must be a multiple of 0.1"]);
  assert.deepEqual(problemsOf({ maxLength: 1 }, "😀"), []);
  assert.deepEqual(problemsOf({ maxLength: 1 }, "ab"), ["inputs.x must have at most 1 character"]);
  assert.deepEqual(problemsOf({ minLength: 3 }, ["abc", { value: "ab" }]), [
    "inputs.x[1] must have at least 3 characters",
  ]);
  assert.deepEqual(problemsOf({ type: "array", maxItems: 2 }, [1, 2, 3]), ["inputs.x must have at most 2 values"]);
  assert.deepEqual(problemsOf({ type: "array", minItems: 2 }, "one"), ["inputs.x must have at least 2 values"]);
});

test("a value is one of those that are listed, a limit is for its own type alone", () => {
  assert.deepEqual(problemsOf({ enum: ["red", "nir"] }, "nir"), []);
  assert.deepEqual(problemsOf({ enum: ["red", "nir"] }, ["red", "blue"]), ['inputs.x[1] must be one of "red", "nir"']);
  assert.deepEqual(problemsOf({ const: 1 }, 2), ["inputs.x must be one of 1"]);
  assert.deepEqual(problemsOf({ minimum: 5, maxLength: 1 }, true), []);
  assert.deepEqual(problemsOf({ maxLength: 1, contentMediaType: "image/tiff" }, "https://example.org/a.tif"), []);
  assert.deepEqual(problemsOf({ maxLength: 1 }, undefined), []);
});

test("a million values are looked at once, and twenty problems are told", () => {
  const values = Array.from({ length: 10_000 }, (_, index) => `${index}`);
  assert.deepEqual(
    problemsOf(
      { enum: values },
      Array.from({ length: 1_000_000 }, () => "9999"),
    ),
    [],
  );
  assert.equal(
    problemsOf(
      { enum: values },
      values.map((value) => `${value}x`),
    ).length,
    20,
  );
});

test("limits that are none are named", () => {
  assert.equal(findConstraintMistake({ type: "string", maxLength: 10, "x-any": {} }), undefined);
  assert.equal(findConstraintMistake({ maxLength: "ten" }), "maxLength must be integer");
  assert.equal(findConstraintMistake({ enum: "red" }), "enum must be array");
  assert.equal(findConstraintMistake({ multipleOf: 0 }), "multipleOf must be > 0");
});
