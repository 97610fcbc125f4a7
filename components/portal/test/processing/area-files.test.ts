import assert from "node:assert/strict";
import { test } from "node:test";

import { parseAreaFile } from "../../web/processing/model/area-files.ts";
import { findOutside } from "../../web/processing/model/area-in-scenes.ts";
import { toPolygon } from "../../web/processing/model/areas.ts";

const ring = [
  [5, 51],
  [6, 51],
  [6, 52],
  [5, 51],
];

test("a single polygon is the area; of several things the box around them is", () => {
  const polygon = { type: "Polygon", coordinates: [ring] };
  assert.deepEqual(parseAreaFile("a.geojson", JSON.stringify({ type: "Feature", geometry: polygon })), polygon);
  const both = { type: "FeatureCollection", features: [polygon, { type: "Point", coordinates: [8, 50] }] };
  assert.deepEqual(parseAreaFile("a.json", JSON.stringify(both)), toPolygon([5, 50, 8, 52]));
});

test("KML: the outer boundary of a polygon with any prefix, heights left out; points by the box around them", () => {
  const coordinates = ring.map(([x, y]) => `${x},${y},0`).join(" ");
  const kml = `<kml:kml><kml:outerBoundaryIs><kml:coordinates>${coordinates}</kml:coordinates></kml:outerBoundaryIs></kml:kml>`;
  assert.deepEqual(parseAreaFile("a.kml", kml), { type: "Polygon", coordinates: [ring] });
  const points = "<kml><coordinates>1,2</coordinates><coordinates> 3,4,5 </coordinates></kml>";
  assert.deepEqual(parseAreaFile("a.kml", points), toPolygon([1, 2, 3, 4]));
});

test("a file without an area says so", () => {
  assert.throws(() => parseAreaFile("a.json", "nothing"), /neither GeoJSON nor KML/);
  assert.throws(() => parseAreaFile("a.json", '{"type":"Point","coordinates":[1,2]}'), /a.json has no area/);
  assert.throws(() => parseAreaFile("a.kml", "<kml/>"), /has no area/);
  const far = { type: "MultiPoint", coordinates: [[200, 0], [201, 1]] }; // prettier-ignore
  assert.throws(() => parseAreaFile("a.json", JSON.stringify(far)), /Longitudes/);
});

test("an area that touches no scene, or some not, is said to", () => {
  const scenes = [
    { title: "one", geometry: toPolygon([0, 0, 1, 1]) },
    { title: "two", geometry: toPolygon([4, 4, 5, 5]) },
  ];
  assert.match(findOutside(toPolygon([10, 10, 11, 11]), scenes) ?? "", /outside of all scenes/);
  assert.equal(findOutside(toPolygon([0.5, 0.5, 2, 2]), scenes), "The area does not touch two.");
  assert.equal(findOutside(toPolygon([0.5, 0.5, 4.5, 4.5]), scenes), undefined);
  assert.equal(findOutside(undefined, scenes), undefined);
  assert.equal(findOutside(toPolygon([0, 0, 1, 1]), [{ title: "nowhere" }]), undefined);
});
