import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { startTestServer } from "@swath/postgres/server";
import { findFreePorts } from "@swath/testing";
import pg from "pg";

import { PROCESS_ENVIRONMENT } from "../components/resource-catalogue/process-environment.ts";
import { makeSceneLines } from "./catalogue/scenes.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const root = join(import.meta.dirname, "..");
/** `--collections=1` has all items in one, which makes it the more partitions. */
const COLLECTIONS = Number(/--collections=(\d+)/.exec(process.argv.join(" "))?.[1] ?? 20);
/** Items of one request. */
const LOADED_AT_ONCE = 100_000;
/** `--items=10000000` measures the same searches on more items, in requests of 100,000. */
const ITEMS = Number(/--items=(\d+)/.exec(process.argv.join(" "))?.[1] ?? 50_000);
/** `--keep=<folder>` keeps the database there, and uses one that is there already: loaded once, it is measured when the machine is quiet. */
const KEEP = /--keep=(\S+)/.exec(process.argv.join(" "))?.[1];
/** Loads and measures nothing else; for `--keep`. */
const LOADS_ONLY = process.argv.includes("--load-only");
const PAGED = Math.min(ITEMS, 100_000);

/** The catalogue over HTTP: loading, searching, paging, many clients at once, memory. */
export async function bench(): Promise<BenchRow[]> {
  const postgres = await startTestServer({ keep: KEEP === undefined ? undefined : resolve(KEEP) });
  const [port = 0] = await findFreePorts(1);
  const base = `http://127.0.0.1:${port}`;
  let service = startService(postgres.url, base);
  try {
    await waitFor(`${base}/healthz`);
    // Again, as in the images of the platform: what is compiled once is not compiled at every start.
    await stop(service);
    service = startService(postgres.url, base);
    await waitFor(`${base}/healthz`);
    await sleep(1000);
    const idle = memoryOf(service);
    const client = createClient(base);
    const rows = await measureLoading(client);
    if (!LOADS_ONLY) {
      rows.push(
        ...(await measureWriting(client, postgres.url)),
        ...(await measureSearches(client)),
        ...(await measureClients(base)),
      );
    }
    client.close();
    return [
      ...rows,
      { name: "catalogue: memory, idle", value: idle, unit: "MiB", aim: "≤ 110 MB" },
      {
        name: "catalogue: memory, peak of all the above",
        value: memoryOf(service, "VmHWM"),
        unit: "MiB",
        aim: "≤ 300 MB",
      },
    ];
  } finally {
    service.kill("SIGKILL");
    await postgres.close();
  }
}

