import assert from "node:assert/strict";
import { test } from "node:test";

import { toConfigForm, withKeptHeaders } from "../harvest/config-form.ts";
import { type HarvesterConfig, parseHarvesters, readHarvester } from "../harvest/config.ts";
import { readsProducts } from "../harvest/postprocess-names.ts";
import { toSceneKey } from "../harvest/scene-keys.ts";

const POSTPROCESS = "harvester_eoepca.postprocess.CREODIASOpenSearch";

/** A file of the known form for a collection of the known provider. */
const toFile = (collection: string, postprocess: string, box: string, [begin, end]: readonly [string, string]) => `
- name: Custom-Config
  resource:
    url: https://catalogue.example.org/resto/api/collections/${collection}/describe.xml
    type: OpenSearch
    query:
      bbox: ${box}
      collection: null
      time: { begin: "${begin}", end: "${end}", property: sensed }
    format_config:
      property_mapping: { end_datetime: completionDate, productIdentifier: productIdentifier, start_datetime: startDate }
      type: application/json
  postprocess:
    - type: ${POSTPROCESS}${postprocess}Postprocessor
  queue: register
  filter: {}`;

const UK = "-0.736084,51.200000,1.164551,52.109879";
const AUSTRIA = "14.9,47.7,16.4,48.7";
const known: readonly (readonly [string, string, Partial<HarvesterConfig["resource"]>])[] = [
  ...(
    [
      ["Landsat8", "Landsat8", UK, ["2022-06-01T00:00:00Z", "2022-07-01T00:00:00Z"]],
      ["Sentinel2", "Sentinel2", AUSTRIA, ["2022-08-30T00:00:00Z", "2022-08-31T00:00:00Z"]],
      ["Sentinel1", "Sentinel1", AUSTRIA, ["2019-09-10T00:00:00Z", "2019-09-11T00:00:00Z"]],
      ["Sentinel3", "Sentinel3", AUSTRIA, ["2019-09-10T00:00:00Z", "2019-09-11T00:00:00Z"]],
    ] as const
  ).map(
    ([collection, name, box, time]) =>
      [
        `${collection} of ${time[0].slice(0, 7)}`,
        toFile(collection, name, box, time),
        {
          type: "OpenSearch",
          query: {
            bbox: box.split(",").map(Number),
            begin: `${time[0].slice(0, -1)}.000Z`,
            end: `${time[1].slice(0, -1)}.000Z`,
          },
        },
      ] as const,
  ),
  [
    "the earliest form, with a queue server beside it",
    `redis: { host: redis, port: 6379 }
harvesters:
  - name: Creodias-Opensearch
    endpoint:
      url: https://catalogue.example.org/resto/api/collections/Sentinel2/describe.xml
      type: OpenSearch
      format_config: { type: application/json, property_mapping: { product_identifier: productIdentifier } }
      query:
        time: { property: sensed, begin: 2019-09-10T00:00:00Z, end: 2019-09-11T00:00:00Z }
        collection: null
        bbox: ${AUSTRIA}
      filter: {}
      provider: harvester_eoepca.provider.CREODIASOpenSearchSentinel2Provider
    queue: register_queue`,
    { query: { bbox: [14.9, 47.7, 16.4, 48.7], begin: "2019-09-10T00:00:00.000Z", end: "2019-09-11T00:00:00.000Z" } },
  ],
  [
    "the catalogue of a workspace's bucket",
    `name: harvest-bucket-catalog
resource: { type: STACCatalog, root_path: ws-eric/processing-results, filesystem: s3 }
queue: register_queue`,
    { type: "STACCatalog", url: "s3://ws-eric/processing-results/catalog.json" },
  ],
  [
    "a STAC API",
    `name: api
resource: { url: https://stac.example.org, type: STACAPI, query: { collection: land, bbox: [1, 2, 3, 4] } }`,
    { type: "STACAPI", query: { bbox: [1, 2, 3, 4], collection: "land" } },
  ],
];

for (const [name, file, expected] of known) {
  test(`a known configuration file: ${name}`, () => {
    const [config, ...others] = parseHarvesters(file);
    assert.ok(config);
    assert.equal(others.length, 0);
    for (const [key, value] of Object.entries(expected)) {
      assert.deepEqual(config.resource[key as keyof typeof config.resource], value);
    }
    assert.equal(readsProducts(config.postprocess), config.resource.type === "OpenSearch");
    // What is shown of it can be sent again.
    assert.deepEqual(readHarvester(JSON.parse(JSON.stringify(toConfigForm(config)))), config);
  });
}

