import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import sharp from "sharp";

import { gdalSkipReason, runGdal } from "../../../libs/raster/test/gdal.ts";
import { findCollection, start } from "./fixture.ts";

const PLACE = "crs=CRS:84&bbox=15.2,46.3,15.4,46.4&width=64&height=32";

test("WMS draws maps in 256 colours, and tells values as GML", async (t) => {
  const { url } = await start(t);
  const collection = await findCollection(url);
  const map = `${url}/ows?service=WMS&version=1.3.0&request=GetMap&layers=${collection}&styles=ndvi&${PLACE}`;
  const get = async (address: string) => {
    const response = await fetch(address);
    const bytes = Buffer.from(await response.arrayBuffer());
    return { type: response.headers.get("content-type") ?? "", bytes, text: bytes.toString("latin1") };
  };
  const pixelsOf = async (bytes: Buffer) =>
    sharp(bytes).flatten({ background: "#000" }).toColourspace("srgb").raw().toBuffer();

  await t.test("with the colours of the full map, nearly", async () => {
    for (const layers of [collection, `${collection},${collection}`]) {
      const address = map.replace(`layers=${collection}`, `layers=${layers}`).replace("styles=ndvi", "styles=");
      const full = await pixelsOf((await get(`${address}&format=image/png&transparent=true`)).bytes);
      for (const [format, type] of [
        ["image/gif", "image/gif"],
        ["image/png;%20mode=8bit", "image/png"],
        ["image/png8", "image/png"],
      ] as const) {
        const small = await get(`${address}&format=${format}&transparent=true`);
        assert.equal(small.type, type, small.text.slice(0, 300));
        const info = await sharp(small.bytes).metadata();
        assert.deepEqual([info.width, info.height, info.format], [64, 32, type.replace("image/", "")]);
        if (type === "image/png") {
          assert.equal(small.bytes[25], 3, "the colour type of a palette (PNG 11.2.2)");
        }
        const own = await pixelsOf(small.bytes);
        const apart = own.reduce((sum, value, at) => sum + Math.abs(value - full[at]!), 0) / own.length;
        assert.ok(apart < 4, `${format}: ${apart}`);
      }
    }
  });

  await t.test("and exceptions in the format of the map", async () => {
    const wrong = await get(
      `${map.replace("styles=ndvi", "styles=none")}&format=image/gif&exceptions=BLANK&bgcolor=0xff0000`,
    );
    assert.equal(wrong.type, "image/gif");
    assert.deepEqual([...(await pixelsOf(wrong.bytes)).subarray(0, 3)], [255, 0, 0]);
  });

  const info = `${map.replace("GetMap", "GetFeatureInfo")}&query_layers=${collection}&i=20&j=10&feature_count=5`;
  await t.test("GML has the values of GeoJSON, and GDAL reads it", { skip: gdalSkipReason() }, async (part) => {
    const folder = mkdtempSync(join(tmpdir(), "swath-gml-"));
    part.after(() => rmSync(folder, { recursive: true }));
    const { features } = JSON.parse((await get(`${info}&info_format=application/geo%2Bjson`)).text) as {
      features: { id: string; geometry: { coordinates: number[] }; properties: Record<string, number[]> }[];
    };
    assert.equal(features.length, 2);
    for (const type of ["application/vnd.ogc.gml", "application/gml+xml"]) {
      const gml = await get(`${info}&info_format=${encodeURIComponent(type)}`);
      assert.equal(gml.type, `${type}; charset=utf-8`, gml.text.slice(0, 300));
      // GDAL keeps what it found out about a file beside it.
      const path = join(folder, `values-${type.length}.gml`);
      writeFileSync(path, gml.bytes);
      const read = JSON.parse(runGdal("ogr2ogr", ["-f", "GeoJSON", "-t_srs", "OGC:CRS84", "/vsistdout/", path])) as {
        features: { geometry: { coordinates: number[] }; properties: Record<string, number | string> }[];
      };
      assert.equal(read.features.length, 2, type);
      for (const [at, { geometry, properties }] of read.features.entries()) {
        const expected = features[at]!;
        assert.equal(properties["item"], expected.id);
        assert.equal(properties["red"], expected.properties["red"]?.[0], type);
        const apart = geometry.coordinates.map((value, axis) => Math.abs(value - expected.geometry.coordinates[axis]!));
        assert.ok(Math.max(...apart) < 1e-6, `${type}: ${geometry.coordinates.join(" ")}`);
      }
    }
  });

  await t.test("and declares what it offers", async () => {
    for (const version of ["1.3.0", "1.1.1"]) {
      const { text } = await get(`${url}/ows?service=WMS&request=GetCapabilities&version=${version}`);
      for (const format of ["image/gif", "image/png; mode=8bit", "application/vnd.ogc.gml", "application/gml+xml"]) {
        assert.ok(text.includes(`<Format>${format}</Format>`), `${version}: ${format}`);
      }
    }
  });
});
