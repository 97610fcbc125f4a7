import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { findFreePort, waitUntil } from "@swath/testing";

import { makeItem, startDocuments, startFixture } from "./fixture.ts";

// A provider's offering, served by a stand-in: its OpenSearch and STAC API, and the object storage of its data network.
const PRODUCTS = join(import.meta.dirname, "../../../libs/products/test/data");
const NAME = "S2A_MSIL2A_20230625T234621_N0509_R073_T01WCP_20230626T022157.SAFE";
const FILES = new Map(
  readdirSync(join(PRODUCTS, NAME), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".xml"))
    .map((path) => [path, readFileSync(join(PRODUCTS, NAME, path), "utf8")]),
);
const COUNT = 120;
const STAC_COUNT = 4000;
const PAGE = 500;
/** Products that differ in their time of processing. */
const nameOf = (number: number): string => NAME.replace("T022157", `T${String(100_000 + number)}`);

const provider = await startDocuments((path) => {
  const url = new URL(path, "http://localhost");
  const { pathname, searchParams } = url;
  if (pathname.endsWith("/describe.xml")) {
    const [, collection] = /([^/]+)\/describe\.xml$/.exec(pathname) ?? [];
    return `<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><Url type="application/json"
      template="/search/${collection}?maxRecords={count?}&amp;page={startPage?}&amp;startDate={time:start?}&amp;completionDate={time:end?}&amp;box={geo:box?}&amp;productType={eo:productType?}"/></OpenSearchDescription>`;
  }
  if (pathname === "/search/Sentinel2") {
    assert.equal(searchParams.get("box"), "14.9,47.7,16.4,48.7");
    return page(url, COUNT, 50, (number) => ({
      type: "Feature",
      id: `u-${number}`,
      geometry: { type: "Point", coordinates: [15, 48] },
      properties: {
        startDate: "2023-06-25T23:46:21Z",
        completionDate: "2023-06-25T23:46:21Z",
        productIdentifier: `/eodata/Sentinel-2/${nameOf(number)}`,
      },
    }));
  }
  if (pathname.startsWith("/search/")) {
    assert.ok(pathname !== "/search/Sentinel1" || /^(GRD|SLC)$/.test(searchParams.get("productType") ?? ""));
    return page(url, 0, 50, () => ({}));
  }
  if (pathname === "/stac/search") {
    const isSentinel2 = searchParams.get("collections") === "sentinel-2-l2a";
    return page(url, isSentinel2 ? STAC_COUNT : 0, PAGE, (number) =>
      makeItem(`offered-${number}`, {
        collection: "offered",
        assets: { data: { href: `s3://eodata/Sentinel-2/${number}.tif` } },
      }),
    );
  }
  if (pathname === "/eodata") {
    const prefix = searchParams.get("prefix") ?? "";
    const [, name] = /^Sentinel-2\/([^/]+)\//.exec(prefix) ?? [];
    const keys = name === undefined ? [] : [...FILES.keys()].map((file) => `Sentinel-2/${name}/${file}`);
    return `<ListBucketResult>${keys.map((key) => `<Contents><Key>${key}</Key><ETag>1</ETag><Size>1</Size></Contents>`).join("")}<IsTruncated>false</IsTruncated></ListBucketResult>`;
  }
  const [, name = "", file = ""] = /^\/eodata\/Sentinel-2\/([^/]+)\/(.+)$/.exec(decodeURIComponent(pathname)) ?? [];
  return FILES.get(file)?.replaceAll(NAME.replace(".SAFE", ""), name.replace(".SAFE", ""));
});

function page(url: URL, count: number, size: number, make: (number: number) => object): object {
  const at = Number(url.searchParams.get("page") ?? 1);
  const numbers = Array.from(
    { length: Math.max(0, Math.min(size, count - (at - 1) * size)) },
    (_, i) => (at - 1) * size + i,
  );
  const next = new URL(url);
  next.searchParams.set("page", String(at + 1));
  return {
    type: "FeatureCollection",
    properties: {},
    features: numbers.map(make),
    links: at * size < count ? [{ rel: "next", href: next.pathname + next.search }] : [],
  };
}

const OFFERING = {
  CLOUDDATA: "true",
  CLOUDDATA_CATALOGUE_URL: `${provider.url}/resto/`,
  CLOUDDATA_AREA: "14.9,47.7,16.4,48.7",
  CLOUDDATA_TIME: "2022-08-30T00:00:00Z/..",
  CLOUDDATA_S3_ENDPOINT: provider.url,
  CLOUDDATA_S3_ACCESS_KEY: "test",
  CLOUDDATA_S3_SECRET_KEY: "test",
};
const fixture = await startFixture(OFFERING);
after(async () => {
  await fixture.close();
  provider.close();
});
const { send, callCatalogue } = fixture;

