import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";

import type { StacItem } from "@swath/stac";
import { findGeometryIssues } from "@swath/stac/geometry";
import { createItemValidator } from "@swath/stac/schema";
import { breakDocument } from "@swath/xml/malformed";

import { convertProduct, findProduct } from "../src/convert-product.ts";
import { ProductError } from "../src/errors.ts";
import { overlapOf } from "./overlap.ts";
import { SENTINEL3_MANIFEST, SENTINEL3_NAME } from "./sentinel3-manifest.ts";

const DATA = join(import.meta.dirname, "data");
/** More products of agencies; beside the checkout where there are some. */
const AGENCY = join(process.env["SWATH_SHARED"] ?? join(import.meta.dirname, "../../../../shared"), "data/agency");
const validate = createItemValidator();

type Json = Readonly<Record<string, unknown>>;

const convertSentinel3Manifest = (change: (text: string) => string = (text) => text): Promise<StacItem> => {
  const address = findProduct(`/${SENTINEL3_NAME}/xfdumanifest.xml`);
  assert.ok(address !== undefined);
  return convertProduct(
    {
      name: SENTINEL3_NAME,
      paths: [],
      read: () => Promise.resolve(Buffer.from(change(SENTINEL3_MANIFEST))),
      href: (path) => `./${path}`,
    },
    address,
  );
};

/** The item of a product of the test data; `change` alters its files. */
const convert = (name: string, change?: Change): Promise<StacItem> =>
  convertFolder(join(DATA, name), undefined, change);

type Change = (text: string, path: string) => string;

/** The item of a product in a folder: of the metadata file that is named, or of the only one. */
async function convertFolder(
  folder: string,
  metadata = readdirSync(folder).find((file) => file.includes("_MTL.")) ?? "manifest.safe",
  change: Change = (text) => text,
): Promise<StacItem> {
  const address = findProduct(`${folder}/${metadata}`);
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

/** Products with the STAC that their agency, or a known converter, makes of them. */
const products: readonly {
  readonly name: string;
  readonly folder: string;
  readonly metadata?: string;
  readonly expected: string;
}[] = [
  ...globSync("*/expected.json", { cwd: DATA }).map((path) => ({
    name: dirname(path),
    folder: join(DATA, dirname(path)),
    expected: join(DATA, path),
  })),
  ...globSync("sentinel2/*/expected_output.json", { cwd: AGENCY }).map((path) => ({
    name: `${basename(dirname(path))} of the agency`,
    folder: join(AGENCY, dirname(path)),
    expected: join(AGENCY, path),
  })),
  ...globSync("landsat/*/*_stac.json", { cwd: AGENCY }).flatMap((path) => {
    const product = basename(path).replace(/(?:_SR|_ST)?_stac\.json$/, "");
    return [`${product}_MTL.xml`, `${product}_MTL.txt`]
      .filter((metadata) => existsSync(join(AGENCY, dirname(path), metadata)))
      .map((metadata) => ({
        name: `${metadata} and ${basename(path)} of the agency`,
        folder: join(AGENCY, dirname(path)),
        metadata,
        expected: join(AGENCY, path),
      }));
  }),
];

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

for (const { name, folder, metadata, expected: path } of products) {
  const expected = JSON.parse(readFileSync(path, "utf8")) as Json & {
    properties: Json;
    assets: Readonly<Record<string, Json & { href: string }>>;
  };
  const isLandsat = name.startsWith("L");

  test(`${name}: time, properties and validity`, async () => {
    const item = await convertFolder(folder, metadata);
    assert.deepEqual(validate(item), []);
    const { properties } = item;
    const time = String(expected.properties["datetime"]);
    // The oldest documents have the day alone.
    const precision = time.length === 10 ? 86_400_000 : 1;
    assert.ok(Math.abs(Date.parse(String(properties["datetime"])) - Date.parse(time)) <= precision, time);
    for (const [key, value] of Object.entries(expected.properties).filter(([each]) => !OTHER.has(each))) {
      const mine = properties[RENAMED[key] ?? key];
      if (typeof value === "number") {
        // Older documents have angles from -180 on, and of the view its side as a sign.
        const turned = key.endsWith("sun_azimuth")
          ? (value + 360) % 360
          : key.endsWith("off_nadir")
            ? Math.abs(value)
            : value;
        assert.ok(
          Math.abs(Number(mine) - turned) <= Math.max(1e-6, 1e-6 * Math.abs(value)),
          `${key}: ${JSON.stringify(mine)} for ${value}`,
        );
      } else if (key === "proj:centroid") {
        const [a, b] = [mine, value] as { lat: number; lon: number }[];
        assert.ok(Math.abs((a?.lat ?? 0) - (b?.lat ?? 1)) < 1e-4 && Math.abs((a?.lon ?? 0) - (b?.lon ?? 1)) < 1e-4);
      } else if (key.startsWith("landsat:wrs_")) {
        assert.equal(Number(mine), Number(value), key);
      } else if (key.includes("time") && typeof value === "string") {
        assert.equal(Date.parse(String(mine)), Date.parse(value), key);
      } else {
        assert.deepEqual(mine, value, key);
      }
    }
  });

  test(`${name}: footprint`, async () => {
    const item = await convertFolder(folder, metadata);
    const geometry = item.geometry as Json;
    if (isLandsat) {
      checkLandsatFootprint(item, expected);
      return;
    }
    const bbox = expected["bbox"] as number[];
    item.bbox?.forEach((value, index) =>
      assert.ok(
        Math.abs(value - (bbox[index] ?? 0)) < 1e-3,
        `${JSON.stringify(item.bbox)} for ${JSON.stringify(bbox)}`,
      ),
    );
    assert.equal(geometry["type"], (expected["geometry"] as Json)["type"]);
    assert.deepEqual([...numbersOf(geometry)].toSorted(), [...numbersOf(expected["geometry"])].toSorted());
  });

  test(`${name}: assets, bands, scale and offset`, async () => {
    const { assets } = await convertFolder(folder, metadata);
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
        // Older documents call SR_B1 and ST_B6 plainly B1 and B6, and round otherwise.
        const plain = (text: unknown): string => String(text).replace(/^S[RT]_/, "");
        assert.deepEqual(
          [plain(band["name"]), band["eo:common_name"]],
          [plain(spectral["name"]), spectral["common_name"]],
        );
        if (spectral["center_wavelength"] !== undefined) {
          const difference = Number(band["eo:center_wavelength"]) - Number(spectral["center_wavelength"]);
          assert.ok(Math.abs(difference) < 0.06, `${key}: ${JSON.stringify([band, spectral])}`);
        }
      }
    }
  });
}

