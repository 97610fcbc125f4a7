import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { type DescribedRaster, parseCrs } from "@swath/raster";
import type { StacItem } from "@swath/stac";
import { createItemValidator } from "@swath/stac/schema";
import { breakDocument } from "@swath/xml/malformed";

import { convertProduct, findProduct } from "../src/convert-product.ts";
import { ProductError } from "../src/errors.ts";
import { convertRaster } from "../src/raster-item.ts";

const validate = createItemValidator();

/** The item of the product at an address, whose folder has these files. A place that is not listed is only read. */
function convert(
  address: string,
  files: Readonly<Record<string, string>>,
  { isListed = true }: { readonly isListed?: boolean } = {},
): Promise<StacItem> {
  const found = findProduct(address);
  assert.ok(found !== undefined, address);
  return convertProduct(
    {
      name: found.name,
      paths: isListed ? Object.keys(files) : [],
      read: (path) =>
        files[path] === undefined
          ? Promise.reject(new Error(`there is no ${path}`))
          : Promise.resolve(Buffer.from(files[path])),
      href: (path) => `${found.folder}/${path}`,
    },
    found,
  );
}

const SAFE = "S2A_MSIL2A_20230625T234621_N0509_R073_T01WCP_20230626T022157";
const TILE = "GRANULE/L2A_T01WCP_A041826_20230625T234624/MTD_TL.xml";

test("finds products by folders with and without their suffix, and by files that describe them", () => {
  const cases: readonly (readonly [address: string, folder: string | undefined, describedBy?: string])[] = [
    [`s3://b/${SAFE}.SAFE`, `s3://b/${SAFE}.SAFE`, "MTD_MSIL2A.xml"],
    [`s3://b/${SAFE}.SAFE/manifest.safe?x=1`, `s3://b/${SAFE}.SAFE`, "MTD_MSIL2A.xml"],
    [`s3://b/${SAFE}`, `s3://b/${SAFE}`, "MTD_MSIL2A.xml"],
    [`https://h/${SAFE}/`, `https://h/${SAFE}`, "MTD_MSIL2A.xml"],
    ["https://h/any name/MTD_MSIL1C.xml", "https://h/any name", "MTD_MSIL1C.xml"],
    ["https://h/any/xfdumanifest.xml", "https://h/any", "xfdumanifest.xml"],
    [
      "s3://b/S1A_IW_GRDH_1SDV_20210809T173953_20210809T174018_039156_049F13_6FF8/",
      "s3://b/S1A_IW_GRDH_1SDV_20210809T173953_20210809T174018_039156_049F13_6FF8",
      "manifest.safe",
    ],
    ["s3://b/LC08_x/LC08_x_MTL.xml", "s3://b/LC08_x", "LC08_x_MTL.xml"],
    ["s3://b/m/MOD09A1.A2022033.h19v10.061.1.hdf", "s3://b/m", "MOD09A1.A2022033.h19v10.061.1.hdf.xml"],
    ["s3://b/m/VNP09GA.A2020001.h08v05.001.1.h5.xml", "s3://b/m", "VNP09GA.A2020001.h08v05.001.1.h5.xml"],
    ["s3://b/S2B_MSIL2A_x.zarr", "s3://b/S2B_MSIL2A_x.zarr", ".zmetadata"],
    ["s3://b/S2B_MSIL2A_x.zarr/zarr.json", "s3://b/S2B_MSIL2A_x.zarr", "zarr.json"],
    [`s3://b/${SAFE}.SAFE/GRANULE/x/IMG_DATA/R10m/B02.jp2`, undefined],
    [`s3://b/${SAFE}.zip`, undefined],
    ["s3://b/any/manifest.safe", undefined],
    ["s3://b/cube.zarr", undefined],
    ["s3://b/other.hdf", undefined],
  ];
  for (const [address, folder, describedBy] of cases) {
    const found = findProduct(address);
    assert.deepEqual([found?.folder, found?.describedBy], [folder, describedBy], address);
  }
});

test("a SAFE folder without its suffix, or of another name, becomes the same item", async () => {
  const folder = join(import.meta.dirname, "data", `${SAFE}.SAFE`);
  const files = Object.fromEntries(
    ["MTD_MSIL2A.xml", TILE].map((path) => [path, readFileSync(join(folder, path), "utf8")]),
  );
  const [whole, bare, renamed] = await Promise.all(
    [`s3://b/${SAFE}.SAFE`, `s3://b/${SAFE}`, "s3://b/scene/MTD_MSIL2A.xml"].map((address) =>
      convert(address, files, { isListed: false }),
    ),
  );
  const withoutHrefs = (item: StacItem | undefined) => ({ ...item, assets: Object.keys(item?.assets ?? {}) });
  assert.equal(whole?.id, SAFE);
  assert.deepEqual(withoutHrefs(bare), withoutHrefs(whole));
  assert.deepEqual(withoutHrefs(renamed), withoutHrefs(whole));
});