function startService(databaseUrl: string, base: string): ChildProcess {
  return spawn(process.execPath, [join(root, "components/resource-catalogue/main.ts")], {
    env: {
      ...PROCESS_ENVIRONMENT,
      NODE_COMPILE_CACHE: join(tmpdir(), "swath-bench-compiled"),
      LOG_LEVEL: "error",
      DATABASE_URL: databaseUrl,
      PUBLIC_URL: base,
      AUTHENTICATION: "optional",
      LISTEN: new URL(base).host,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Ends a service in its own way, which keeps what it has compiled. */
async function stop(service: ChildProcess): Promise<void> {
  const ended = once(service, "exit");
  service.kill("SIGTERM");
  await ended;
}

interface Client {
  readonly send: (
    method: string,
    path: string,
    body?: string | Readable,
    type?: string,
  ) => Promise<{ status: number; text: string }>;
  readonly close: () => void;
}

/** Loads what is not there yet. */
async function measureLoading(client: Client): Promise<BenchRow[]> {
  const each = Math.ceil(ITEMS / COLLECTIONS);
  const missing: number[] = [];
  for (let index = 0; index < COLLECTIONS; index += 1) {
    if (await isLoaded(client, `c${index}`, Math.min(each, ITEMS - index * each))) {
      continue;
    }
    missing.push(index);
    const { status } = await client.send("POST", "/stac/collections", JSON.stringify(makeCollection(`c${index}`)));
    if (status !== 201 && status !== 409) {
      throw new Error(`status ${status} for a new collection`);
    }
  }
  if (missing.length === 0) {
    return [];
  }
  const started = performance.now();
  for (const index of missing) {
    const all = Math.min(each, ITEMS - index * each);
    for (let firstId = 0; firstId < all; firstId += LOADED_AT_ONCE) {
      const count = Math.min(LOADED_AT_ONCE, all - firstId);
      const lines = Readable.from(makeSceneLines({ from: index * each + firstId, count, firstId }));
      await expectStatus(
        201,
        client.send("POST", `/stac/collections/c${index}/items.ndjson`, lines, "application/x-ndjson"),
      );
    }
  }
  const seconds = (performance.now() - started) / 1000;
  const loaded = missing.reduce((sum, index) => sum + Math.min(each, ITEMS - index * each), 0);
  return [
    {
      name: `catalogue: ${loaded.toLocaleString("en")} items loaded, validated`,
      value: loaded / seconds,
      unit: "items/s",
      aim: "≥ 10,000 /s",
    },
  ];
}

/** Whether a collection has its items from before. @throws {Error} where it has more */
async function isLoaded(client: Client, collection: string, count: number): Promise<boolean> {
  const has = async (scene: number): Promise<boolean> =>
    (await client.send("GET", `/stac/collections/${collection}/items/scene-${scene}`)).status === 200;
  if (await has(count)) {
    throw new Error(`${collection} has more than ${count} items: what is kept was made with another --items`);
  }
  return has(count - 1);
}

async function measureWriting(client: Client, databaseUrl: string): Promise<BenchRow[]> {
  const bare = await measureBareCommits(databaseUrl);
  const singles = await measureSingles(client, 1);
  const parallel = await measureSingles(client, 16);
  return [
    {
      name: "catalogue: single POSTs, validated, one client",
      value: singles,
      unit: "items/s",
      aim: "≥ 1,000 /s",
      peer: { name: "INSERT of a row of this size and commit, one connection", value: bare },
      ratio: singles / bare,
      note: "each waits for the disk",
    },
    { name: "catalogue: single POSTs, validated, 16 clients", value: parallel, unit: "items/s", aim: "≥ 1,000 /s" },
  ];
}

/** What the disk allows one client that waits for each commit. */
async function measureBareCommits(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("drop table if exists bare");
  await client.query("create table bare (n int primary key, doc text)");
  const doc = [...makeSceneLines({ from: 0, count: 1 })].join("");
  const started = performance.now();
  let count = 0;
  while (performance.now() - started < 3000) {
    count += 1;
    await client.query({ name: "bare", text: "insert into bare values ($1, $2)", values: [count, doc] });
  }
  const perSecond = (count / (performance.now() - started)) * 1000;
  await client.query("drop table bare");
  await client.end();
  return perSecond;
}

/** Other ids than those of runs before on what is kept. */
let made = KEEP === undefined ? 0 : Date.now() % 1_000_000_000;

async function measureSingles(client: Client, clients: number): Promise<number> {
  const until = performance.now() + 4000;
  const started = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < until) {
        made += 1;
        const [line = ""] = [...makeSceneLines({ from: 50_000_000 + made, count: 1 })];
        await expectStatus(201, client.send("POST", `/stac/collections/c${made % COLLECTIONS}/items`, line));
        count += 1;
      }
    }),
  );
  return (count / (performance.now() - started)) * 1000;
}

async function measureSearches(client: Client): Promise<BenchRow[]> {
  const search = (body: object) => async () =>
    expectStatus(200, client.send("POST", "/stac/search", JSON.stringify(body)));
  let turn = 0;
  const vary = <T>(make: (turn: number) => T): T => make((turn += 1));
  const many = ITEMS >= 1_000_000;
  const place = (size: number) =>
    vary((n) => [
      ((n * 37) % 280) - 150,
      ((n * 17) % 80) - 50,
      ((n * 37) % 280) - 150 + size,
      ((n * 17) % 80) - 50 + size,
    ]);
  const combined = () =>
    search({
      bbox: place(many ? 10 : 40),
      collections: [`c${turn % COLLECTIONS}`],
      datetime: "2020-01-01T00:00:00Z/2021-12-31T23:59:59Z",
      filter: { op: "<", args: [{ property: "eo:cloud_cover" }, 50] },
      limit: 100,
    })();
  const rows: BenchRow[] = [];
  const add = async (name: string, aim: string, work: () => Promise<unknown>, times = 200): Promise<void> => {
    rows.push({ name: `catalogue: ${name}`, value: await medianMilliseconds(times, work), unit: "ms", aim });
  };
  await add("bbox + collection + time + cloud, limit 100", many ? "≤ 12 ms" : "≤ 4 ms", combined);
  await add("item by id", "≤ 1.5 ms", () =>
    vary((n) =>
      expectStatus(
        200,
        client.send("GET", `/stac/collections/c0/items/scene-${(n * 7) % Math.floor(ITEMS / COLLECTIONS)}`),
      ),
    ),
  );
  await add("latest 10", "≤ 2 ms", search({ limit: 10, sortby: [{ field: "datetime", direction: "desc" }] }));
  await add("latest 10 of a collection", "≤ 2 ms", () =>
    search({ limit: 10, collections: [`c${(turn += 1) % COLLECTIONS}`] })(),
  );
  await add("bbox only, limit 10", "", () => search({ bbox: place(20), limit: 10 })());
  await add("free text, a rare word", "≤ 10 ms", () => search({ q: [`tile${vary((n) => n % 1000)}`], limit: 10 })());
  await add("free text, a common word", "≤ 10 ms", search({ q: ["sentinel"], limit: 10 }));
  await add(
    "sorted by cloud cover, limit 10",
    "",
    search({ sortby: [{ field: "eo:cloud_cover", direction: "asc" }], limit: 10, collections: ["c1"] }),
  );
  await add("CSW GetRecords brief 10", "≤ 8 ms", () =>
    vary((n) =>
      expectStatus(
        200,
        client.send(
          "GET",
          `/csw?service=CSW&version=2.0.2&request=GetRecords&typeNames=csw:Record&resultType=results&ElementSetName=brief&maxRecords=10&startPosition=${(n % 5) * 10 + 1}`,
        ),
      ),
    ),
  );
  await add("CSW GetCapabilities", "≤ 4 ms", () =>
    expectStatus(200, client.send("GET", "/csw?service=CSW&version=2.0.2&request=GetCapabilities")),
  );
  rows.push(await measurePaging(client));
  return rows;
}