/** The agency's own outlines that are wrong. */
const WRONG_OUTLINES: Readonly<Record<string, string>> = {
  LC08_L2SR_084024_20160111_20201016_02_T1: "its corners cross at the antimeridian",
  LM01_L1GS_005037_19720823_20200909_02_T2: "it is that of the raster, with its fill",
};
const LEAST_OVERLAP = 0.95;

/** The agency's STAC is not read here: the corners are those of the angle coefficients, or estimated. */
function checkLandsatFootprint(item: StacItem, expected: Json): void {
  const reason = WRONG_OUTLINES[item.id];
  const geometry = item.geometry as Parameters<typeof overlapOf>[0];
  const overlap = overlapOf(geometry, expected["geometry"] as typeof geometry);
  if (reason === undefined) {
    assert.ok(overlap >= LEAST_OVERLAP, `${overlap.toFixed(3)}: ${JSON.stringify(geometry)}`);
  } else {
    assert.ok(overlap < LEAST_OVERLAP, `${item.id} is listed as wrong, since ${reason}; it is right`);
  }
  assert.deepEqual(findGeometryIssues(geometry), []);
}

test("the corners of a Landsat scene are those of the agency's STAC beside it, where they are an outline", async () => {
  const name = "LM05_L1GS_001001_19850524_20210918_02_T2";
  const metadata = `${name}_MTL.xml`;
  const stac = readFileSync(join(DATA, name, "expected.json"), "utf8");
  const convertBeside = (text: string): Promise<StacItem> => {
    const address = findProduct(join(DATA, name, metadata));
    assert.ok(address !== undefined);
    return convertProduct(
      {
        name: address.name,
        paths: [metadata, `${name}_stac.json`, "LM05_L1GS_002002_19850524_20210918_02_T2_stac.json"],
        read: async (path) => (path === metadata ? readFileSync(join(DATA, name, path)) : Buffer.from(text)),
        href: (path) => `./${path}`,
      },
      address,
    );
  };
  const { geometry } = JSON.parse(stac) as { geometry: { type: string; coordinates: [[number, number][]] } };
  const item = await convertBeside(stac);
  assert.ok(overlapOf(item.geometry as typeof geometry, geometry) > 0.9999);
  const [[a, b, c, d, end]] = geometry.coordinates as unknown as [[number, number][]];
  for (const text of [
    "not JSON",
    JSON.stringify({ geometry: { type: "Polygon", coordinates: [[a, c, b, d, end]] } }),
  ]) {
    const estimated = await convertBeside(text);
    const overlap = overlapOf(estimated.geometry as typeof geometry, geometry);
    assert.ok(overlap >= LEAST_OVERLAP && overlap < 0.9999, String(overlap));
  }
});

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