interface Shown {
  readonly name: string;
  readonly last_run: {
    readonly id: string;
    readonly state: string;
    readonly reason: string | null;
    readonly result: object;
  } | null;
}
const harvesterOf = async (name: string): Promise<Shown | undefined> =>
  (await send("GET", "/harvesters")).body.harvesters.find((each: Shown) => each.name === name);
const countOf = async (collection: string): Promise<number> =>
  (await callCatalogue(`/stac/search?collections=${collection}&limit=1`)).body.numberMatched;

test("the offering is harvested as the deployment says, products read from the provider's storage", async () => {
  const names = await waitUntil("the harvesters", async () => {
    const { harvesters } = (await send("GET", "/harvesters")).body;
    return harvesters.length === 5 && harvesters.map(({ name }: Shown) => name);
  });
  assert.deepEqual(names, [
    "CLOUDDATA-Landsat8",
    "CLOUDDATA-Sentinel1-GRD",
    "CLOUDDATA-Sentinel1-SLC",
    "CLOUDDATA-Sentinel2",
    "CLOUDDATA-Sentinel3",
  ]);
  const done = await waitUntil("the harvest", async () => {
    const run = (await harvesterOf("CLOUDDATA-Sentinel2"))?.last_run;
    return run !== null && run !== undefined && !["queued", "running"].includes(run.state) && run;
  });
  assert.equal(done.state, "done", JSON.stringify(done));
  assert.equal(await countOf("sentinel-2-l2a"), COUNT, JSON.stringify(done));
  const collection = await waitUntil("the collection", async () => {
    const { body } = await callCatalogue("/stac/collections/sentinel-2-l2a");
    return body.title === "Sentinel-2 Level-2A" && body;
  });
  assert.equal(collection.providers.length, 2);
});

test("a STAC API serves as well; another start with the same settings changes nothing", async () => {
  await fixture.kill("worker");
  const settings = { CLOUDDATA_CATALOGUE_TYPE: "STACAPI", CLOUDDATA_CATALOGUE_URL: `${provider.url}/stac` };
  await fixture.start("worker", settings);
  await fixture.query("update registration.task set lease_until = now() where state = 'running'");
  await waitUntil("the items", async () => (await countOf("offered")) === STAC_COUNT);
  const before = await waitUntil("the end of the run", async () => {
    const run = (await harvesterOf("CLOUDDATA-Sentinel2"))?.last_run;
    return run?.state === "done" && run.id;
  });
  await fixture.kill("worker");
  await fixture.start("worker", settings);
  // The worker is at work again.
  await fixture.register("/register-json", makeItem("mark", { assets: {} }));
  assert.equal((await harvesterOf("CLOUDDATA-Sentinel2"))?.last_run?.id, before);
});

test("outside of the provider's cloud it says so; switched off, there are no harvesters of it", async () => {
  await fixture.kill("worker");
  await fixture.start("worker", { CLOUDDATA_S3_ENDPOINT: `http://127.0.0.1:${await findFreePort()}` });
  await fixture.query("update registration.task set lease_until = now() where state = 'running'");
  const reason = await waitUntil("the reason", async () => {
    const found = (await harvesterOf("CLOUDDATA-Sentinel2"))?.last_run?.reason;
    return found?.includes("data network") === true && found;
  });
  assert.match(reason, /works only inside that provider's cloud.*CLOUDDATA_S3_ENDPOINT/);
  // Mended: what waits for its next attempt goes on when the worker starts, however long it would have waited.
  await fixture.kill("worker");
  await fixture.query("update registration.task set lease_until = now() where state = 'running'");
  const waiting =
    "kind = 'harvest' and payload->>'harvester' = 'CLOUDDATA-Sentinel2' and state in ('queued', 'running')";
  await fixture.query(
    `update registration.task set state = 'queued', lease = null, lease_until = null, due_at = now() + interval '1 hour' where ${waiting}`,
  );
  await fixture.start("worker");
  await waitUntil(
    "the end of the run",
    async () => (await harvesterOf("CLOUDDATA-Sentinel2"))?.last_run?.state === "done",
  );
  await fixture.kill("worker");
  await fixture.start("worker", { CLOUDDATA: "false" });
  await waitUntil("no harvesters", async () => (await send("GET", "/harvesters")).body.harvesters.length === 0);
});
