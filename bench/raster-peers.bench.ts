// Data access as a service beside MapServer, TiTiler and nginx: the same tiles of the same file over HTTP, in one run; what it keeps in
// memory under random tiles of many files, for a minute, for 30 with --full, or for --memory-seconds=<n>.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findFreePorts } from "@swath/testing";

import { median } from "./median.ts";
import { readPss } from "./pss.ts";
import { makeScene } from "./raster-scene.ts";
import { type Tile, type TileServer, startDataAccess, startNginx, startTitiler } from "./raster-services.ts";
import type { BenchRow } from "./types.ts";

const WRK = "/usr/bin/wrk";
const FILES = 50;
const CLIENTS = 8;
const ROUNDS = 3;
const MEMORY_SECONDS = readSeconds() ?? (process.argv.includes("--full") ? 1800 : 60);
/** By then the caches of decoded blocks, of pictures (about 2,700 of them) and of responses (5,000) are full. */
const WARM_TILES = 6000;
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

/** Tiles at about the resolution of the scene, and at a quarter of it. */
const TILES: readonly Tile[] = [
  ...Array.from({ length: 16 }, (_, at) => ({ z: 12, x: 2219 + (at % 4), y: 1447 + Math.floor(at / 4) })),
  ...Array.from({ length: 4 }, (_, at) => ({ z: 13, x: 4440 + (at % 2), y: 2896 + Math.floor(at / 2) })),
];