test("tiles of the Copernicus DEM are known by their names", () => {
  const described = {
    info: {
      width: 3600,
      height: 3600,
      transform: [1 / 3600, 0, 9, 0, -1 / 3600, 48],
      bands: [],
      levels: [],
      metadata: {},
    },
    bounds: [9, 47, 10, 48],
    crs: parseCrs("EPSG:4326"),
  } as unknown as DescribedRaster;
  const convertNamed = (name: string) =>
    convertRaster({ href: `s3://b/${name}.tif`, described }, { fallbackTime: "2030-01-01T00:00:00Z" });
  const tile = convertNamed("Copernicus_DSM_COG_10_N47_00_E009_00_DEM");
  assert.deepEqual(validate(tile), []);
  assert.equal(tile["collection"], "cop-dem-glo-30");
  assert.deepEqual(
    [tile.properties["datetime"], tile.properties["gsd"], tile.properties["description"]],
    ["2021-04-22T00:00:00Z", 30, undefined],
  );
  assert.equal(convertNamed("Copernicus_DSM_30_S01_00_W079_00_DEM")["collection"], "cop-dem-glo-90");
  const other = convertNamed("elevation");
  assert.equal(other["collection"], undefined);
  assert.equal(other.properties["datetime"], "2030-01-01T00:00:00Z");
});

const point = (longitude: number, latitude: number): string =>
  `<Point><PointLongitude>${longitude}</PointLongitude><PointLatitude>${latitude}</PointLatitude></Point>`;
const attribute = (name: string, value: string): string =>
  `<PSA><PSAName>${name}</PSAName><PSAValue>${value}</PSAValue></PSA>`;

interface Granule {
  readonly name: string;
  readonly time: string;
  readonly place?: string;
  readonly attributes?: string;
  readonly platform?: string;
  readonly cloud?: string;
}

/** Metadata as ECS has it, of a granule that nobody made. */
const writeGranule = ({
  name,
  time,
  place,
  attributes = "",
  platform = "",
  cloud = "",
}: Granule): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE GranuleMetaDataFile SYSTEM "http://ecsinfo.gsfc.nasa.gov/ECSInfo/ecsmetadata/dtds/DPL/ECS/ScienceGranuleMetadata.dtd">
<GranuleMetaDataFile><GranuleURMetaData>
  <CollectionMetaData><ShortName>${name.split(/[._]\w*\d{7}|\./, 1)[0]}</ShortName><VersionID>61</VersionID></CollectionMetaData>
  <DataFiles><DataFileContainer><DistributedFileName>${name}</DistributedFileName><FileSize>66161058</FileSize></DataFileContainer></DataFiles>
  <ECSDataGranule><ProductionDateTime>2022-02-11 04:35:14.000</ProductionDateTime></ECSDataGranule>
  ${time}
  <SpatialDomainContainer><HorizontalSpatialDomainContainer>${place ?? `<GPolygon><Boundary>${point(10, -20)}${point(10, -10)}${point(20, -10)}${point(21, -20)}</Boundary></GPolygon>`}</HorizontalSpatialDomainContainer></SpatialDomainContainer>
  ${cloud}${platform}<PSAs>${attributes}</PSAs>
