import type { TiffImage } from "@cogeotiff/core";

import { invalidRaster } from "../../errors.ts";
import { MAX_STORED_BLOCK_BYTES } from "../../limits.ts";
import type { Source } from "../../sources/source.ts";
import { planRanges } from "../../windows/plan-ranges.ts";
import type { BandInfo, Block, BlockAddress, Raster, RasterInfo } from "../raster.ts";
import { checkDirectories } from "./check-directories.ts";
import { COMPRESSIONS, decompress } from "./codecs/decompress.ts";
import { type GdalMetadata, parseGdalMetadata, parseNodata } from "./gdal-tags.ts";
import { type Layout, readLayout } from "./layout.ts";
import { MetadataReader } from "./metadata-reader.ts";
import { type Piece, findPieces } from "./pieces.ts";
import { parseTiff, readGeoreference } from "./read-georeference.ts";
import { TAG, readNumbers, readText } from "./tags.ts";
import { createBlock, unpackPiece } from "./unpack.ts";

const REDUCED = 1;
const MASK = 4;

/** Opens a GeoTIFF, BigTIFF or plain TIFF. */
export async function openGeotiff(source: Source, signal?: AbortSignal): Promise<Raster> {
  const reader = new MetadataReader(source);
  await checkDirectories(reader, signal);
  const tiff = await parseTiff(reader, signal);
  const [main] = tiff.images;
  if (main === undefined) {
    throw invalidRaster("The TIFF has no image.");
  }
  const layouts = await Promise.all(tiff.images.map((image) => readImage(image, reader, signal)));
  const base = await readLayout(main, reader, signal);
  const masks = [
    ...layouts.filter((each) => each?.kind === MASK).slice(0, 1),
    ...layouts.filter((each) => each?.kind === (MASK | REDUCED)),
  ].flatMap((each) => (each?.layout === undefined ? [] : [each.layout]));
  // A mask that only the full image has cannot be shown by an overview.
  const hasMaskOf = ({ width, height }: Layout) =>
    masks.length === 0 || masks.some((mask) => mask.width === width && mask.height === height);
  const levels = [base, ...reducedOf(layouts, 0, base).filter(hasMaskOf)];
  const info = await readInfo(main, levels, masks.length > 0, reader, signal);
  const bands = info.bands.map((_, index) => index);
  const groups = [...(base.isPlanar ? bands.map((band) => [band]) : [bands]), ...(masks.length > 0 ? [[-1]] : [])];
  const maskGroup = masks.length > 0 ? groups.length - 1 : -1;

  const layoutOf = ({ level, group }: BlockAddress): Layout | undefined => {
    const layout = levels[level];
    // Masks have levels of their own; the one of the same size belongs to the image.
    return group === maskGroup
      ? masks.find((mask) => mask.width === layout?.width && mask.height === layout.height)
      : layout;
  };

  return {
    key: source.key,
    info,
    groups,
    isCurrent: source.isCurrent,
    close: source.close,
    readBlocks: async (addresses, readSignal) => {
      const parts = await Promise.all(
        addresses.map(async (address, index) => {
          const layout = layoutOf(address);
          const plane = layout?.isPlanar === true ? address.group : 0;
          const pieces = layout === undefined ? [] : await findPieces(address, plane, layout, reader, readSignal);
          return pieces.map((piece) => ({ ...piece, index, layout: layout as Layout }));
        }),
      );
      const blocks: (Block | undefined)[] = addresses.map(() => undefined);
      await Promise.all(
        planRanges(parts.flat().map(checkPiece)).map(async (range) => {
          const bytes = await source.read(range.offset, range.length, readSignal);
          await Promise.all(
            range.parts.map(async (piece) => {
              const stored = bytes.subarray(piece.offset - range.offset, piece.offset - range.offset + piece.length);
              if (stored.length < piece.length) {
                throw invalidRaster("The file is truncated.");
              }
              const raw = await decompress(stored, piece.layout, piece.rows, piece.expectedBytes);
              const block = (blocks[piece.index] ??= createBlock(piece.layout));
              unpackPiece(raw, piece.layout, piece.rows, block, piece.firstRow);
            }),
          );
        }),
      );
      return blocks;
    },
  };
}

