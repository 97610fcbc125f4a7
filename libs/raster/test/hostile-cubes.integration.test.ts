import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { deflateSync, gzipSync } from "node:zlib";

import { waitUntil } from "@swath/testing";
import { File, ready } from "h5wasm";

import { RasterEngine, RasterError, RasterPool, type SourceLocation } from "../src/index.ts";
import { makeClimateHdf5, makeClimateZarr } from "./cube-files.ts";
import { makeFolder } from "./gdal.ts";

const MIB = 1024 * 1024;

/** The error that reading every pixel ends with; `undefined` where there is none. */
async function readAll(location: SourceLocation): Promise<unknown> {
  const engine = new RasterEngine({ cacheBytes: MIB });
  try {
    await engine.image({ scenes: [{ assets: { data: { location } } }], grid: { maxSize: 64 }, format: "png" });
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await engine.close();
  }
}

function makeRandom(): (limit: number) => number {
  let seed = 1;
  return (limit) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed % limit;
  };
}

for (const [name, make] of Object.entries({ "climate.nc": makeClimateHdf5, "classic.nc": makeClassic })) {
  test(`a file cut off or changed anywhere is refused or read: ${name}`, async (t) => {
    const path = join(makeFolder(t), name);
    await make(path);
    assert.equal(await readAll({ kind: "file", path }), undefined);
    const good = readFileSync(path);
    const random = makeRandom();
    for (let round = 0; round < 24; round += 1) {
      const bytes = Buffer.from(good.subarray(0, round % 2 === 0 ? good.length : random(good.length)));
      for (let change = 0; change < 6 && round % 2 === 0; change += 1) {
        bytes[8 + random(Math.min(bytes.length - 8, round % 4 === 0 ? 4000 : bytes.length))] = random(256);
      }
      writeFileSync(path, bytes);
      const error = await readAll({ kind: "file", path });
      assert.ok(
        error === undefined || error instanceof RasterError,
        `round ${round}: ${(error as Error | undefined)?.stack}`,
      );
    }
  });
}

test("a chunk of HDF5 that unpacks without end ends at the limit of memory, and others go on", async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, "bomb.nc");
  await makeClimateHdf5(path);
  // A stored chunk is replaced by one that unpacks to a gigabyte; its length is written where the old one's was.
  const bomb = join(folder, "bomb.h5");
  await makeDeflateBomb(bomb);
  const error = await readAll({ kind: "file", path: bomb });
  assert.ok(error instanceof RasterError, String(error));
  assert.equal(error.code, "invalid-raster");
  assert.equal(await readAll({ kind: "file", path }), undefined);
});

test("chunks of Zarr that claim or unpack to more than a block, and names that lead out of it, are refused", async (t) => {
  const bomb = Buffer.alloc(300 * MIB);
  const cases: Readonly<Record<string, { codec: object; chunk: Buffer }>> = {
    gzip: { codec: { name: "gzip", configuration: { level: 1 } }, chunk: gzipSync(bomb) },
    zlib: { codec: { name: "numcodecs.zlib", configuration: { level: 1 } }, chunk: deflateSync(bomb) },
    blosc: {
      codec: {
        name: "blosc",
        configuration: { cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 8, blocksize: 0 },
      },
      chunk: Buffer.from("0201210800000070000000701000000000", "hex"),
    },
    lz4: { codec: { name: "numcodecs.lz4", configuration: {} }, chunk: Buffer.from("00000070aaaa", "hex") },
    zstd: { codec: { name: "zstd", configuration: { level: 1 } }, chunk: Buffer.from("28b52ffda000000070", "hex") },
  };
  for (const [name, { codec, chunk }] of Object.entries(cases)) {
    const path = join(makeFolder(t), "x.zarr");
    await makeClimateZarr(path);
    changeMetadata(path, (metadata) => {
      (metadata["tas"] as { codecs: object[] }).codecs.push(codec);
    });
    for (const at of ["0/0/0/0", "0/0/0/1", "0/0/0/2", "0/0/1/0", "0/0/1/1", "0/0/1/2"]) {
      const file = join(path, "tas/c", at);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, chunk);
    }
    const error = await readAll({ kind: "file", path });
    assert.ok(error instanceof RasterError, `${name}: ${String(error)}`);
    assert.equal(error.code, "invalid-raster", name);
  }
  const path = join(makeFolder(t), "x.zarr");
  await makeClimateZarr(path);
  changeMetadata(path, (metadata) => {
    metadata["a/../../tas"] = metadata["tas"];
  });
  const error = await readAll({ kind: "file", path });
  assert.ok(error === undefined || error instanceof RasterError, String(error));
  for (const [field, value] of [
    ["shape", [2 ** 40, 2, 18, 36]],
    ["shape", [-1, 2, 18, 36]],
    ["shape", [3, 2, 18, 36.5]],
    ["chunk_grid", { name: "regular", configuration: { chunk_shape: [2 ** 20, 2 ** 20, 18, 36] } }],
    ["chunk_grid", { name: "regular", configuration: { chunk_shape: [0, 0, 0, 0] } }],
  ] as const) {
    await makeClimateZarr(path);
    changeMetadata(path, (metadata) => {
      (metadata["tas"] as Record<string, unknown>)[field] = value;
      delete metadata["wind"];
    });
    const refused = await readAll({ kind: "file", path });
    assert.ok(refused instanceof RasterError, `${field} ${JSON.stringify(value)}: ${String(refused)}`);
  }
});

