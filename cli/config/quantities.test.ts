import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCpus, parseSize } from "./quantities.ts";

test("sizes of cluster tools are powers of 1024, bare numbers mebibytes", () => {
  assert.equal(parseSize("12g", "tool"), 12 * 1024 ** 3);
  assert.equal(parseSize("12G", "tool"), 12 * 1024 ** 3);
  assert.equal(parseSize("512mb", "tool"), 512 * 1024 ** 2);
  assert.equal(parseSize("8Gi", "tool"), 8 * 1024 ** 3);
  assert.equal(parseSize("4096", "tool"), 4 * 1024 ** 3);
  assert.equal(parseSize("1.5g", "tool"), 1.5 * 1024 ** 3);
  assert.equal(parseSize("max", "tool"), "max");
});

test("Kubernetes quantities tell 10^9 from 2^30", () => {
  assert.equal(parseSize("8Gi", "kubernetes"), 8 * 1024 ** 3);
  assert.equal(parseSize("8G", "kubernetes"), 8e9);
  assert.equal(parseSize("1000", "kubernetes"), 1000);
});

test("what is no size is undefined", () => {
  for (const text of ["", "0", "g", "-1g", "1e9g", "12 g", "8x", "999999999999p"]) {
    assert.equal(parseSize(text, "tool"), undefined, text);
  }
  for (const text of ["max", "8g", "8gi", "1m"]) {
    assert.equal(parseSize(text, "kubernetes"), undefined, text);
  }
});

test("processors are a number or max", () => {
  assert.deepEqual(
    [parseCpus("4"), parseCpus("2.5"), parseCpus("max"), parseCpus("0"), parseCpus("two")],
    [4, 2.5, "max", undefined, undefined],
  );
});