test("a Sentinel-3 product: time, footprint, orbit, and what it shows in percent", async () => {
  const { properties, ...item } = await convertSentinel3Manifest();
  assert.deepEqual(validate({ ...item, properties } as StacItem), []);
  assert.deepEqual(item.bbox, [10, 40, 26, 52]);
  assert.equal(item.assets["iwv"]?.type, "application/x-netcdf");
  const { providers: _providers, ...plain } = properties;
  assert.deepEqual(plain, {
    datetime: "2024-06-01T09:31:30.000Z",
    start_datetime: "2024-06-01T09:30:00Z",
    end_datetime: "2024-06-01T09:33:00Z",
    platform: "sentinel-3b",
    constellation: "sentinel-3",
    instruments: ["olci"],
    gsd: 300,
    "processing:level": "L2",
    "product:type": "OL_2_LFR___",
    "product:timeliness": "P1M",
    "product:timeliness_category": "NT",
    "sat:orbit_state": "descending",
    "sat:absolute_orbit": 31_000,
    "sat:relative_orbit": 307,
    "sat:platform_international_designator": "2018-039A",
    "eo:cloud_cover": 61.5,
    "s3:saline_water": 12.25,
    "s3:land": 26.25,
    "s3:invalid": 0,
    "s3:duplicated": 1.5,
  });
  // Synergy products are of both imagers; a day's mosaic gives its first orbit as 0.
  const synergy = await convertSentinel3Manifest((text) =>
    text.replaceAll("OL_2_LFR___", "SY_2_VG1___").replace(/(<safe:relativeOrbitNumber[^>]*>)307</, "$10<"),
  );
  assert.deepEqual([synergy.properties["instruments"], synergy.properties["gsd"]], [["olci", "slstr"], 1000]);
  assert.equal(synergy.properties["sat:relative_orbit"], undefined);
});

test("half a product: the error names the file and what is missing", async () => {
  const name = "S2A_MSIL2A_20230625T234621_N0509_R073_T01WCP_20230626T022157.SAFE";
  const broken: readonly [RegExp, (text: string, path: string) => string][] = [
    [/MTD_MSIL2A\.xml is not valid XML/, (text, path) => (path === "MTD_MSIL2A.xml" ? text.slice(0, 3000) : text)],
    [/MTD_MSIL2A\.xml has no EXT_POS_LIST/, (text) => text.replaceAll("EXT_POS_LIST", "OTHER")],
    [/MTD_TL\.xml has no HORIZONTAL_CS_CODE/, (text) => text.replaceAll("HORIZONTAL_CS_CODE", "OTHER")],
    [/document type/, (text) => text.replace("?>", '?><!DOCTYPE a [<!ENTITY b "c">]>')],
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

test("Sentinel-1 products of the agency are valid, with the time within which they are there", async () => {
  const expected: Readonly<Record<string, string>> = { "NRT-3h": "PT3H", "Fast-24h": "PT24H" };
  for (const path of globSync("sentinel1/*.SAFE", { cwd: AGENCY })) {
    const { properties, ...item } = await convertFolder(join(AGENCY, path));
    assert.deepEqual(validate({ ...item, properties } as StacItem), [], path);
    assert.equal(properties["product:timeliness"], expected[String(properties["product:timeliness_category"])], path);
  }
});

test("refuses every kind of metadata that is not well formed, of every kind of product", async () => {
  for (const name of readdirSync(DATA).filter((folder) => existsSync(join(DATA, folder, "expected.json")))) {
    const files: string[] = [];
    await convert(name, (text, path) => {
      files.push(...(text.trimStart().startsWith("<") ? [path] : []));
      return text;
    });
    for (const file of new Set(files)) {
      for (const { rule, text } of breakDocument(readFileSync(join(DATA, name, file), "utf8"))) {
        await assert.rejects(
          convert(name, (whole, path) => (path === file ? text : whole)),
          (error) => error instanceof ProductError && /is not valid XML/.test(error.message),
          `${file} of ${name}: ${rule}`,
        );
      }
    }
  }
  for (const { rule } of breakDocument(SENTINEL3_MANIFEST)) {
    await assert.rejects(
      convertSentinel3Manifest((whole) => breakDocument(whole).find((broken) => broken.rule === rule)?.text ?? whole),
      ProductError,
      rule,
    );
  }
});
