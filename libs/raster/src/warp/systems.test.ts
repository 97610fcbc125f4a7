import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { RasterError } from "../errors.ts";
import { findCrs, parseCrs } from "./crs.ts";
import { createReproject } from "./reproject.ts";

const DEGREES = parseCrs("OGC:CRS84");
const METRES_OF_DEGREE = 111_320;
const MAX_METRES = 1;

/** Two points of each system as PROJ transforms them, without grids: code, longitude, latitude, x, y. */
const points = readFileSync(new URL("../../test/system-points.tsv", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => {
    const [code = "", ...numbers] = line.split("\t");
    const [longitude = 0, latitude = 0, x = 0, y = 0] = numbers.map(Number);
    return { code, longitude, latitude, x, y };
  });

test("every system of the table has its points where PROJ has them, there and back", () => {
  const wrong: string[] = [];
  for (const { code, longitude, latitude, x, y } of points) {
    const crs = parseCrs(code);
    const across = Math.cos((latitude * Math.PI) / 180);
    const [xs, ys] = [Float64Array.of(longitude), Float64Array.of(latitude)];
    createReproject(DEGREES, crs)(xs, ys);
    const there = crs.isGeographic
      ? Math.hypot(turnless(xs[0]! - x) * across, ys[0]! - y) * METRES_OF_DEGREE
      : Math.hypot(xs[0]! - x, ys[0]! - y) * crs.unit;
    const [backX, backY] = [Float64Array.of(x), Float64Array.of(y)];
    createReproject(crs, DEGREES)(backX, backY);
    const back = Math.hypot(turnless(backX[0]! - longitude) * across, backY[0]! - latitude) * METRES_OF_DEGREE;
    if (!(there <= MAX_METRES && back <= MAX_METRES)) {
      wrong.push(`${code}: ${there.toFixed(2)} m there, ${back.toFixed(2)} m back`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(points.length > 8000, `${points.length} points`);
});

const turnless = (degrees: number) => degrees - 360 * Math.round(degrees / 360);

test("systems in common use are supported", () => {
  const codes = [4326, 4258, 3857, 3035, 3031, 3413, 3995, 32_633, 32_733, 25_832, 27_700, 28_992, 2154, 2056, 21_781];
  for (const code of [...codes, 3006, 3067, 31_467, 2193, 28_355, 5070, 6933, 26_913, 2263, 4269]) {
    assert.ok(findCrs(`EPSG:${code}`), String(code));
  }
  assert.ok(findCrs("ESRI:54009"));
});

test("a system that PROJ puts elsewhere, or that is not known, is refused with what is allowed", () => {
  for (const name of [
    "EPSG:2053",
    "EPSG:4807",
    "EPSG:4267",
    "EPSG:99999",
    "EPSG:5703",
    "IAU_2015:30100",
    "+proj=igh",
    "foo",
  ]) {
    assert.throws(
      () => parseCrs(name),
      (error) =>
        error instanceof RasterError && error.code === "invalid-request" && /PROJ definition/.test(error.message),
      name,
    );
  }
});

test("a definition is refused for anything that proj4js would leave out", () => {
  const known = [
    "+proj=utm +zone=33 +datum=WGS84 +units=m +no_defs",
    "+proj=eqc +lat_ts=45 +lon_0=10 +ellps=WGS84 +type=crs",
    "+proj=geos +h=35785831 +lon_0=0 +sweep=y +a=6378169 +b=6356583.8",
    "+proj=sinu +lon_0=0 +R=6371007.181 +units=m",
  ];
  for (const definition of known) {
    assert.ok(findCrs(definition), definition);
  }
  const refused = [
    "+proj=igh +lon_0=0",
    "+proj=utm +zone=61",
    "+proj=utm",
    "+proj=tmerc +lon_0=9 +nadgrids=BETA2007.gsb",
    "+proj=tmerc +lon_0=9 +datum=NAD27",
    "+proj=tmerc +lon_0=9 +units=chain",
    "+proj=tmerc +lon_0=9 +axis=wsu",
    "+proj=tmerc +lon_0=9e",
    "+proj=tmerc +lon_0=9 +lon_0=10",
    "+proj=tmerc +lon_0=9 +lat_ts=5",
    "+proj=laea +lat_0=52 +something=1",
    "+proj=pipeline +step +proj=utm +zone=33",
  ];
  for (const definition of refused) {
    assert.equal(findCrs(definition), undefined, definition);
  }
});

test("two systems without a shift between them keep the shift of each to WGS 84", () => {
  const [xs, ys] = [Float64Array.of(500_000), Float64Array.of(5_100_000)];
  const [bessel, wgs84] = [
    parseCrs("+proj=utm +zone=33 +ellps=bessel +towgs84=500,200,480"),
    parseCrs("+proj=utm +zone=33 +a=6378137 +rf=298.257223563"),
  ];
  createReproject(bessel, wgs84)(xs, ys);
  const [alsoX, alsoY] = [Float64Array.of(500_000), Float64Array.of(5_100_000)];
  createReproject(bessel, parseCrs("EPSG:32633"))(alsoX, alsoY);
  assert.ok(Math.hypot(xs[0]! - alsoX[0]!, ys[0]! - alsoY[0]!) < 0.01);
  assert.ok(Math.hypot(xs[0]! - 500_000, ys[0]! - 5_100_000) > 50);
});
