import { invalidRaster } from "../../errors.ts";
import { MAX_BLOCK_BYTES, MAX_STORED_BLOCK_BYTES } from "../../limits.ts";
import type { Source } from "../../sources/source.ts";
import { MetadataReader } from "../geotiff/metadata-reader.ts";
import { type Block, type LevelInfo, type Raster, type SampleType, createSamples } from "../raster.ts";
import { readBoxes } from "./boxes.ts";
import { type Codestream, cutTile, readCodestream } from "./codestream.ts";
import { decodeCodestream } from "./decoder.ts";

const SIGNATURE = "0000000c6a5020200d0a870a";
const MIN_LEVEL_SIZE = 64;

export function isJpeg2000(head: Uint8Array): boolean {
  const text = Buffer.from(head.subarray(0, 12)).toString("hex");
  return text === SIGNATURE || text.startsWith("ff4fff51");
}

/** Opens a JPEG 2000 file as agencies deliver it: tiles are found by their headers and decoded one by one, at the resolution that is asked for. */
export async function openJpeg2000(source: Source, signal?: AbortSignal): Promise<Raster> {
  const reader = new MetadataReader(source);
  const { start, end, georeference } = await readBoxes(reader, signal);
  const stream = await readCodestream(reader, start, end, signal);
  const type: SampleType =
    stream.bits <= 8 ? (stream.isSigned ? "int8" : "uint8") : stream.isSigned ? "int16" : "uint16";
  const levels = toLevels(stream);
  const blockBytes = stream.tileWidth * stream.tileHeight * stream.components * 2;
  if (blockBytes > MAX_BLOCK_BYTES) {
    throw invalidRaster(`The JPEG 2000 file has tiles of ${blockBytes} bytes; up to ${MAX_BLOCK_BYTES} are read.`);
  }
  const isRgb = stream.components === 3 && stream.bits <= 8;
  return {
    key: source.key,
    info: {
      format: "JPEG 2000",
      width: stream.width,
      height: stream.height,
      bands: Array.from({ length: stream.components }, (_, band) => ({
        type,
        isComplex: false,
        color: isRgb ? (["red", "green", "blue"] as const)[band]! : band === 0 ? "gray" : "undefined",
      })),
      ...georeference,
      levels,
      hasMask: false,
      compression: "jpeg2000",
      interleave: "pixel",
      metadata: {},
    },
    groups: [Array.from({ length: stream.components }, (_, band) => band)],
    isCurrent: source.isCurrent,
    close: source.close,
    readBlocks: async (addresses, readSignal) => {
      const blocks: (Block | undefined)[] = [];
      for (const { level, column, row } of addresses) {
        const parts = stream.parts.get(row * stream.columns + column);
        blocks.push(
          parts === undefined ? undefined : await readTile(source, stream, parts, level, column, row, type, readSignal),
        );
      }
      return blocks;
    },
  };
}

async function readTile(
  source: Source,
  stream: Codestream,
  parts: readonly { readonly offset: number; readonly length: number }[],
  reduction: number,
  column: number,
  row: number,
  type: SampleType,
  signal: AbortSignal | undefined,
): Promise<Block> {
  if (parts.reduce((sum, { length }) => sum + length, 0) > MAX_STORED_BLOCK_BYTES) {
    throw invalidRaster("A tile of the JPEG 2000 file is too large.");
  }
  const bytes = await Promise.all(parts.map(({ offset, length }) => source.read(offset, length, signal)));
  const scale = 2 ** reduction;
  const [left, top] = [column * stream.tileWidth, row * stream.tileHeight];
  const width = Math.ceil(Math.min(left + stream.tileWidth, stream.width) / scale) - Math.ceil(left / scale);
  const height = Math.ceil(Math.min(top + stream.tileHeight, stream.height) / scale) - Math.ceil(top / scale);
  const planes = await decodeCodestream(cutTile(stream, column, row, bytes), {
    reduction,
    pixels: width * height,
    components: stream.components,
    type,
  });
  const [blockWidth, blockHeight] = [stream.tileWidth / scale, stream.tileHeight / scale];
  if (width === blockWidth && height === blockHeight) {
    return planes;
  }
  // Tiles at the edge are as small as the image; blocks have one size.
  return planes.map((plane) => {
    const padded = createSamples(type, Math.ceil(blockWidth) * Math.ceil(blockHeight));
    for (let line = 0; line < height; line += 1) {
      padded.set(plane.subarray(line * width, (line + 1) * width), line * Math.ceil(blockWidth));
    }
    return padded;
  });
}

/** Halvings that leave tiles whole, down to where nothing is gained. */
function toLevels({
  width,
  height,
  tileWidth,
  tileHeight,
  columns,
  rows,
  reductions,
}: Codestream): readonly LevelInfo[] {
  const levels: LevelInfo[] = [];
  for (let reduction = 0; reduction <= reductions; reduction += 1) {
    const scale = 2 ** reduction;
    const isWhole = (columns === 1 || tileWidth % scale === 0) && (rows === 1 || tileHeight % scale === 0);
    const level = {
      width: Math.ceil(width / scale),
      height: Math.ceil(height / scale),
      blockWidth: Math.ceil(tileWidth / scale),
      blockHeight: Math.ceil(tileHeight / scale),
    };
    if (!isWhole || (reduction > 0 && Math.max(level.width, level.height) < MIN_LEVEL_SIZE)) {
      break;
    }
    levels.push(level);
  }
  return levels;
}
