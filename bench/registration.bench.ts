import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { findFreePort } from "@swath/testing";

import {
  BUCKET,
  type Fixture,
  example,
  makeCollection,
  makeItem,
  startFixture,
} from "../components/registration-api/test/fixture.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const root = join(import.meta.dirname, "..");
/** `--items=1000000` harvests as many, and measures nothing else. */
const WANTED = /--items=(\d+)/.exec(process.argv.join(" "))?.[1];
const ITEMS = Number(WANTED ?? 100_000);
const PAGE = 1000;
const ROUNDS = 15;
const WATCHED = 5;
const SAFE = "S2A_MSIL2A_20230625T234621_N0509_R073_T01WCP_20230626T022157.SAFE";
const PRODUCT = join(root, "libs/products/test/data", SAFE);

/** From a request to what is found and seen; a harvest of a hundred thousand items; a watched bucket; a product of an agency. */
export async function bench(): Promise<BenchRow[]> {
  const fixture = await startFixture();
  const children: ChildProcess[] = [];
  const folder = mkdtempSync(join(tmpdir(), "swath-bench-"));
  try {
    if (WANTED !== undefined) {
      return await measureHarvest(fixture);
    }
    const dataAccess = await startDataAccess(fixture, children);
    return [
      ...(await measureRegister(fixture, dataAccess)),
      await measureProduct(fixture),
      ...(await measureWatch(fixture, folder)),
      ...(await measureHarvest(fixture)),
    ];
  } finally {
    children.forEach((child) => child.kill("SIGKILL"));
    await fixture.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startDataAccess(fixture: Fixture, children: ChildProcess[]): Promise<string> {
  const address = `127.0.0.1:${await findFreePort()}`;
  children.push(
    spawn(process.execPath, [join(root, "components/data-access/main.ts")], {
      env: {
        LOG_LEVEL: "error",
        LISTEN: address,
        CATALOGUE_URL: fixture.catalogueUrl,
        CATALOGUE_PUBLIC_URL: "http://resource-catalogue.localhost",
        OBJSTORE_URL: fixture.objstoreUrl,
        OBJSTORE_PUBLIC_URL: fixture.objstoreUrl,
        OBJSTORE_ROOT_USER: fixture.rootKey.accessKeyId,
        OBJSTORE_ROOT_PASSWORD: fixture.rootKey.secretAccessKey,
        READABLE_BUCKETS: BUCKET,
      },
      stdio: ["ignore", "ignore", "inherit"],
    }),
  );
  await until(async () => (await fetch(`http://${address}/collections`)).ok);
  return `http://${address}`;
}

/** A scene that is registered alone: until the catalogue finds it, and until data access draws it. */
async function measureRegister(fixture: Fixture, dataAccess: string): Promise<BenchRow[]> {
  const [found, seen]: number[][] = [[], []];
  await fixture.register("/register-collection", makeCollection("bench"));
  for (let round = 0; round < ROUNDS + 3; round += 1) {
    const name = `scene${round}_20240101`;
    await fixture.put(`bench/${name}.tif`, example("scenes/lommel/B04.tif"));
    const started = performance.now();
    await fixture.send("POST", "/register", {
      type: "stac-item",
      url: `s3://${BUCKET}/bench/${name}.tif`,
      parent_identifier: "bench",
    });
    const item = await until(async () => {
      const response = await fixture.callCatalogue(`/stac/collections/bench/items/${name}`);
      return response.status === 200 && (response.body as { readonly bbox: readonly number[] });
    });
    const searchable = performance.now() - started;
    await until(async () => {
      const query = `bbox=${item.bbox.join(",")}&width=256&height=256&f=png`;
      const response = await fetch(`${dataAccess}/collections/bench__${name}/map?${query}`);
      await response.arrayBuffer();
      return response.ok;
    });
    // The first ones start what the others find running.
    if (round >= 3) {
      found?.push(searchable);
      seen?.push(performance.now() - started);
    }
  }
  return [
    { name: "POST /register of a GeoTIFF to searchable", value: median(found ?? []), unit: "ms", aim: "≤ 150 ms" },
    {
      name: "POST /register of a GeoTIFF to its first picture",
      value: median(seen ?? []),
      unit: "ms",
      aim: "≤ 400 ms",
    },
  ];
}

async function measureProduct(fixture: Fixture): Promise<BenchRow> {
  for (const path of readdirSync(PRODUCT, { recursive: true, encoding: "utf8" }).filter((each) =>
    each.endsWith(".xml"),
  )) {
    await fixture.put(`${SAFE}/${path}`, readFileSync(join(PRODUCT, path)));
  }
  const seconds: number[] = [];
  for (let round = 0; round < WATCHED; round += 1) {
    const started = performance.now();
    await fixture.register("/register", { type: "stac-item", url: `s3://${BUCKET}/${SAFE}` });
    seconds.push((performance.now() - started) / 1000);
  }
  return { name: "Sentinel-2 SAFE to valid STAC in the catalogue", value: median(seconds), unit: "s", aim: "≤ 2 s" };
}

/** A scene of 100 MB that is put into a watched bucket; its time begins with the first byte. */
async function measureWatch(fixture: Fixture, folder: string): Promise<BenchRow[]> {
  if (!existsSync("/usr/bin/gdal_translate")) {
    console.error("the watched bucket is not measured: gdal-bin is not installed");
    return [];
  }
  const path = join(folder, "scene.tif");
  execFileSync("/usr/bin/gdal_translate", [
    "-q",
    "-of",
    "COG",
    "-co",
    "COMPRESS=NONE",
    "-outsize",
    "6144",
    "6144",
    join(root, "examples/scenes/lommel/B04.tif"),
    path,
  ]);
  const scene = readFileSync(path);
  await fixture.send("PUT", "/harvesters/watch", {
    resource: { url: `s3://${BUCKET}/watched/`, type: "Bucket" },
    collection: "watched",
  });
  await until(async () => {
    const { body } = await fixture.send("GET", "/harvesters");
    return body.harvesters[0].last_run?.state === "done";
  });
  const seconds: number[] = [];
  for (let round = 0; round < WATCHED; round += 1) {
    const started = performance.now();
    await fixture.put(`watched/scene${round}_20240101.tif`, scene);
    await until(
      async () =>
        (await fixture.callCatalogue(`/stac/collections/watched/items/scene${round}_20240101`)).status === 200,
    );
    seconds.push((performance.now() - started) / 1000);
  }
  return [
    {
      name: "put of a scene into a watched bucket to searchable",
      value: median(seconds),
      unit: "s",
      aim: "≤ 2 s",
      note: `${Math.round(scene.length / 1e6)} MB, with its upload`,
    },
  ];
}

async function measureHarvest(fixture: Fixture): Promise<BenchRow[]> {
  const api = await startStacApi();
  try {
    // A registrar of its own, whose memory no scene has been through.
    await fixture.kill("worker");
    await fixture.start("worker");
    await fixture.send("PUT", "/harvesters/large", {
      resource: { url: `${api.url}/search`, type: "STACAPI", page_size: PAGE },
    });
    const started = performance.now();
    const run = await fixture.send("POST", "/harvesters/large/run");
    const path = new URL(run.headers.get("location") ?? "").pathname;
    const task = await until(async () => {
      const { body } = await fixture.send("GET", path);
      await sleep(250);
      return !["queued", "running"].includes(body.state as string) && body;
    }, 3600);
    const seconds = (performance.now() - started) / 1000;
    if (task.result.registered !== ITEMS) {
      throw new Error(`the harvest brought ${JSON.stringify(task)}`);
    }
    const status = readFileSync(`/proc/${fixture.pidOf("worker") ?? 0}/status`, "utf8");
    const peak = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    return [
      {
        name: `harvest of a STAC API with ${ITEMS} items`,
        value: ITEMS / seconds,
        unit: "items/s",
        aim: "≥ 3000 items/s",
      },
      { name: "memory of the registrar at its highest", value: peak, unit: "MB", aim: "≤ 300 MB" },
    ];
  } finally {
    api.close();
  }
}

/** A STAC API on the loopback interface. Its pages are put together from text, so that it takes little of the machine. */
async function startStacApi(): Promise<{ readonly url: string; readonly close: () => void }> {
  const template = JSON.stringify(makeItem("item-NUMBER", { collection: "large" }));
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const page = Number(url.searchParams.get("page") ?? 0);
    const features = Array.from({ length: PAGE }, (_, index) =>
      template.replace("NUMBER", String(page * PAGE + index)),
    ).join(",");
    url.searchParams.set("page", String(page + 1));
    const isLast = (page + 1) * PAGE >= ITEMS;
    const links = isLast ? [] : [{ rel: "next", href: url.pathname + url.search }];
    response
      .setHeader("content-type", "application/geo+json")
      .end(`{"type":"FeatureCollection","features":[${features}],"links":${JSON.stringify(links)}}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Asks again at once until there is an answer. */
async function until<T>(send: () => Promise<T | false>, seconds = 60): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const response = await send().catch((error: unknown) => {
      if (Date.now() > deadline) {
        throw error;
      }
      return false as const;
    });
    if (response !== false) {
      return response;
    }
    if (Date.now() > deadline) {
      throw new Error(`nothing came within ${seconds} s`);
    }
    await sleep(2);
  }
}