</GranuleURMetaData></GranuleMetaDataFile>`;

const RANGE =
  "<RangeDateTime><RangeEndingTime>23:59:59.000000</RangeEndingTime><RangeEndingDate>2022-02-09</RangeEndingDate><RangeBeginningTime>00:00:00.000000</RangeBeginningTime><RangeBeginningDate>2022-02-02</RangeBeginningDate></RangeDateTime>";
const TERRA =
  "<Platform><PlatformShortName>Terra</PlatformShortName><Instrument><InstrumentShortName>MODIS</InstrumentShortName></Instrument></Platform>";
const MODIS = "MOD09A1.A2022033.h19v10.061.2022042043514.hdf";

test("MODIS: interval, tile, outline, file and DOI", async () => {
  const granule = writeGranule({
    name: MODIS,
    time: RANGE,
    platform: TERRA,
    attributes: `${attribute("HORIZONTALTILENUMBER", "19")}${attribute("VERTICALTILENUMBER", "10")}${attribute("TileID", "51019010")}${attribute("identifier_product_doi", "10.5067/MODIS/MOD09A1.061")}`,
    cloud: "<QAStats><QAPercentCloudCover>12</QAPercentCloudCover></QAStats>",
  });
  for (const address of [`s3://b/m/${MODIS}`, `s3://b/m/${MODIS}.xml`]) {
    const item = await convert(address, { [`${MODIS}.xml`]: granule, [MODIS]: "" });
    assert.deepEqual(validate(item), []);
    assert.equal(item.id, MODIS.replace(/\.hdf$/, ""));
    assert.equal(item["collection"], "mod09a1-061");
    assert.deepEqual(item.bbox, [10, -20, 21, -10]);
    const { providers: _providers, ...properties } = item.properties;
    assert.deepEqual(properties, {
      datetime: "2022-02-02T00:00:00Z",
      start_datetime: "2022-02-02T00:00:00Z",
      end_datetime: "2022-02-09T23:59:59Z",
      created: "2022-02-11T04:35:14Z",
      platform: "terra",
      instruments: ["modis"],
      "eo:cloud_cover": 12,
      "modis:horizontal-tile": 19,
      "modis:vertical-tile": 10,
      "modis:tile-id": "51019010",
      "product:type": "MOD09A1",
      "sci:doi": "10.5067/MODIS/MOD09A1.061",
    });
    assert.deepEqual(item.assets["hdf"], {
      href: `s3://b/m/${MODIS}`,
      type: "application/x-hdf",
      roles: ["data"],
      "file:size": 66_161_058,
    });
    assert.ok(item.assets["metadata"]?.href.endsWith(".hdf.xml"));
  }
});

test("VIIRS by a box across the antimeridian, ASTER by an instant", async () => {
  const viirs = "VNP09GA.A2020001.h35v05.001.2020003.h5";
  const sides = Object.entries({ West: 170, North: 20, East: -175, South: 10 })
    .map(([side, value]) => `<${side}BoundingCoordinate>${value}</${side}BoundingCoordinate>`)
    .join("");
  const found = await convert(`s3://b/${viirs}.xml`, {
    [`${viirs}.xml`]: writeGranule({
      name: viirs,
      time: RANGE,
      place: `<BoundingRectangle>${sides}</BoundingRectangle>`,
    }),
  });
  assert.deepEqual(validate(found), []);
  assert.deepEqual(found.bbox, [170, 10, -175, 20]);
  assert.equal(found.assets["h5"]?.type, "application/x-hdf5");

  const aster = "AST_L1T_00305032000040446_20150409135350_78838.hdf";
  const time =
    "<SingleDateTime><TimeofDay>04:04:46.534000</TimeofDay><CalendarDate>2000-05-03</CalendarDate></SingleDateTime>";
  const scene = await convert(`s3://b/${aster}`, {
    [`${aster}.xml`]: writeGranule({
      name: aster,
      time,
      attributes: `${attribute("SceneCloudCoverage", "57")}${attribute("Solar_Elevation_Angle", "75.8")}${attribute("FlyingDirection", "DE")}`,
    }),
  });
  assert.deepEqual(validate(scene), []);
  const { datetime, platform, instruments } = scene.properties;
  assert.deepEqual([datetime, platform, instruments], ["2000-05-03T04:04:46.534Z", "terra", ["aster"]]);
  assert.deepEqual(
    ["eo:cloud_cover", "view:sun_elevation", "sat:orbit_state"].map((key) => scene.properties[key]),
    [57, 75.8, "descending"],
  );
});