test("values of headers are not shown, kept for the same host, and never sent to another", () => {
  const config = readHarvester({
    name: "keys",
    resource: { url: "https://a.example.org/search", type: "STACAPI", headers: { authorization: "Bearer secret" } },
  });
  const form = toConfigForm(config) as { readonly resource: Readonly<Record<string, unknown>> };
  assert.doesNotMatch(JSON.stringify(form), /secret/);
  const same = readHarvester(withKeptHeaders({ ...form }, config));
  assert.deepEqual(same.resource.headers, { authorization: "Bearer secret" });
  const moved = { ...form, resource: { ...form.resource, url: "https://b.example.org/search" } };
  assert.deepEqual(readHarvester(withKeptHeaders(moved, config)).resource.headers, {});
});

const SAFE_NAME = "S2A_MSIL2A_20230625T234621_N0509_R073_T01WCP_20230626T022157";

test("which objects of a bucket are scenes, or parts of one", () => {
  const cases: readonly (readonly [string, ReturnType<typeof toSceneKey>])[] = [
    ["in/a.tif", { path: "in/a.tif", isMain: true }],
    ["in/item.json", { path: "in/item.json", isMain: true }],
    ["in/notes.txt", undefined],
    ["in/.hidden.tif", undefined],
    ["S2A_X.SAFE/manifest.safe", { path: "S2A_X.SAFE", isMain: true }],
    ["in/S2A_X.SAFE/MTD_MSIL2A.xml", { path: "in/S2A_X.SAFE", isMain: true }],
    ["in/S2A_X.SAFE/GRANULE/L2A_1/MTD_TL.xml", { path: "in/S2A_X.SAFE", isMain: false }],
    ["in/S2A_X.SAFE/GRANULE/L2A_1/IMG_DATA/B04.jp2", undefined],
    [`in/${SAFE_NAME}/MTD_MSIL2A.xml`, { path: `in/${SAFE_NAME}`, isMain: true }],
    [`${SAFE_NAME}/GRANULE/L2A_1/MTD_TL.xml`, { path: SAFE_NAME, isMain: false }],
    ["in/some-name/MTD_MSIL2A.xml", { path: "in/some-name/MTD_MSIL2A.xml", isMain: true }],
    ["in/S2B_MSIL2A_x.zarr/.zmetadata", { path: "in/S2B_MSIL2A_x.zarr", isMain: true }],
    ["in/S2B_MSIL2A_x.zarr/measurements/zarr.json", undefined],
    ["in/S2B_MSIL2A_x.zarr/measurements/b02/0.0", undefined],
    ["in/other.zarr/zarr.json", undefined],
    ["in/MOD09A1.A2022033.h19v10.061.1.hdf.xml", { path: "in/MOD09A1.A2022033.h19v10.061.1.hdf.xml", isMain: true }],
    ["in/MOD09A1.A2022033.h19v10.061.1.hdf", undefined],
    ["in/other.hdf.xml", undefined],
    ["LC08_1/LC08_1_MTL.txt", { path: "LC08_1/LC08_1_MTL.txt", isMain: true }],
    ["LC08_1/LC08_1_MTL.xml", { path: "LC08_1/LC08_1_MTL.xml", isMain: true }],
    ["LC08_1/LC08_1_SR_B4.TIF", undefined],
    ["in/LC08_L1TP_197018_20200101_20200113_01_T1_B4.TIF", undefined],
    ["in/LC08_L1TP_197018_20200101_20200113_01_T1_BQA.TIF", undefined],
    ["in/LE07_L2SP_021030_20100109_20200911_02_T1_SR_stac.json", undefined],
    ["in/LC81970182015146LGN00_B4.TIF", undefined],
    ["in/kempen_srtm.tif", { path: "in/kempen_srtm.tif", isMain: true }],
    ["in/cog_stats.tif", { path: "in/cog_stats.tif", isMain: true }],
    ["in/LC08_mosaic_20200101.TIF", { path: "in/LC08_mosaic_20200101.TIF", isMain: true }],
  ];
  for (const [key, expected] of cases) {
    assert.deepEqual(toSceneKey(key), expected, key);
  }
});
