import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { StacItem } from "@swath/stac";
import { createItemValidator } from "@swath/stac/schema";

import { convertProduct, findProduct } from "../src/convert-product.ts";
import { ProductError } from "../src/errors.ts";

const DATA = join(import.meta.dirname, "data");
const validate = createItemValidator();

type Json = Readonly<Record<string, unknown>>;

/** The item of a product of the test data; `change` alters its files. */
async function convert(
  name: string,
  change: (text: string, path: string) => string = (text) => text,
): Promise<StacItem> {
  const folder = join(DATA, name);
  const mtl = readdirSync(folder).find((file) => file.includes("_MTL."));
  const address = findProduct(`${folder}${mtl === undefined ? "/manifest.safe" : `/${mtl}`}`);
  assert.ok(address !== undefined);
  return convertProduct(
    {
      name: address.name,
      paths: [],
      read: async (path) => Buffer.from(change(readFileSync(join(folder, path), "utf8"), path)),
      href: (path) => `./${path}`,
    },
    address,
  );
}

const numbersOf = (geometry: unknown): Set<string> =>
  new Set(
    (JSON.stringify((geometry as Json)["coordinates"]).match(/-?\d+(?:\.\d+)?/g) ?? []).map((text) =>
      Number(text).toFixed(3),
    ),
  );

/** Properties that older documents call otherwise, or that say when and by whom they were converted. */
const RENAMED: Readonly<Record<string, string>> = {
  "eo:sun_elevation": "view:sun_elevation",
  "eo:sun_azimuth": "view:sun_azimuth",
  "eo:off_nadir": "view:off_nadir",
};
const OTHER = new Set([
  "created",
  "providers",
  "datetime",
  "eo:bands",
  "eo:platform",
  "eo:instrument",
  "platform",
  "instruments",
  "proj:epsg",
]);

for (const name of readdirSync(DATA).filter((each) => existsSync(join(DATA, each, "expected.json")))) {
  const expected = JSON.parse(readFileSync(join(DATA, name, "expected.json"), "utf8")) as Json & {
    properties: Json;
    assets: Readonly<Record<string, Json & { href: string }>>;
  };
  const isLandsat = name.startsWith("L");

  test(`${name}: time, properties and validity`, async () => {
    const item = await convert(name);
    assert.deepEqual(validate(item), []);
    const { properties } = item;
    assert.ok(
      Math.abs(Date.parse(String(properties["datetime"])) - Date.parse(String(expected.properties["datetime"]))) <= 1,
    );
    for (const [key, value] of Object.entries(expected.properties).filter(([each]) => !OTHER.has(each))) {
      const mine = properties[RENAMED[key] ?? key];
      if (typeof value === "number") {
        const turned = key.endsWith("sun_azimuth") ? (value + 360) % 360 : value;
        assert.ok(
          Math.abs(Number(mine) - turned) <= Math.max(1e-6, 1e-6 * Math.abs(value)),
          `${key}: ${JSON.stringify(mine)} for ${value}`,
        );
      } else if (key === "proj:centroid") {
        const [a, b] = [mine, value] as { lat: number; lon: number }[];
        assert.ok(Math.abs((a?.lat ?? 0) - (b?.lat ?? 1)) < 1e-4 && Math.abs((a?.lon ?? 0) - (b?.lon ?? 1)) < 1e-4);
      } else if (key.includes("time") && typeof value === "string") {
        assert.equal(Date.parse(String(mine)), Date.parse(value), key);
      } else {
        assert.deepEqual(mine, value, key);
      }
    }
  });

  test(
    `${name}: footprint`,
    { skip: name.startsWith("LM") && "its corners are in a file that is not delivered" },
    async () => {
      const item = await convert(name);
      const bbox = expected["bbox"] as number[];
      // The agency draws its outline 2 km inside of what the angle coefficients say.
      const tolerance = isLandsat ? 0.05 : 1e-3;
      item.bbox?.forEach((value, index) =>
        assert.ok(
          Math.abs(value - (bbox[index] ?? 0)) < tolerance,
          `${JSON.stringify(item.bbox)} for ${JSON.stringify(bbox)}`,
        ),
      );
      const geometry = item.geometry as Json;
      assert.equal(geometry["type"], (expected["geometry"] as Json)["type"]);
      if (isLandsat) {
        return;
      }
      assert.deepEqual([...numbersOf(geometry)].toSorted(), [...numbersOf(expected["geometry"])].toSorted());
    },
  );

  test(`${name}: assets, bands, scale and offset`, async () => {
    const { assets } = await convert(name);
    for (const [key, asset] of Object.entries(expected.assets).filter(
      ([, { href }]) => !/thumb|stac-browser|MTL\.json|_02_T\d$/.test(href),
    )) {
      const file = asset.href.split("/").at(-1);
      const found = Object.entries(assets).find(([, { href }]) => href.split("/").at(-1) === file);
      assert.ok(found !== undefined, `${key}: ${file}`);
      if (!isLandsat) {
        assert.equal(found[0], key);
        assert.deepEqual(found[1]["proj:transform"] ?? asset["proj:transform"], asset["proj:transform"], key);
      }
      const [band = {}] = (found[1]["bands"] ?? []) as Json[];
      const [raster] = (asset["raster:bands"] ?? []) as Json[];
      if (raster !== undefined) {
        for (const member of ["scale", "offset"]) {
          assert.ok(
            Math.abs(Number(band[`raster:${member}`] ?? 0) - Number(raster[member] ?? 0)) < 1e-9,
            `${key} ${member}`,
          );
        }
        assert.equal(band["nodata"], raster["nodata"], key);
      }
      const [spectral] = ((asset["eo:bands"] ?? []) as unknown[]).map((each) =>
        typeof each === "number" ? (expected.properties["eo:bands"] as Json[])[each] : (each as Json),
      );
      if (spectral !== undefined) {
        assert.deepEqual(
          [band["name"], band["eo:common_name"], band["eo:center_wavelength"]],
          [spectral["name"], spectral["common_name"], spectral["center_wavelength"]],
        );
      }
    }
  });
}

