import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { RasterEngine } from "../src/engine/engine.ts";
import { RasterError } from "../src/errors.ts";
import { openRaster } from "../src/readers/open-raster.ts";
import { parseCrs } from "../src/warp/crs.ts";
import { createReproject } from "../src/warp/reproject.ts";
import { SCENES, gdalSkipReason, makeFolder, runGdal } from "./gdal.ts";

const MAX_METRES = 1;
const METRES_OF_DEGREE = 111_320;
const BOX = [120_000, 340_000, 150_000, 310_000] as const;

/** Systems without a code, as GDAL writes them into a GeoTIFF. Either the file is where GDAL has it, or it is refused. */
const READ = [
  "+proj=tmerc +lat_0=10 +lon_0=12 +k=0.9996 +x_0=100000 +y_0=50000 +datum=WGS84",
  "+proj=utm +zone=33 +ellps=bessel +towgs84=577.326,90.129,463.919,5.137,1.474,5.297,2.4232",
  "+proj=lcc +lat_0=46 +lon_0=13 +lat_1=49 +lat_2=43 +x_0=400000 +y_0=400000 +ellps=GRS80 +towgs84=0,0,0",
  "+proj=lcc +lat_1=46 +lat_0=46 +lon_0=13 +k_0=0.9999 +x_0=400000 +y_0=400000 +datum=WGS84",
  "+proj=laea +lat_0=40 +lon_0=5 +x_0=10 +y_0=20 +datum=WGS84",
  "+proj=aea +lat_0=23 +lon_0=-96 +lat_1=29.5 +lat_2=45.5 +datum=NAD83",
  "+proj=aeqd +lat_0=50 +lon_0=10 +datum=WGS84",
  "+proj=eqdc +lat_0=40 +lon_0=-96 +lat_1=20 +lat_2=60 +datum=NAD83",
  "+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +datum=WGS84",
  "+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=0 +datum=WGS84",
  "+proj=sterea +lat_0=52 +lon_0=5 +k=0.9999 +x_0=155000 +y_0=463000 +ellps=bessel +towgs84=565,50,465",
  "+proj=eqc +lat_ts=45 +lon_0=10 +datum=WGS84",
  "+proj=merc +lat_ts=30 +lon_0=20 +datum=WGS84",
  "+proj=cea +lat_ts=30 +lon_0=0 +datum=WGS84",
  "+proj=sinu +lon_0=15 +R=6371007.181",
  "+proj=cass +lat_0=10 +lon_0=-61 +ellps=clrk80",
  "+proj=poly +lat_0=0 +lon_0=-54 +ellps=GRS80 +towgs84=0,0,0",
  "+proj=omerc +lat_0=4 +lonc=115 +alpha=53.3158 +k=0.99984 +gamma=53.1301 +ellps=GRS80 +towgs84=0,0,0",
  "+proj=mill +lon_0=0 +R=6371000",
  "+proj=robin +lon_0=10 +datum=WGS84",
  "+proj=vandg +lon_0=0 +R=6371000",
  "+proj=gnom +lat_0=45 +lon_0=10 +R=6371000",
  "+proj=ortho +lat_0=45 +lon_0=10 +R=6371000",
  "+proj=moll +lon_0=0 +datum=WGS84",
  "+proj=igh +lon_0=0 +datum=WGS84",
  "+proj=geos +h=35785831 +lon_0=0 +sweep=y +datum=WGS84",
  "+proj=eqearth +datum=WGS84",
  "+proj=somerc +lat_0=46.95 +lon_0=7.44 +k_0=1 +x_0=600000 +y_0=200000 +ellps=bessel +towgs84=674,15,405",
  "+proj=lcc +lat_0=40 +lon_0=-74 +lat_1=41 +lat_2=40.6 +x_0=300000 +datum=NAD83 +units=us-ft",
  "+proj=tmerc +lat_0=0 +lon_0=9 +datum=WGS84 +units=ft",
  "+proj=krovak +lat_0=49.5 +lon_0=24.83 +alpha=30.288 +k=0.9999 +ellps=bessel",
  "+proj=bonne +lat_1=45 +lon_0=0 +datum=WGS84",
  "+proj=tmerc +lat_0=0 +lon_0=9 +datum=NAD27",
  "+proj=tmerc +lat_0=0 +lon_0=0 +pm=paris +ellps=clrk80ign",
];
/** What GDAL's own file does not say as it was meant, or proj4js does not follow. */
const MIN_READ = 22;

test("a GeoTIFF of a system without a code is where GDAL has it, or refused", { skip: gdalSkipReason() }, async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, "x.tif");
  const engine = new RasterEngine({ cacheBytes: 0 });
  t.after(() => engine.close());
  const degrees = parseCrs("OGC:CRS84");
  const read: string[] = [];
  for (const definition of READ) {
    runGdal("gdal_translate", [
      "-q",
      "-srcwin",
      "0",
      "0",
      "20",
      "20",
      "-a_srs",
      definition,
      "-a_ullr",
      ...BOX.map(String),
      join(SCENES, "maribor-0820/B04.tif"),
      path,
    ]);
    const raster = await openRaster({ kind: "file", path });
    const { crs, unknownCrs } = raster.info;
    await raster.close();
    if (crs === undefined && unknownCrs === undefined) {
      // GDAL wrote it into a side file: there is no place to be wrong about.
      assert.equal((await engine.describe({ kind: "file", path })).crs.local, "coordinates", definition);
      continue;
    }
    if (crs === undefined) {
      await assert.rejects(
        engine.describe({ kind: "file", path }),
        (error) => error instanceof RasterError && error.code === "unsupported" && /system/.test(error.message),
        definition,
      );
      continue;
    }
    read.push(definition);
    // What GDAL makes of the file, not of the definition.
    const wkt = runGdal("gdalsrsinfo", ["-o", "wkt1", path]).trim();
    for (const [x, y] of [
      [BOX[0], BOX[1]],
      [BOX[2], BOX[3]],
    ] as const) {
      const { stdout } = spawnSync("gdaltransform", ["-s_srs", wkt, "-t_srs", "EPSG:4326", "-output_xy"], {
        input: `${x} ${y}\n`,
        encoding: "utf8",
      });
      const [longitude = Number.NaN, latitude = Number.NaN] = stdout.trim().split(" ").map(Number);
      const [xs, ys] = [Float64Array.of(x), Float64Array.of(y)];
      createReproject(crs, degrees)(xs, ys);
      const across = Math.cos((latitude * Math.PI) / 180);
      const metres = Math.hypot((xs[0]! - longitude) * across, ys[0]! - latitude) * METRES_OF_DEGREE;
      assert.ok(metres <= MAX_METRES, `${definition}: ${metres} m, ${xs[0]} ${ys[0]} for ${longitude} ${latitude}`);
    }
  }
  t.diagnostic(`read: ${read.length}; refused: ${READ.filter((each) => !read.includes(each)).join(" | ")}`);
  assert.ok(read.length >= MIN_READ, read.join("\n"));
});
