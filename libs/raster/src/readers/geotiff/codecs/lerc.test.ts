import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeLerc } from "./lerc.ts";

/** The head of a band of 4 × 4 pixels, and nothing else. */
function makeHead({ version = 4, dimensions = 1, valid = 16, width = 4 }): Buffer {
  const head = Buffer.alloc(80);
  head.write("Lerc2 ");
  head.writeInt32LE(version, 6);
  for (const [at, value] of [4, width, dimensions, valid, 8, head.length, 1].entries()) {
    head.writeUInt32LE(value, 14 + 4 * at);
  }
  return head;
}

const decode = (bytes: Uint8Array, samples: number) => () =>
  decodeLerc(bytes, { width: 4, height: 4, samples, create: (length) => new Uint8Array(length) });

test("refuses blocks of LERC with other sizes before they are decoded", () => {
  assert.throws(decode(makeHead({ dimensions: 1_000_000_000 }), 1), /4 × 4 pixels of 1000000000 samples or more/);
  assert.throws(decode(makeHead({ width: 100_000 }), 1), /100000 × 4 pixels/);
  assert.throws(decode(Buffer.concat([makeHead({}), makeHead({})]), 1), /of 2 samples or more/);
});

test("refuses versions and masks of LERC that are not read", () => {
  assert.throws(decode(makeHead({ version: 6 }), 1), /up to version 5, not 6/);
  assert.throws(decode(Buffer.concat([makeHead({}), makeHead({ valid: 9 })]), 2), /missing pixels in some bands only/);
});

test("refuses damaged blocks of LERC", () => {
  assert.throws(decode(makeHead({}), 1), /A LERC block is damaged/);
  assert.throws(decode(Buffer.alloc(0), 1), /A LERC block is damaged/);
});