async function measurePaging(client: Client): Promise<BenchRow> {
  const started = performance.now();
  let seen = 0;
  let body: object | undefined = { limit: 1000 };
  while (body !== undefined && seen < PAGED) {
    const page: { features: unknown[]; links: { rel: string; body?: object }[] } = JSON.parse(
      await expectStatus(200, client.send("POST", "/stac/search", JSON.stringify(body))),
    ) as { features: unknown[]; links: { rel: string; body?: object }[] };
    seen += page.features.length;
    body = page.links.find(({ rel }) => rel === "next")?.body;
  }
  const seconds = (performance.now() - started) / 1000;
  return {
    name: "catalogue: 100,000 items paged by 1,000",
    value: (seconds / seen) * 100_000,
    unit: "s",
    aim: "≤ 8 s",
    note: `measured on ${seen.toLocaleString("en")}; the client's JSON.parse is part of it`,
  };
}

async function measureClients(base: string): Promise<BenchRow[]> {
  const client = createClient(base);
  const until = performance.now() + 6000;
  const started = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: 16 }, async (_, worker) => {
      for (let turn = worker; performance.now() < until; turn += 16) {
        const [west, south] = [((turn * 37) % 280) - 150, ((turn * 17) % 80) - 50];
        const query = `bbox=${west},${south},${west + 20},${south + 20}&collections=c${turn % COLLECTIONS}&limit=10`;
        await expectStatus(200, client.send("GET", `/stac/search?${query}`));
        count += 1;
      }
    }),
  );
  client.close();
  return [
    {
      name: "catalogue: 16 clients searching by bbox and collection, limit 10",
      value: (count / (performance.now() - started)) * 1000,
      unit: "requests/s",
      aim: "≥ 1,500 /s",
      note: "the clients share the machine's cores",
    },
  ];
}

async function medianMilliseconds(times: number, work: () => Promise<unknown>): Promise<number> {
  for (let warm = 0; warm < 20; warm += 1) {
    await work();
  }
  const measured: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const started = performance.now();
    await work();
    measured.push(performance.now() - started);
  }
  return median(measured);
}

async function expectStatus(expected: number, sent: Promise<{ status: number; text: string }>): Promise<string> {
  const { status, text } = await sent;
  if (status !== expected) {
    throw new Error(`status ${status} instead of ${expected}: ${text.slice(0, 500)}`);
  }
  return text;
}

/** Keeps connections, and does no more than it must. */
function createClient(base: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    send: (method, path, body, type = "application/json") =>
      new Promise((resolve, reject) => {
        const headers =
          body === undefined
            ? {}
            : { "content-type": type, ...(typeof body === "string" && { "content-length": Buffer.byteLength(body) }) };
        const request = httpRequest(`${base}${path}`, { method, agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          );
          response.on("error", reject);
        });
        request.on("error", reject);
        if (body instanceof Readable) {
          body.pipe(request);
        } else {
          request.end(body);
        }
      }),
    close: () => agent.destroy(),
  };
}

function makeCollection(id: string): object {
  return {
    type: "Collection",
    stac_version: "1.1.0",
    id,
    description: `Scenes ${id}`,
    license: "other",
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [["2015-01-01T00:00:00Z", null]] } },
    links: [],
  };
}

async function waitFor(url: string): Promise<void> {
  // What is kept may be brought up to date first.
  for (let attempt = 0; attempt < 6000; attempt += 1) {
    if ((await fetch(url).catch(() => undefined))?.ok === true) {
      return;
    }
    await sleep(50);
  }
  throw new Error(`${url} does not respond`);
}

function memoryOf({ pid }: ChildProcess, field: "VmRSS" | "VmHWM" = "VmRSS"): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid ?? 0}/status`, "utf8"))?.[1]) / 1024;
}
