import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { RasterEngine } from "../src/engine/engine.ts";
import { RasterError } from "../src/errors.ts";
import { decodeLzw } from "../src/readers/geotiff/codecs/lzw.ts";
import { decodePackbits } from "../src/readers/geotiff/codecs/packbits.ts";
import { SCENES } from "./gdal.ts";

const GOOD = readFileSync(join(SCENES, "maribor-0820/SCL.tif"));

interface Entry {
  readonly id: number;
  readonly type: number;
  readonly count: number;
  readonly value: number;
}

/** A little-endian TIFF of one directory with the given entries, and bytes behind it. */
function makeTiff(
  entries: readonly Entry[],
  { next = 0, tail = Buffer.alloc(0) }: { next?: number; tail?: Buffer } = {},
): Buffer {
  const head = Buffer.alloc(8 + 2 + entries.length * 12 + 4);
  head.write("II*\0", 0, "latin1");
  head.writeUInt32LE(8, 4);
  head.writeUInt16LE(entries.length, 8);
  for (const [index, { id, type, count, value }] of entries.entries()) {
    const at = 10 + index * 12;
    head.writeUInt16LE(id, at);
    head.writeUInt16LE(type, at + 2);
    head.writeUInt32LE(count, at + 4);
    head.writeUInt32LE(value, at + 8);
  }
  head.writeUInt32LE(next, head.length - 4);
  return Buffer.concat([head, tail]);
}

const long = (id: number, value: number): Entry => ({ id, type: 4, count: 1, value });
const image = (width: number, height: number, more: readonly Entry[] = []): Entry[] => [
  long(256, width),
  long(257, height),
  long(258, 8),
  long(259, 8),
  long(262, 1),
  long(277, 1),
  ...more,
];

const HOSTILE: Readonly<Record<string, Buffer>> = {
  empty: Buffer.alloc(0),
  "two bytes": Buffer.from("II"),
  "no TIFF": Buffer.from("II\x00\x00 and so on, for some bytes more", "latin1"),
  "directories in a loop": makeTiff(image(10, 10, [long(273, 8), long(279, 1)]), { next: 8 }),
  "a directory beyond the end": Buffer.from("II*\0\xff\xff\xff\x7f and some more", "latin1"),
  "65,535 tags": Buffer.concat([Buffer.from("II*\0\x08\0\0\0\xff\xff", "latin1"), Buffer.alloc(100)]),
  "a dimension bomb": makeTiff(image(0xff_ff_ff_ff, 0xff_ff_ff_ff, [long(273, 8), long(279, 1)])),
  "a strip bomb": makeTiff(image(100_000, 100_000, [long(273, 8), long(279, 1), long(278, 100_000)])),
  "a tile bomb": makeTiff(image(1000, 1000, [long(322, 65_536), long(323, 65_536), long(324, 8), long(325, 1)])),
  "65,535 bands": makeTiff([
    ...image(1000, 1000).filter(({ id }) => id !== 277),
    long(277, 65_535),
    long(273, 8),
    long(279, 1),
  ]),
  "a tag of 4 GB": makeTiff(
    image(10, 10, [{ id: 42_112, type: 2, count: 0xff_ff_ff_f0, value: 20 }, long(273, 8), long(279, 1)]),
  ),
  "a table of 4 billion offsets": makeTiff(
    image(10, 10, [{ id: 273, type: 4, count: 0xff_ff_ff_f0, value: 20 }, long(279, 1)]),
  ),
  "zero width": makeTiff(image(0, 10)),
  "no size": makeTiff([long(258, 8)]),
  "a box longer than the file": Buffer.concat([
    Buffer.from("0000000c6a5020200d0a870a7fffffff66747970", "hex"),
    Buffer.alloc(40),
  ]),
  "a JPEG 2000 dimension bomb": Buffer.from(
    `ff4fff51002900000000${"ffffffff".repeat(2)}${"00000000".repeat(2)}${"00000001".repeat(2)}${"00000000".repeat(2)}0001070101ff90000a0000000000000001`,
    "hex",
  ),
  "a JPEG 2000 without end": Buffer.from("ff4fff51ffff", "hex"),
};

for (const [name, bytes] of Object.entries(HOSTILE)) {
  test(`a hostile file is refused: ${name}`, async () => {
    const error = await readAll(bytes);
    assert.ok(error instanceof RasterError, String(error));
    assert.match(error.code, /invalid-raster|unsupported|too-large/);
  });
}

test("a block that unpacks to more than it should is refused", async () => {
  const bomb = deflateSync(Buffer.alloc(50 * 1024 * 1024));
  const georeference: Entry[] = [];
  const tail = bomb;
  const entries = image(64, 64, [long(278, 64), ...georeference]);
  const start = 8 + 2 + (entries.length + 2) * 12 + 4;
  const bytes = makeTiff(
    [...entries, long(273, start), long(279, tail.length)].toSorted((a, b) => a.id - b.id),
    { tail },
  );
  const error = await readAll(bytes, true);
  assert.ok(error instanceof RasterError);
  assert.equal(error.code, "invalid-raster");
});

test("a file cut off anywhere is refused or read, never more", async () => {
  for (let length = 0; length < GOOD.length; length += Math.ceil(GOOD.length / 40)) {
    const error = await readAll(GOOD.subarray(0, length));
    assert.ok(error instanceof RasterError, `${length}: ${String(error)}`);
  }
});

test("a file with any bytes changed is refused or read", async () => {
  let seed = 1;
  const random = (limit: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed % limit;
  };
  for (let round = 0; round < 150; round += 1) {
    const bytes = Buffer.from(GOOD);
    for (let change = 0; change < 4; change += 1) {
      // The directories are at the beginning.
      bytes[random(round % 2 === 0 ? 1500 : bytes.length)] = random(256);
    }
    const error = await readAll(bytes);
    assert.ok(
      error === undefined || error instanceof RasterError,
      `round ${round}: ${(error as Error | undefined)?.stack}`,
    );
  }
});

test("damaged LZW and PackBits end in an error, not beyond their output", () => {
  assert.throws(() => decodeLzw(Buffer.from("ffffffffffff", "hex"), 100), RasterError);
  assert.throws(() => decodeLzw(Buffer.alloc(0), 100), RasterError);
  assert.throws(() => decodePackbits(Buffer.from([5, 1]), 100), RasterError);
  assert.equal(decodePackbits(Buffer.from([0x81, 7]), 100).length, 100);
});

/** Reads every pixel of a file that may be anything; gives the error. `anyway`: also without a georeference. */
async function readAll(bytes: Buffer, anyway = false): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "raster-"));
  const path = join(folder, "x");
  writeFileSync(path, bytes);
  const engine = new RasterEngine({ cacheBytes: 1024 * 1024 });
  try {
    if (anyway) {
      const { openRaster } = await import("../src/readers/open-raster.ts");
      const raster = await openRaster({ kind: "file", path });
      try {
        await raster.readBlocks([{ level: 0, group: 0, column: 0, row: 0 }]);
      } finally {
        await raster.close();
      }
      return undefined;
    }
    await engine.image({
      scenes: [{ assets: { data: { location: { kind: "file", path } } } }],
      grid: { maxSize: 700 },
    });
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true });
  }
}
