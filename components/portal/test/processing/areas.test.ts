import assert from "node:assert/strict";
import { test } from "node:test";

import {
  bboxOf,
  findBoxProblem,
  formatBox,
  formatWkt,
  parseArea,
  parseBox,
  parseWkt,
  toPolygon,
} from "../../web/processing/model/areas.ts";

test("boxes are read from what people write, and say what is wrong", () => {
  assert.deepEqual(parseBox("5.1, 51.2,5.4 51.3"), [5.1, 51.2, 5.4, 51.3]);
  assert.deepEqual(parseBox("[5.1,51.2,5.4,51.3]"), [5.1, 51.2, 5.4, 51.3]);
  assert.equal(parseBox("5.1,51.2,5.4"), undefined);
  assert.equal(parseBox("a,b,c,d"), undefined);
  assert.equal(parseBox(""), undefined);
  assert.match(findBoxProblem([5, 51, 4, 52]) ?? "", /West/);
  assert.match(findBoxProblem([5, 52, 6, 51]) ?? "", /South/);
  assert.match(findBoxProblem([-181, 0, 1, 1]) ?? "", /between/);
  assert.equal(formatBox([1, 2, 3, 4.5]), "1,2,3,4.5");
});

test("polygons go to well-known text and back", () => {
  const polygon = toPolygon([5, 51, 6, 52]);
  assert.deepEqual(parseWkt(formatWkt(polygon)), polygon);
  assert.equal(parseWkt("POINT(1 2)"), undefined);
  assert.equal(parseWkt("POLYGON((1 2, 3 4))"), undefined);
  assert.deepEqual(parseArea("5,51,6,52"), polygon);
  assert.deepEqual(parseArea(JSON.stringify({ type: "Feature", properties: {}, geometry: polygon })), polygon);
  assert.deepEqual(
    parseArea(JSON.stringify({ type: "FeatureCollection", features: [{ geometry: polygon }] })),
    polygon,
  );
  assert.equal(parseArea("nothing"), undefined);
});

test("the box around geometries of every kind", () => {
  assert.deepEqual(bboxOf(toPolygon([5, 51, 6, 52])), [5, 51, 6, 52]);
  assert.deepEqual(bboxOf({ type: "Point", coordinates: [1, 2] }), [1, 2, 1, 2]);
  const parts = [
    { type: "Point", coordinates: [1, 2] },
    { type: "Point", coordinates: [3, -4] },
  ];
  assert.deepEqual(bboxOf({ type: "GeometryCollection", geometries: parts }), [1, -4, 3, 2]);
  assert.equal(bboxOf(null), undefined);
  assert.equal(bboxOf({ type: "Polygon", coordinates: [] }), undefined);
});
