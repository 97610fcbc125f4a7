import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import sharp from "sharp";

import { RasterPool } from "../src/index.ts";
import { decodeJpeg, decodeWebp } from "../src/readers/geotiff/codecs/jpeg.ts";
import { decodeLerc } from "../src/readers/geotiff/codecs/lerc.ts";
import { Hdf5Thread } from "../src/readers/hdf5/hdf5-thread.ts";
import type { Source } from "../src/sources/source.ts";
import { makeClimateHdf5 } from "./cube-files.ts";
import { makeFolder } from "./gdal.ts";

// JPEG 2000: src/readers/jpeg2000/decoder.test.ts. HDF5 that takes all its memory: hostile-cubes.integration.test.ts.
// QuickJS and argon2: libs/cwl/test/expression-attacks.integration.test.ts, components/identity/login/hasher.test.ts.

const SIZE = 64;
const ROUNDS = 12;

const makeImage = () => {
  const pixels = Buffer.alloc(SIZE * SIZE * 3);
  pixels.forEach((_, at) => (pixels[at] = at * 7));
  return sharp(pixels, { raw: { width: SIZE, height: SIZE, channels: 3 } });
};

/** LERC 2 of one value everywhere: its head is all there is of it. */
function makeLerc(value: number): Buffer {
  const blob = Buffer.alloc(70);
  blob.write("Lerc2 ");
  for (const [at, number] of [2, SIZE, SIZE, SIZE * SIZE, 8, blob.length, 1].entries()) {
    blob.writeInt32LE(number, 6 + 4 * at);
  }
  blob.writeDoubleLE(0.5, 34);
  blob.writeDoubleLE(value, 42);
  blob.writeDoubleLE(value, 50);
  return blob;
}

const layout = { width: SIZE, height: SIZE, samples: 3 };

interface Library {
  readonly make: () => Promise<Buffer> | Buffer;
  readonly decode: (bytes: Uint8Array) => Promise<Uint8Array> | Uint8Array;
  /** Files that the library itself fails over. */
  readonly break: readonly ((valid: Buffer) => Buffer)[];
}

const cut = (valid: Buffer) => valid.subarray(0, valid.length / 2);
const fill = (valid: Buffer) => Buffer.concat([valid.subarray(0, 40), Buffer.alloc(valid.length - 40, 0xa5)]);

const LIBRARIES: Readonly<Record<string, Library>> = {
  "sharp, JPEG": {
    make: () => makeImage().jpeg({ quality: 100, chromaSubsampling: "4:4:4" }).toBuffer(),
    decode: (bytes) => decodeJpeg(bytes, { ...layout, isYcbcr: true }),
    break: [cut, fill],
  },
  "sharp, WebP": {
    make: () => makeImage().webp({ lossless: true }).toBuffer(),
    decode: (bytes) => decodeWebp(bytes, layout),
    break: [cut, fill],
  },
  LERC: {
    make: () => makeLerc(9),
    decode: (bytes) =>
      decodeLerc(bytes, { width: SIZE, height: SIZE, samples: 1, create: (length) => new Uint8Array(length) }),
    break: [
      (valid) => valid.subarray(0, 30),
      // Blocks of values, without any.
      (valid) => {
        const changed = Buffer.from(valid);
        changed.writeDoubleLE(200, 50);
        return changed;
      },
    ],
  },
};

for (const [name, { make, decode, break: breaks }] of Object.entries(LIBRARIES)) {
  test(`decodes valid data after ${ROUNDS} faults: ${name}`, async () => {
    const valid = await make();
    const expected = await decode(valid);
    assert.ok(expected.length >= SIZE * SIZE);
    for (let round = 0; round < ROUNDS; round += 1) {
      const broken = breaks[round % breaks.length]?.(valid) ?? valid;
      await assert.rejects(async () => decode(broken), { code: "invalid-raster" }, `round ${round}`);
      assert.deepEqual(await decode(valid), expected, `after round ${round}`);
    }
  });
}

async function makeHdf5Source(t: TestContext): Promise<{ source: Source; size: number; damage: { is: boolean } }> {
  const path = join(makeFolder(t), "climate.h5");
  await makeClimateHdf5(path);
  const bytes = readFileSync(path);
  const damage = { is: false };
  const source = {
    key: path,
    size: bytes.length,
    read: async (offset: number, length: number) => {
      const part = Uint8Array.from(bytes.subarray(offset, offset + length));
      return damage.is ? part.fill(0xa5, 16) : part;
    },
    close: async () => {},
  } as unknown as Source;
  return { source, size: bytes.length, damage };
}

test(`reads valid data after ${ROUNDS} faults: h5wasm`, async (t) => {
  const { source, size, damage } = await makeHdf5Source(t);
  const thread = new Hdf5Thread(source, size);
  t.after(() => thread.close());
  const list = async () => (await thread.send({ kind: "list" }, "listed")).contents.variables.map(({ name }) => name);
  const expected = await list();
  assert.ok(expected.length > 0);
  for (let round = 0; round < ROUNDS / 4; round += 1) {
    await thread.close();
    damage.is = true;
    await assert.rejects(list(), { code: "invalid-raster" }, `round ${round}`);
    damage.is = false;
    assert.deepEqual(await list(), expected, `after round ${round}`);
  }
});

test("a thread of h5wasm that has no memory to start is a fault, not the client's mistake", async (t) => {
  const { source, size } = await makeHdf5Source(t);
  const small = new Hdf5Thread(source, size, 8);
  t.after(() => small.close());
  await assert.rejects(small.send({ kind: "list" }, "listed"), (error: Error & { code?: string }) => {
    assert.match(error.message, /did not start/);
    return error.code === undefined;
  });
});

test("the pool says that it is not well while one fault follows the other, and is tried again later", async (t) => {
  let now = 0;
  const pool = new RasterPool({ threads: 1, cacheBytes: 1 << 20, clock: () => now });
  t.after(() => pool.close());
  const path = join(makeFolder(t), "climate.h5");
  await makeClimateHdf5(path);
  const scenes = [{ assets: { data: { location: { kind: "file" as const, path } } } }];
  /** An error that no part of the engine expects. */
  const fault = () =>
    assert.rejects(pool.image({ scenes, grid: { maxSize: 8 }, format: 5 } as never), { name: "Error" });
  for (let count = 0; count < 8; count += 1) {
    pool.checkHealth();
    await fault();
  }
  assert.throws(() => pool.checkHealth(), /8 faults of raster threads/);
  now += 31_000;
  // Without requests nothing would ever show that it is well.
  pool.checkHealth();
  await fault();
  assert.throws(() => pool.checkHealth(), /9 faults/);
  assert.ok((await pool.image({ scenes, grid: { maxSize: 8 }, format: "png" })).bytes.length > 0);
  pool.checkHealth();
});
