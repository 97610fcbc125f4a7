import assert from "node:assert/strict";
import { test } from "node:test";

import { folderOf, toFolder, toObject } from "../../web/src/paths.ts";
import { LIFECYCLE_TEMPLATES } from "../../web/src/lifecycle/lifecycle-templates.ts";
import { toLifecycleXml } from "../../web/src/lifecycle/to-lifecycle-xml.ts";
import { parseJson } from "../../web/src/policy/parse-json.ts";
import { TEMPLATES, isPublic } from "../../web/src/policy/templates.ts";
import { findFootprints, mergeBboxes } from "../../web/src/preview/find-footprints.ts";
import { formatJson } from "../../web/src/preview/format-json.ts";
import { kindOf } from "../../web/src/preview/kind-of.ts";
import { findStretch, toByte } from "../../web/src/preview/stretch.ts";
import { contentTypeOf } from "../../web/src/s3/content-type.ts";
import { planParts } from "../../web/src/uploads/plan-parts.ts";
import { parsePolicy } from "../../access/policy.ts";
import { parseLifecycle } from "../../protocol/lifecycle.ts";

const MIB = 2 ** 20;

test("a file is cut into parts that cover it, never more than S3 takes", () => {
  const parts = planParts(70 * MIB);
  assert.deepEqual(
    parts.map(({ number, start, end }) => [number, start / MIB, end / MIB]),
    [
      [1, 0, 16],
      [2, 16, 32],
      [3, 32, 48],
      [4, 48, 64],
      [5, 64, 70],
    ],
  );
  const huge = planParts(5 * 2 ** 40);
  assert.ok(huge.length <= 10_000);
  assert.equal(huge.at(-1)?.end, 5 * 2 ** 40);
});

test("addresses of pages hold any name", () => {
  assert.equal(
    toObject("maps", "a/ü b?#.tif", "1&2"),
    "/buckets/maps/object?key=a%2F%C3%BC%20b%3F%23.tif&version=1%262",
  );
  assert.equal(toFolder("maps", ""), "/buckets/maps");
  assert.deepEqual(["a/b/c", "a/b/", "a", "/"].map(folderOf), ["a/b/", "a/", "", ""]);
});

test("kinds and types of files are told by their names first", () => {
  assert.deepEqual(
    [
      kindOf("x/B04.TIF", "application/octet-stream"),
      kindOf("item", "application/geo+json; charset=utf-8"),
      kindOf("run.cwl", "application/octet-stream"),
      kindOf("a.png", ""),
      kindOf("a.zip", "application/zip"),
    ],
    ["geotiff", "json", "text", "image", "none"],
  );
  assert.equal(contentTypeOf("B04.tif"), "image/tiff; application=geotiff");
  assert.equal(contentTypeOf("a.bin", "application/x-thing"), "application/x-thing");
  assert.equal(contentTypeOf("noending"), "application/octet-stream");
});

test("footprints: features, collections, STAC boxes with heights; what is no place has none", () => {
  const polygon = (west: number) => ({
    type: "Feature",
    id: `f${west}`,
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [west, 1],
          [west + 1, 1],
          [west + 1, 2],
          [west, 1],
        ],
      ],
    },
  });
  const found = findFootprints({ type: "FeatureCollection", features: [polygon(10), polygon(20)] });
  assert.deepEqual(
    found.map(({ id, box: bbox }) => [id, bbox]),
    [
      ["f10", [10, 1, 11, 2]],
      ["f20", [20, 1, 21, 2]],
    ],
  );
  assert.deepEqual(mergeBboxes(found), [10, 1, 21, 2]);
  const collection = { type: "Collection", id: "c", extent: { spatial: { bbox: [[1, 2, 0, 3, 4, 100]] } } };
  assert.deepEqual(findFootprints(collection)[0]?.box, [1, 2, 3, 4]);
  for (const nothing of [null, [], 1, { type: "Feature", geometry: null }, { type: "Point", coordinates: ["x"] }]) {
    assert.deepEqual(findFootprints(nothing), []);
  }
});

test("JSON is shown with lists of numbers on one line", () => {
  assert.equal(
    formatJson({ a: [1, [2, 3]], b: { c: "x" }, d: {}, e: [{ f: null }] }),
    '{\n  "a": [1,[2,3]],\n  "b": {\n    "c": "x"\n  },\n  "d": {},\n  "e": [\n    {\n      "f": null\n    }\n  ]\n}',
  );
});

test("a picture's dark and bright leave out odd pixels and missing values", () => {
  const values = Float32Array.from({ length: 1000 }, (_, index) =>
    index === 0 ? 1e9 : index < 100 ? -9999 : 500 + index,
  );
  const stretch = findStretch(values, -9999);
  assert.ok(stretch.low >= 600 && stretch.high < 1500, JSON.stringify(stretch));
  assert.deepEqual(
    [0, 1e9, Number.NaN].map((value) => toByte(value, stretch)),
    [0, 255, 0],
  );
  assert.deepEqual(findStretch([7, 7], undefined), { low: 7, high: 8 });
});

test("policies: mistakes have a place, examples are valid, what lets everybody in is seen", () => {
  const broken = parseJson('{\n  "a": 1,\n  b\n}');
  assert.ok("mistake" in broken);
  assert.equal(broken.mistake.line, 3);
  for (const [text, line, column] of [
    ['{\n  "Version": oops\n}', 2, 14],
    ['{"a": "x"', 1, 10],
    ['{\n "a": tru\n}', 2, 10],
    ["", 1, 1],
  ] as const) {
    const read = parseJson(text);
    assert.ok("mistake" in read);
    assert.deepEqual([read.mistake.line, read.mistake.column], [line, column], `${text} ${read.mistake.message}`);
  }
  assert.ok("mistake" in parseJson("[]"));
  assert.deepEqual(parseJson('{"a":1}'), { value: { a: 1 } });
  for (const { make, label } of TEMPLATES) {
    assert.ok(parsePolicy(JSON.stringify(make("maps")), "maps").length > 0, label);
  }
  assert.deepEqual(
    TEMPLATES.map(({ make }) => isPublic(make("maps"))),
    [true, false, false, false],
  );
  assert.equal(isPublic(null), false);
});

test("lifecycles: the JSON of the AWS tools becomes what S3 takes, and no text of it more than text", () => {
  for (const { label, rule } of LIFECYCLE_TEMPLATES) {
    assert.equal(parseLifecycle(toLifecycleXml({ Rules: [rule] })).length, 1, label);
  }
  const And = {
    Prefix: "a&b</Prefix>",
    Tags: [
      { Key: "x", Value: "1" },
      { Key: "y", Value: "<2>" },
    ],
    ObjectSizeGreaterThan: 10,
  };
  const both = [
    { Status: "Enabled", Filter: { And }, Expiration: { Days: 3 } },
    { Status: "Disabled", Filter: { Prefix: "" }, Expiration: { Days: 4 } },
    { Status: "Enabled", Filter: { Tag: { Key: "z", Value: "" } }, Expiration: { Date: "2030-01-01" } },
  ];
  const [first, second] = parseLifecycle(toLifecycleXml({ Rules: both }));
  assert.deepEqual([first?.prefix, first?.expireDays, first?.largerThan], ["a&b</Prefix>", 3, 10]);
  assert.deepEqual(first?.tags, { x: "1", y: "<2>" });
  assert.deepEqual([second?.tags, second?.expireAt], [{ z: "" }, Date.parse("2030-01-01")]);
  assert.throws(() => parseLifecycle(toLifecycleXml({ "Rules><x": [] })), { code: "MalformedXML" });
});
