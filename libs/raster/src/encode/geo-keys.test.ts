import assert from "node:assert/strict";
import { test } from "node:test";

import { findUserDefinedCrs } from "../readers/geotiff/user-defined-crs.ts";
import { parseCrs } from "../warp/crs.ts";
import { findGeoKeys } from "./geo-keys.ts";

test("systems without a code are written as GeoKeys that are read as the same system", () => {
  const figure = "+a=6378137 +rf=298.257223563";
  for (const definition of [
    `+proj=tmerc +lat_0=0 +lon_0=129 +k_0=0.9996 +x_0=500000 +y_0=0 ${figure}`,
    `+proj=utm +zone=52 ${figure}`,
    `+proj=utm +zone=7 +south ${figure}`,
    `+proj=laea +lat_0=10 +lon_0=20 +x_0=100 +y_0=200 ${figure}`,
    `+proj=aea +lat_0=23 +lon_0=-96 +lat_1=29.5 +lat_2=45.5 +x_0=0 +y_0=0 ${figure}`,
    "+proj=sinu +lon_0=0 +x_0=0 +y_0=0 +a=6371007.181 +b=6371007.181",
    `+proj=longlat ${figure}`,
  ]) {
    const crs = parseCrs(`${definition} +no_defs`);
    const keys = findGeoKeys(crs);
    assert.ok(keys !== undefined, definition);
    const again = findUserDefinedCrs(new Map([...keys.shorts, ...keys.doubles]));
    assert.deepEqual(again?.proj4.split(" ").toSorted(), crs.proj4.split(" ").toSorted());
  }
});

test("systems that GeoKeys cannot describe are not written", () => {
  assert.equal(findGeoKeys(parseCrs("+proj=moll +lon_0=0 +a=6378137 +rf=298.257223563 +no_defs")), undefined);
});
