import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, test } from "node:test";

import { runCommand, waitUntil } from "@swath/testing";

import { BUCKET, startDocuments, startFixture } from "./fixture.ts";

// Every scene of the test data by each way in: a request, a watched bucket, a harvester, the command that loads records. What comes of it
// must not depend on the way.
const ROOT = join(import.meta.dirname, "../../..");
const DATA = join(process.env["SWATH_SHARED"] ?? join(ROOT, "../shared"), "data");
const skip = existsSync(join(DATA, "agency")) ? false : `needs scenes below ${DATA}`;
const fixture = await startFixture();
after(fixture.close);
const { send, callCatalogue, put, settle } = fixture;

interface Item {
  readonly id: string;
  readonly geometry: object;
  readonly bbox: readonly number[];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly assets: Readonly<Record<string, { readonly href: string; readonly bands?: unknown }>>;
}

/** Scenes by the path that is registered: folders of SAFE, MTL files, rasters. Those without a place on Earth are no scenes. */
const scenes = skip
  ? []
  : [
      ...globSync("agency/sentinel*/*.SAFE", { cwd: DATA }),
      ...globSync("agency/landsat/*/*_MTL.{txt,xml}", { cwd: DATA }),
      ...globSync("{dem,landsat5-canberra,landsat7-olinda,sentinel1-camargue,sentinel2-lommel}/*.tif", { cwd: DATA }),
      ...globSync("sentinel2-maribor/*/*.tif", { cwd: DATA }),
      ...globSync("rasters/cog*.tif", { cwd: DATA }),
    ].toSorted();
/** Rasters of the same name in different folders need a collection for each folder. */
const collectionOf = (way: string, scene: string): string =>
  `${way}-${(scene.startsWith("agency/") ? "agency" : dirname(scene)).replaceAll("/", "-")}`;
const folders = [...new Set(scenes.map((scene) => (scene.startsWith("agency/") ? "agency" : dirname(scene))))];

async function itemsOf(way: string): Promise<ReadonlyMap<string, Item>> {
  const items = new Map<string, Item>();
  for (const collection of new Set(scenes.map((scene) => collectionOf(way, scene)))) {
    const { status, body } = await callCatalogue(`/stac/search?collections=${collection}&limit=1000`);
    assert.equal(status, 200);
    for (const item of body.features as readonly Item[]) {
      items.set(`${collection.slice(way.length + 1)}/${item.id}`, item);
    }
  }
  return items;
}

/** What an item means wherever its files are, and whenever it was registered. */
function toMeaning({ id, geometry, bbox, properties, assets }: Item): object {
  const { datetime, created: _created, updated: _updated, ...others } = properties;
  return {
    id,
    geometry,
    bbox,
    properties: { ...others, ...(properties["description"] === undefined && { datetime }) },
    assets: Object.fromEntries(
      Object.entries(assets)
        .filter(([, { href }]) => !href.includes("/collections/"))
        .map(([key, asset]) => [key, { ...asset, href: basename(asset.href) }]),
    ),
  };
}

/** A loaded machine takes its time. */
const SECONDS = 240;

let byRequest: ReadonlyMap<string, Item> = new Map();

test("each scene by a request", { skip }, async () => {
  for (const path of readdirSync(DATA, { recursive: true, encoding: "utf8" })) {
    const isPart = scenes.some((scene) => path === scene || path.startsWith(`${scene}/`)) || path.endsWith("_ANG.txt");
    if (isPart && !path.includes("/QI_DATA/") && statSync(join(DATA, path)).isFile()) {
      await put(`data/${path}`, readFileSync(join(DATA, path)));
    }
  }
  const locations = new Map<string, string>();
  for (const scene of scenes) {
    const { headers } = await send("POST", "/register", {
      type: "STAC-item",
      url: `s3://${BUCKET}/data/${scene}`,
      parent_identifier: collectionOf("request", scene),
    });
    locations.set(scene, headers.get("location") ?? "");
  }
  for (const [scene, location] of locations) {
    const { body } = await settle(location);
    assert.equal(body.state, "done", `${scene}: ${JSON.stringify(body)}`);
  }
  byRequest = await itemsOf("request");
  // The same product by its MTL as text and as XML is one item.
  const ids = new Set(scenes.map((scene) => scene.replace(/_MTL\.(?:txt|xml)$/, "")));
  assert.equal(byRequest.size, ids.size);
  for (const [name, { bbox }] of byRequest) {
    const [, south = 0, , north = 0] = bbox;
    assert.ok(south >= -90 && north <= 90 && south < north, `${name}: ${bbox.join()}`);
  }
});

test("each scene by a watched bucket", { skip }, async () => {
  for (const folder of folders) {
    const name = `watch-${folder.replaceAll("/", "-")}`;
    const resource = { url: `s3://${BUCKET}/watched/${folder}/`, type: "Bucket" };
    await send("PUT", `/harvesters/${name}`, { resource, collection: name });
    const { headers } = await send("POST", `/harvesters/${name}/run`);
    assert.equal((await settle(headers.get("location") ?? "")).body.state, "done");
  }
  for (const path of readdirSync(DATA, { recursive: true, encoding: "utf8" })) {
    const isPart = scenes.some((scene) => path === scene || path.startsWith(`${scene}/`)) || path.endsWith("_ANG.txt");
    if (isPart && !path.includes("/QI_DATA/") && statSync(join(DATA, path)).isFile()) {
      await put(`watched/${path}`, readFileSync(join(DATA, path)));
    }
  }
  await compare("watch");
});