/** Needs Debian's gdal-bin; nginx, wrk and cgi-mapserver, and TITILER_PYTHON for peers. */
export async function bench(): Promise<BenchRow[]> {
  if (spawnSync("gdalinfo", ["--version"]).status !== 0) {
    throw new Error("GDAL's programs make the files: install gdal-bin");
  }
  const folder = mkdtempSync(join(tmpdir(), "swath-bench-"));
  const closing: (() => Promise<void>)[] = [];
  const keep = <T extends { readonly close: () => Promise<void> }>(server: T): T => {
    closing.unshift(server.close);
    return server;
  };
  try {
    const scene = makeScene(folder);
    const layers = join(folder, "layers");
    mkdirSync(layers);
    addItem(layers, "scene", scene);
    const [own = 0, cached = 0, nginxPort = 0, titilerPort = 0, many = 0] = await findFreePorts(5);
    const nginx = await startNginx(folder, nginxPort, scene);
    if (nginx !== undefined) {
      keep(nginx);
    }
    const ours = keep(await startDataAccess(layers, own));
    const titiler = await startTitiler(titilerPort);
    const servers: TileServer[] = [
      ours,
      ...(nginx?.mapserver === undefined ? [] : [nginx.mapserver]),
      ...(titiler === undefined ? [] : [keep({ ...titiler, urlOf: (tile: Tile) => titiler.urlFor(scene, tile) })]),
    ];
    const rows = await benchTiles(servers);
    rows.push(...(await benchRemote(scene, titiler?.urlFor)));
    if (nginx !== undefined && existsSync(WRK)) {
      const keeping = keep(await startDataAccess(layers, cached, { TILE_CACHE_BYTES: "67108864" }));
      rows.push(await benchKept(keeping.urlOf(TILES[0]!), nginx.files, nginxPort));
    }
    rows.push(...(await benchMemory(folder, scene, many)));
    return rows;
  } finally {
    for (const close of closing) {
      await close();
    }
    agent.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
}

function addItem(layers: string, id: string, href: string): void {
  mkdirSync(join(layers, id), { recursive: true });
  execFileSync("cp", ["--reflink=auto", href, join(layers, id, "data.tif")]);
  const item = {
    type: "Feature",
    stac_version: "1.1.0",
    id,
    collection: id,
    geometry: null,
    bbox: [14.9, 46, 15.8, 46.6],
    properties: { datetime: "2023-08-20T00:00:00Z" },
    links: [],
    assets: {
      data: {
        href: "data.tif",
        type: "image/tiff; application=geotiff; profile=cloud-optimized",
        bands: [{ name: "one" }, { name: "two" }, { name: "three" }],
      },
    },
  };
  writeFileSync(join(layers, id, "item.json"), JSON.stringify(item));
}

/** Rounds go from server to server, so that what else the machine does meets all of them. */
async function benchTiles(servers: readonly TileServer[]): Promise<BenchRow[]> {
  const times = new Map(servers.map((server) => [server, [] as number[]]));
  const rates = new Map(servers.map((server) => [server, [] as number[]]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const server of servers) {
      const urls = TILES.map(server.urlOf);
      const took: number[] = [];
      for (const url of urls) {
        const started = performance.now();
        await fetchTile(url);
        took.push(performance.now() - started);
      }
      const started = performance.now();
      await runAll([...urls, ...urls, ...urls, ...urls]);
      const rate = (urls.length * 4 * 1000) / (performance.now() - started);
      // The first round warms all of them up.
      if (round > 0) {
        times.get(server)!.push(median(took));
        rates.get(server)!.push(rate);
      }
    }
  }
  const [ours, ...peers] = servers;
  const compare = (name: string, unit: string, of: ReadonlyMap<TileServer, readonly number[]>, aim: string) => {
    const value = median(of.get(ours!)!);
    const alone: BenchRow = { name, value, unit, aim };
    return peers.length === 0
      ? [alone]
      : peers.map((peer): BenchRow => {
          const other = median(of.get(peer)!);
          return { ...alone, peer: { name: peer.name, value: other }, ratio: value / other };
        });
  };
  return [
    ...compare("256² warped to EPSG:3857 over HTTP, warm", "ms", times, "≤ 5 ms"),
    ...compare("tiles over HTTP for 8 clients", "tiles/s", rates, "≥ 350"),
  ];
}

/** What the first tile of a file behind HTTP costs, of a service that has never seen it. */
async function benchRemote(
  scene: string,
  titiler: ((file: string, tile: Tile) => string) | undefined,
): Promise<BenchRow[]> {
  if (titiler === undefined) {
    return [];
  }
  const file = readFileSync(scene);
  let [requests, bytes] = [0, 0];
  const server = createServer((request, response) => {
    const [, from = 0, to = file.length - 1] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "")?.map(Number) ?? [];
    const body = request.method === "HEAD" ? Buffer.alloc(0) : file.subarray(from, to + 1);
    requests += 1;
    bytes += body.length;
    const isPart = request.headers.range !== undefined;
    response.writeHead(isPart ? 206 : 200, {
      "accept-ranges": "bytes",
      "content-length": request.method === "HEAD" ? file.length : body.length,
      ...(isPart && { "content-range": `bytes ${from}-${from + body.length - 1}/${file.length}` }),
      etag: '"1"',
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    await fetchTile(titiler(`http://127.0.0.1:${port}/scene.tif`, TILES[16]!));
    const note = "of TiTiler; ours are in the rows of the reader";
    return [
      { name: "first tile of a remote file by TiTiler: requests", value: requests, unit: "requests", note },
      { name: "first tile of a remote file by TiTiler: read", value: bytes / 1024, unit: "KiB", note },
    ];
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** A tile that was rendered before, beside the same bytes as a file of nginx. */
async function benchKept(url: string, files: string, port: number): Promise<BenchRow> {
  writeFileSync(join(files, "tile.png"), await fetchTile(url));
  const peerUrl = `http://127.0.0.1:${port}/tile.png`;
  const [own, peer]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    own.push(runWrk(url));
    peer.push(runWrk(peerUrl));
  }
  return {
    name: "tiles that were rendered before",
    value: median(own),
    unit: "requests/s",
    aim: "≥ 0.3 × nginx",
    peer: { name: "nginx, a file, 1 worker", value: median(peer) },
    ratio: median(own) / median(peer),
    note: "16 kept connections; ours asks each time whether the file below has changed",
  };
}

function runWrk(url: string): number {
  const text = execFileSync(WRK, ["-t1", "-c16", "-d4s", url], { encoding: "utf8" });
  if (/Non-2xx|(?:connect|read|write) [1-9]/.test(text)) {
    throw new Error(`wrk met errors at ${url}:\n${text}`);
  }
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
}

/**
 * Random tiles of many files with the service's own settings: the most it had in memory, and how its memory changed after the caches
 * were full: what it typically had in the last third over the first one. The most of each would compare the worst moments of the collector of garbage.
 */
async function benchMemory(folder: string, scene: string, port: number): Promise<BenchRow[]> {
  const layers = join(folder, "many");
  const ids = Array.from({ length: FILES }, (_, at) => `file-${at}`);
  const small = join(folder, "small.tif");
  const options = "-q -of COG -outsize 2048 2048 -co COMPRESS=DEFLATE -co PREDICTOR=2";
  execFileSync("gdal_translate", [...options.split(" "), scene, small]);
  for (const id of ids) {
    addItem(layers, id, small);
  }
  const server = await startDataAccess(layers, port, { TILE_CACHE_BYTES: "67108864" });
  const seen: number[] = [];
  const watch = setInterval(() => seen.push(readPss(server.pid) / 2 ** 20), 500);
  try {
    await runAll(Array.from({ length: WARM_TILES }, () => randomTile(port, ids)));
    const full = seen.length;
    const end = performance.now() + MEMORY_SECONDS * 1000;
    let tiles = 0;
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (performance.now() < end) {
          await fetchTile(randomTile(port, ids));
          tiles += 1;
        }
      }),
    );
    const third = Math.floor((seen.length - full) / 3);
    const change = median(seen.slice(-third)) - median(seen.slice(full, full + third));
    const note = `${MEMORY_SECONDS} s, ${tiles} random tiles of ${FILES} files, 8 clients`;
    return [
      { name: "memory under random tiles, at most", value: Math.max(...seen), unit: "MiB", aim: "≤ 600 MB", note },
      {
        name: "memory, last third over first",
        value: change,
        unit: "MiB",
        aim: "flat",
        note: `medians, ${WARM_TILES} tiles before them`,
      },
    ];
  } finally {
    clearInterval(watch);
    await server.close();
  }
}

function readSeconds(): number | undefined {
  const text = process.argv.find((word) => word.startsWith("--memory-seconds="))?.split("=")[1];
  if (text !== undefined && !(Number(text) > 0)) {
    throw new Error(`--memory-seconds=${text} is no number of seconds`);
  }
  return text === undefined ? undefined : Number(text);
}

function randomTile(port: number, ids: readonly string[]): string {
  const whole = (limit: number) => Math.floor(Math.random() * limit);
  const z = 9 + whole(6);
  const scale = 2 ** (z - 12);
  const [x, y] = [Math.floor((2219 + Math.random() * 6) * scale), Math.floor((1445 + Math.random() * 6) * scale)];
  const range = 3000 + whole(1000);
  return `http://127.0.0.1:${port}/collections/${ids[whole(ids.length)]}/tiles/WebMercatorQuad/${z}/${x}/${y}.png?expression=data_b1;data_b2;data_b3&rescale=0,${range}`;
}

async function runAll(urls: readonly string[]): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (next < urls.length) {
        next += 1;
        await fetchTile(urls[next - 1]!);
      }
    }),
  );
}

function fetchTile(url: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        const body = Buffer.concat(parts);
        if (response.statusCode === 200 && response.headers["content-type"]?.startsWith("image/png") === true) {
          resolve(body);
        } else {
          reject(new Error(`${url}: ${response.statusCode} ${body.toString("utf8", 0, 300)}`));
        }
      });
    }).on("error", reject);
  });
}