test("surface reflectance of Landsat: scale and offset of Level 2, not of Level 1", async () => {
  const { assets } = await convert("LC08_L2SP_047027_20201204_20210313_02_T1");
  const [red = {}] = (assets["red"]?.["bands"] ?? []) as Json[];
  assert.deepEqual([red["raster:scale"], red["raster:offset"]], [2.75e-5, -0.2]);
  const [thermal = {}] = (assets["lwir11"]?.["bands"] ?? []) as Json[];
  assert.deepEqual([thermal["raster:scale"], thermal["raster:offset"], thermal["unit"]], [0.00341802, 149, "K"]);
});

test("a Sentinel-1 product without its annotations", async () => {
  const name = "S1A_IW_GRDH_1SDV_20210809T173953_20210809T174018_039156_049F13_6FF8.SAFE";
  const item = await convert(name);
  assert.deepEqual(validate(item), []);
  const { properties } = item;
  assert.deepEqual(properties["sar:polarizations"], ["VV", "VH"]);
  assert.deepEqual(
    [properties["sat:orbit_state"], properties["sat:relative_orbit"], properties["sat:absolute_orbit"]],
    ["ascending", 59, 39_156],
  );
  assert.deepEqual(
    [properties["start_datetime"], properties["sar:instrument_mode"]],
    ["2021-08-09T17:39:53.153776Z", "IW"],
  );
  assert.ok(item.assets["vv"]?.href.endsWith(".tiff") && item.assets["vh"] !== undefined);
});

test("half a product: the error names the file and what is missing", async () => {
  const name = "S2A_MSIL2A_20230625T234621_N0509_R073_T01WCP_20230626T022157.SAFE";
  const broken: readonly [RegExp, (text: string, path: string) => string][] = [
    [/MTD_MSIL2A\.xml is not valid XML/, (text, path) => (path === "MTD_MSIL2A.xml" ? text.slice(0, 3000) : text)],
    [/MTD_MSIL2A\.xml has no EXT_POS_LIST/, (text) => text.replaceAll("EXT_POS_LIST", "OTHER")],
    [/MTD_TL\.xml has no HORIZONTAL_CS_CODE/, (text) => text.replaceAll("HORIZONTAL_CS_CODE", "OTHER")],
    [/has a DOCTYPE/, (text) => text.replace("?>", '?><!DOCTYPE a [<!ENTITY b "c">]>')],
    [/is no longitude and latitude/, (text) => text.replace(/<EXT_POS_LIST>[^<]*/, "<EXT_POS_LIST>1 2 900 4 5 6 1 2")],
  ];
  for (const [message, change] of broken) {
    await assert.rejects(
      convert(name, change),
      (error: Error) => error instanceof ProductError && message.test(error.message),
      String(message),
    );
  }
});