test("each scene by a harvester of an archive", { skip }, async (t) => {
  const archive = await startDocuments((url) => {
    const path = join(DATA, decodeURIComponent(url));
    if (!existsSync(path)) {
      return undefined;
    }
    if (!statSync(path).isDirectory()) {
      return readFileSync(path);
    }
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.name.endsWith(".json"))
      .map((entry) => `<a href="${entry.name}${entry.isDirectory() ? "/" : ""}">${entry.name}</a>`)
      .join("\n");
  });
  t.after(archive.close);
  for (const folder of folders) {
    const name = `archive-${folder.replaceAll("/", "-")}`;
    await send("PUT", `/harvesters/${name}`, {
      resource: { url: `${archive.url}/${folder}`, type: "OADS" },
      collection: name,
    });
    const { headers } = await send("POST", `/harvesters/${name}/run`);
    const { body } = await settle(headers.get("location") ?? "");
    assert.equal(body.state, "done", `${folder}: ${JSON.stringify(body)}`);
  }
  await compare("archive");
});

/** Waits for every scene, and compares what they mean with what they mean by a request. */
async function compare(way: string): Promise<void> {
  let missing: readonly string[] = [];
  const hasAll = async (): Promise<boolean> => {
    const items = await itemsOf(way).catch(() => new Map<string, Item>());
    missing = [...byRequest.keys()].filter((name) => !items.has(name));
    return missing.length === 0;
  };
  await waitUntil(`the scenes by ${way}`, hasAll, SECONDS).catch(() => {});
  assert.deepEqual(missing, []);
  // The last files complete products that were there before.
  await waitUntil(
    "the end of all tasks",
    async () => {
      const [queued, running] = await Promise.all(
        ["queued", "running"].map(async (state) => (await send("GET", `/tasks?state=${state}`)).body.tasks.length),
      );
      return queued === 0 && running === 0;
    },
    SECONDS,
  );
  const items = await itemsOf(way);
  for (const [name, item] of byRequest) {
    const found = items.get(name) as Item;
    // Without a list, a web server's product is taken to have all files that its manifest names; the test data have no pixels.
    const assets = Object.fromEntries(Object.entries(found.assets).filter(([key]) => item.assets[key] !== undefined));
    assert.deepEqual(toMeaning({ ...found, assets }), toMeaning(item), name);
  }
}

test("each record by a static catalogue, and by the command that loads records", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ways-in-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const sources = globSync("stac/*/*", { cwd: DATA }).filter((path) => existsSync(join(DATA, path, "items")));
  assert.equal(sources.length, 4);
  const documents = await startDocuments((url) => {
    const [path, name] = [decodeURIComponent(url).slice(1), basename(url)];
    if (name !== "catalog.json") {
      return JSON.parse(readFileSync(join(DATA, path), "utf8")) as unknown;
    }
    return {
      type: "Catalog",
      stac_version: "1.0.0",
      id: "all",
      description: "All",
      links: globSync("**/items/**/*.json", { cwd: join(DATA, dirname(path)) }).map((item) => ({
        rel: "item",
        href: `./${item}`,
      })),
    };
  });
  t.after(documents.close);
  for (const [index, source] of sources.entries()) {
    const files = globSync("items/**/*.json", { cwd: join(DATA, source) });
    const name = `catalog-${index}`;
    await send("PUT", `/harvesters/${name}`, {
      resource: { url: `${documents.url}/${source}/catalog.json`, type: "STACCatalog" },
      collection: name,
    });
    const { headers } = await send("POST", `/harvesters/${name}/run`);
    const { body } = await settle(headers.get("location") ?? "");
    assert.equal(body.state, "done", JSON.stringify(body));
    assert.deepEqual([body.result.registered, body.result.failed], [files.length, 0], source);

    // Two sources have the same ids in collections of the same name: one after another, each replaces what the other brought.
    const records = join(folder, String(index));
    mkdirSync(records);
    files.forEach((file) => cpSync(join(DATA, source, file), join(records, basename(file))));
    const loaded = await runCommand(join(ROOT, "deploy/bin/load-records"), [records, "--api", fixture.apiUrl], {
      env: { PATH: process.env["PATH"], HOME: folder, SWATH_CLUSTER: "none" },
    });
    assert.equal(
      loaded.stdout,
      `${files.length} of ${files.length} records registered\n`,
      loaded.stderr.slice(0, 2000),
    );
    const harvested = (await callCatalogue(`/stac/search?collections=${name}&limit=1000`)).body
      .features as readonly Item[];
    for (const item of harvested) {
      const { body: found } = await callCatalogue(`/stac/search?ids=${encodeURIComponent(item.id)}`);
      const [twin] = (found.features as readonly (Item & { collection: string })[]).filter(
        ({ collection }) => !collection.startsWith("catalog-"),
      );
      assert.deepEqual(twin?.properties, item.properties, item.id);
      assert.deepEqual(twin?.geometry, item.geometry, item.id);
    }
  }
});