test("a cube whose source goes silent costs the time that is allowed, and lets go of it", async (t) => {
  const path = join(makeFolder(t), "climate.nc");
  await makeClimateHdf5(path, 4);
  const file = readFileSync(path);
  let open = 0;
  const server = createServer((request, response) => {
    const [, from = 0, to = 0] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "")?.map(Number) ?? [];
    // The first bytes, by which the format is told, and nothing after them.
    if (to < 32 * 1024) {
      const body = file.subarray(from, to + 1);
      response.writeHead(206, { "content-range": `bytes 0-${body.length - 1}/${2 ** 30}`, etag: '"1"' }).end(body);
      return;
    }
    open += 1;
    response.on("close", () => {
      open -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const faults: Error[] = [];
  const pool = new RasterPool({ threads: 1, cacheBytes: MIB, timeoutMs: 4000, onError: (fault) => faults.push(fault) });
  t.after(() => pool.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.nc`;
  const error = await pool
    .image({
      scenes: [{ assets: { data: { location: { kind: "http", url, allowPrivate: true } } } }],
      grid: { maxSize: 64 },
      format: "png",
    })
    .catch((reason: unknown) => reason);
  assert.ok(error instanceof RasterError, String(error));
  assert.equal(error.code, "timeout");
  // The thread goes on with others at once.
  const good = join(makeFolder(t), "good.nc");
  await makeClimateHdf5(good);
  const { isEmpty } = await pool.image({
    scenes: [{ assets: { data: { location: { kind: "file", path: good } } } }],
    grid: { maxSize: 64 },
    format: "png",
  });
  assert.equal(isEmpty, false);
  await waitUntil("the source to be let go of", async () => open === 0);
  assert.deepEqual(faults, [], "no thread had to be ended");
});

function changeMetadata(path: string, change: (metadata: Record<string, unknown>) => void): void {
  const file = join(path, "zarr.json");
  const document = JSON.parse(readFileSync(file, "utf8")) as {
    consolidated_metadata: { metadata: Record<string, unknown> };
  };
  change(document.consolidated_metadata.metadata);
  writeFileSync(file, JSON.stringify(document));
}

/** `tas` of four by three degrees in the classic format (version 1), big-endian. */
async function makeClassic(path: string): Promise<void> {
  const int = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  };
  const name = (text: string) =>
    Buffer.concat([int(text.length), Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4, "\0"))]);
  const none = Buffer.alloc(8);
  const [nx, ny] = [4, 3];
  const variable = (title: string, dimensions: number[], size: number, at: number) =>
    Buffer.concat([name(title), int(dimensions.length), ...dimensions.map(int), none, int(6), int(size), int(at)]);
  const build = (start: number) => {
    const [lon, lat, tas] = [nx * 8, ny * 8, nx * ny * 8];
    return Buffer.concat([
      Buffer.from("CDF\u0001"),
      int(0),
      int(10),
      int(2),
      name("lat"),
      int(ny),
      name("lon"),
      int(nx),
      none,
      int(11),
      int(3),
      variable("lon", [1], lon, start),
      variable("lat", [0], lat, start + lon),
      variable("tas", [0, 1], tas, start + lon + lat),
    ]);
  };
  const header = build(build(0).length);
  const values = [10, 11, 12, 13, 40, 41, 42, ...Array.from({ length: nx * ny }, (_, at) => at)];
  const body = Buffer.alloc(values.length * 8);
  values.forEach((value, at) => body.writeDoubleBE(value, at * 8));
  writeFileSync(path, Buffer.concat([header, body]));
}

/** An HDF5 file one chunk of which, 1 MiB, is stored as what unpacks to a gigabyte. */
async function makeDeflateBomb(path: string): Promise<void> {
  const { FS } = await ready;
  const files = FS as unknown as { readFile: (name: string) => Uint8Array };
  const file = new File("/bomb.h5", "w");
  const side = 512;
  const random = makeRandom();
  for (const name of ["lat", "lon"]) {
    const scale = file.create_dataset({
      name,
      data: Float64Array.from({ length: side }, (_, at) => at / 100),
      shape: [side],
    });
    scale.make_scale(name);
  }
  // What does not compress, so that there is room for the bomb in its place.
  const data = Float32Array.from({ length: side * side }, () => random(2 ** 31));
  const tas = file.create_dataset({
    name: "tas",
    data,
    shape: [side, side],
    chunks: [side, side],
    compression: "gzip",
  });
  tas.attach_scale(0, "/lat");
  tas.attach_scale(1, "/lon");
  file.close();
  const bytes = Buffer.from(files.readFile("/bomb.h5"));
  const at =
    bytes.indexOf(Buffer.from([0x78, 0x5e])) >= 0
      ? bytes.indexOf(Buffer.from([0x78, 0x5e]))
      : bytes.indexOf(Buffer.from([0x78, 0x9c]));
  const bomb = deflateSync(Buffer.alloc(700 * MIB));
  assert.ok(at > 0 && bomb.length < side * side * 3, "there is room for the bomb");
  bomb.copy(bytes, at);
  writeFileSync(path, bytes);
}