test("granules: what is missing is named; a document type with declarations, and broken XML, are refused", async () => {
  const whole = writeGranule({ name: MODIS, time: RANGE });
  const refuse = async (text: string, message: RegExp) =>
    assert.rejects(
      convert(`s3://b/${MODIS}`, { [`${MODIS}.xml`]: text }),
      (error) => error instanceof ProductError && message.test(error.message),
      String(message),
    );
  await refuse(whole.replace(/<ShortName>.*<\/ShortName>/, ""), /has no ShortName/);
  await refuse(whole.replace(RANGE, ""), /neither CalendarDate nor RangeBeginningDate/);
  await refuse(whole.replace(/<GPolygon>.*<\/GPolygon>/, ""), /neither a Boundary nor bounding coordinates/);
  await refuse(whole.replace(/SYSTEM "[^"]*"/, '[<!ENTITY a "b">]'), /document type/);
  await refuse(whole.replace(/(SYSTEM "[^"]*")/, '$1 [<!ENTITY a "b">]'), /document type/);
  for (const { text } of breakDocument(whole)) {
    await refuse(text, /is not valid XML|has no|neither/);
  }
  await assert.rejects(convert(`s3://b/${MODIS}`, {}), /there is no MOD09A1/);
});

const STORE = "S2B_MSIL2A_20250101T101319_N0511_R022_T32TQM_20250101T123456.zarr";
const DISCOVERY = {
  type: "Feature",
  id: STORE,
  geometry: {
    type: "Polygon",
    coordinates: [
      [
        [10, 45],
        [11, 45],
        [11, 46],
        [10, 46],
        [10, 45],
      ],
    ],
  },
  bbox: [10, 45, 11, 46],
  properties: {
    datetime: "2025-01-01T10:13:19Z",
    platform: "sentinel-2b",
    "product:type": "S02MSIL2A",
    "eo:cloud_cover": 3.5,
    "other:thing": { a: 1 },
    created: null,
  },
  assets: {},
  links: [],
};
const BANDS = ["b02", "b03", "b04", "b08"].map((band) => `measurements/reflectance/r10m/${band}`);
const VERSION_2 = JSON.stringify({
  metadata: {
    ".zattrs": { stac_discovery: DISCOVERY },
    ".zgroup": { zarr_format: 2 },
    ...Object.fromEntries(BANDS.map((path) => [`${path}/.zarray`, { shape: [10_980, 10_980], dtype: "<u2" }])),
    "measurements/reflectance/r10m/x/.zarray": { shape: [10_980], dtype: "<i8" },
    "measurements/reflectance/r20m/b05/.zarray": { shape: [5490, 5490], dtype: "<u2" },
    "conditions/mask/r20m/scl/.zarray": { shape: [5490, 5490], dtype: "|u1" },
  },
});
const VERSION_3 = JSON.stringify({
  zarr_format: 3,
  node_type: "group",
  attributes: { stac_discovery: DISCOVERY },
  consolidated_metadata: {
    metadata: {
      "measurements/reflectance/r10m": { node_type: "group" },
      ...Object.fromEntries(
        BANDS.map((path) => [path, { node_type: "array", shape: [10_980, 10_980], data_type: "uint16" }]),
      ),
      "measurements/reflectance/r20m/b05": { node_type: "array", shape: [5490, 5490], data_type: "uint16" },
    },
  },
});

test("EOPF: an item of what the store says of itself, an asset for each group of measurements, of Zarr 2 and 3", async () => {
  for (const [file, text, version] of [
    [".zmetadata", VERSION_2, 2],
    ["zarr.json", VERSION_3, 3],
  ] as const) {
    for (const isListed of [true, false]) {
      const item = await convert(`s3://b/${STORE}`, { [file]: text }, { isListed });
      assert.deepEqual(validate(item), []);
      assert.deepEqual([item.id, item["collection"]], [STORE.replace(".zarr", ""), "sentinel-2-l2a-zarr"]);
      assert.deepEqual(item.properties, {
        datetime: "2025-01-01T10:13:19Z",
        platform: "sentinel-2b",
        "product:type": "S02MSIL2A",
        "eo:cloud_cover": 3.5,
      });
      assert.deepEqual(item.bbox, [10, 45, 11, 46]);
      assert.deepEqual(Object.keys(item.assets), ["product", "reflectance_r10m", "reflectance_r20m"]);
      assert.deepEqual(item.assets["reflectance_r10m"], {
        href: `s3://b/${STORE}/measurements/reflectance/r10m`,
        type: `application/vnd.zarr; version=${version}`,
        roles: ["data"],
        bands: ["b02", "b03", "b04", "b08"].map((name) => ({ name })),
      });
      assert.equal(item.assets["product"]?.href, `s3://b/${STORE}`);
    }
  }
});

test("EOPF: what is missing is named", async () => {
  const refuse = (text: string, message: RegExp) =>
    assert.rejects(
      convert(`s3://b/${STORE}`, { ".zmetadata": text }),
      (error) => error instanceof ProductError && message.test(error.message),
      String(message),
    );
  await refuse("{", /\.zmetadata is not JSON/);
  await refuse("[]", /no attribute stac_discovery/);
  const broken = (change: object) =>
    JSON.stringify({ metadata: { ".zattrs": { stac_discovery: { ...DISCOVERY, ...change } } } });
  await refuse(broken({ geometry: null }), /no geometry/);
  await refuse(broken({ geometry: { type: "Polygon", coordinates: [[1, 2]] } }), /no geometry/);
  await refuse(broken({ properties: {} }), /no datetime/);
});
