import assert from "node:assert/strict";
import { test } from "node:test";

import { JSON_LIMITS, JsonLimitError, factsOf, parseJson } from "./parse-json.ts";

const parse = (text: string, turnBytes?: number) => parseJson(Buffer.from(text), JSON_LIMITS, turnBytes);

/** A generator whose sequence is the same in each run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const TEXTS = [
  "",
  "a",
  "\u0001\u{10ffff}",
  "\\\\u12",
  '"',
  "\\",
  ",",
  "]",
  "}",
  "{[",
  ":",
  "ü",
  "\u{1f30d}",
  "\n",
  "constructor",
  "1",
];

function createValue(random: (below: number) => number, depth: number): unknown {
  const kind = random(depth > 4 ? 4 : 6);
  const text = () => TEXTS[random(TEXTS.length)] as string;
  // JSON.parse of Node.js 24 gives "\\" for the name "\n" once an object of the same shape had the name "\\".
  const name = () => (text() + text()).replaceAll("\\", "-");
  switch (kind) {
    case 0:
      return random(1000) / 8 - 50;
    case 1:
      return [true, false, null][random(3)];
    case 2:
    case 3:
      return text() + text();
    case 4:
      return Array.from({ length: random(6) }, () => createValue(random, depth + 1));
    default:
      return Object.fromEntries(Array.from({ length: random(6) }, () => [name(), createValue(random, depth + 1)]));
  }
}

test("reads the same values as JSON.parse, however small the parts are", async () => {
  const random = createRandom(7);
  for (let round = 0; round < 400; round += 1) {
    const value = createValue(random, 0);
    const text = JSON.stringify(value, null, round % 3);
    for (const turnBytes of [2, 10, 64 << 10]) {
      assert.deepEqual(await parse(text, turnBytes), JSON.parse(text), text);
    }
  }
});

test("refuses the same texts as JSON.parse, however small the parts are", async () => {
  const random = createRandom(11);
  const pieces = [",", "]", "[", "}", "{", '"', ":", "1", " ", "null", "-"];
  for (let round = 0; round < 1500; round += 1) {
    const text = JSON.stringify(createValue(random, 0), null, round % 2);
    const at = random(text.length + 1);
    const broken = (
      text.slice(0, at) +
      (pieces[random(pieces.length)] as string) +
      text.slice(at + random(2))
    ).toWellFormed();
    let expected: unknown;
    try {
      expected = JSON.parse(broken);
    } catch {
      for (const turnBytes of [2, 7, 64 << 10]) {
        await assert.rejects(parse(broken, turnBytes), SyntaxError, broken);
      }
      continue;
    }
    assert.deepEqual(await parse(broken, 3), expected, broken);
  }
});

test("refuses names that would change a prototype", async () => {
  const long = JSON.stringify(Array.from({ length: 50 }, (_, i) => i));
  for (const text of [
    '{"__proto__":{"a":1}}',
    '{"\\u005f_proto__":1}',
    `{"a":1,"__proto__":${long}}`,
    '[{"constructor":{"prototype":{}}}]',
    `{"constructor":{"a":${long},"prototype":${long}}}`,
  ]) {
    for (const turnBytes of [10, 64 << 10]) {
      await assert.rejects(parse(text, turnBytes), /prototype of an object/, text);
    }
  }
  assert.deepEqual(await parse('{"constructor":"a","_x":1}'), { constructor: "a", _x: 1 });
});

test("refuses 400,000 nested brackets and 300,000 values before it builds any", async () => {
  await assert.rejects(
    parse("[".repeat(400_000)),
    (error) => error instanceof JsonLimitError && error.limit === "depth",
  );
  await assert.rejects(parse('{"a":'.repeat(400_000)), JsonLimitError);
  await assert.rejects(
    parse(`[${"1,".repeat(300_000)}1]`),
    (error) => error instanceof JsonLimitError && error.limit === "values",
  );
});

test("gives others their turn while it reads 5 MB", async () => {
  for (const value of [
    { text: "\u0001\\\ud83c\udf0d".repeat(400_000) },
    ["x".repeat(5_000_000)],
    { inputs: { list: Array.from({ length: 200_000 }, (_, i) => `a longer text ${i}`) } },
    { type: "Polygon", coordinates: [Array.from({ length: 60_000 }, (_, i) => [i / 7, i / 11])] },
  ]) {
    const text = JSON.stringify(value);
    let turns = 0;
    let isReading = true;
    const count = () => {
      turns += 1;
      if (isReading) {
        setImmediate(count);
      }
    };
    setImmediate(count);
    const read = await parse(text);
    isReading = false;
    assert.ok(turns > text.length / (128 << 10), `${turns} turns for ${text.length} bytes`);
    assert.deepEqual(read, value);
  }
});

test("knows whether a text may hold NUL or half of a surrogate pair", async () => {
  for (const [text, expected] of [
    ['["a\\u0000"]', true],
    ['["\\ud83d\\ude00"]', true],
    ['["\\uDFFF"]', true],
    ['["\\u00e4\\ud7ff\\n"]', false],
    ['["\\\\u0000"]', false],
  ] as const) {
    assert.equal(factsOf(await parse(text))?.hasSuspectEscape, expected, text);
  }
});