interface ReadImage {
  readonly kind: number;
  readonly layout?: Layout;
}

/** Overviews and masks; anything else in the file (pages, thumbnails) is left alone. */
async function readImage(
  image: TiffImage,
  reader: MetadataReader,
  signal: AbortSignal | undefined,
): Promise<ReadImage> {
  const kind = (await readNumbers(image, TAG.subfileType, reader, signal))[0] ?? 0;
  return image.id !== 0 && (kind & (REDUCED | MASK)) !== 0
    ? { kind: kind & (REDUCED | MASK), layout: await readLayout(image, reader, signal) }
    : { kind };
}

function reducedOf(images: readonly ReadImage[], kind: number, base: Layout): readonly Layout[] {
  return images
    .flatMap((each) => (each.kind === (kind | REDUCED) && each.layout !== undefined ? [each.layout] : []))
    .filter(
      (layout) =>
        layout.samples === base.samples &&
        layout.type === base.type &&
        layout.width < base.width &&
        layout.isPlanar === base.isPlanar,
    )
    .toSorted((a, b) => b.width - a.width);
}

async function readInfo(
  image: TiffImage,
  levels: readonly Layout[],
  hasMask: boolean,
  reader: MetadataReader,
  signal: AbortSignal | undefined,
): Promise<RasterInfo> {
  const [base] = levels;
  if (base === undefined) {
    throw invalidRaster("The TIFF has no image.");
  }
  const numbers = (id: number) => readNumbers(image, id, reader, signal);
  const metadata = parseGdalMetadata(await readText(image, TAG.gdalMetadata, reader, signal));
  const nodata = parseNodata(await readText(image, TAG.gdalNodata, reader, signal));
  const colorMap = base.photometric === 3 ? await numbers(TAG.colorMap) : [];
  const palette = toPalette(colorMap);
  return {
    format: "GeoTIFF",
    width: base.width,
    height: base.height,
    bands: toBands(base, metadata, nodata),
    ...(await readGeoreference(image, reader, signal)),
    levels: levels.map(({ width, height, blockWidth, blockHeight }) => ({ width, height, blockWidth, blockHeight })),
    hasMask,
    ...(palette !== undefined && { palette }),
    compression: COMPRESSIONS[base.compression] ?? String(base.compression),
    interleave: base.isPlanar ? "band" : "pixel",
    metadata: metadata.dataset,
  };
}

function toBands(base: Layout, { bands }: GdalMetadata, nodata: number | undefined): BandInfo[] {
  const colors = base.samples - base.extraSamples.length;
  return Array.from({ length: base.samples }, (_, index): BandInfo => {
    const extra = base.extraSamples[index - colors];
    const isRgb = base.photometric === 2 || base.photometric === 6;
    const color =
      index >= colors
        ? extra === 1 || extra === 2
          ? "alpha"
          : "undefined"
        : isRgb
          ? ((["red", "green", "blue"] as const)[index] ?? "undefined")
          : base.photometric === 3
            ? "palette"
            : index === 0
              ? "gray"
              : "undefined";
    return {
      type: base.type,
      isComplex: base.isComplex,
      ...(nodata !== undefined && { nodata }),
      color,
      ...bands[index],
    };
  });
}

/** A colour map has all reds, then greens, then blues, 16 bits each (TIFF 6.0 section 5). */
function toPalette(map: readonly number[]): Uint8Array | undefined {
  const entries = Math.floor(map.length / 3);
  if (entries === 0) {
    return undefined;
  }
  const palette = new Uint8Array(entries * 4);
  for (let entry = 0; entry < entries; entry += 1) {
    palette.set(
      [(map[entry] ?? 0) >> 8, (map[entries + entry] ?? 0) >> 8, (map[2 * entries + entry] ?? 0) >> 8, 255],
      entry * 4,
    );
  }
  return palette;
}

function checkPiece<T extends Piece>(piece: T): T {
  if (piece.length > MAX_STORED_BLOCK_BYTES) {
    throw invalidRaster(`A block of the file claims ${piece.length} bytes.`);
  }
  return piece;
}
