import type { TiffImage } from "@cogeotiff/core";

import { RasterError, invalidRaster } from "../../errors.ts";
import { MAX_STORED_BLOCK_BYTES } from "../../limits.ts";
import type { Source } from "../../sources/source.ts";
import { planRanges } from "../../windows/plan-ranges.ts";
import type { BandInfo, Block, BlockAddress, Raster, RasterInfo } from "../raster.ts";
import { checkDirectories } from "./check-directories.ts";
import { COMPRESSIONS, decompress } from "./codecs/decompress.ts";
import { type GdalMetadata, parseGdalMetadata, parseNodata } from "./gdal-tags.ts";
import { type Layout, readLayout } from "./layout.ts";
import { MetadataReader } from "./metadata-reader.ts";
import { addressesOfMask, joinMask } from "./mask-blocks.ts";
import { toPalette } from "./photometric.ts";
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
  // Masks have levels of their own; the one of the same size belongs to the image.
  const maskOf = ({ width, height }: Layout): Layout | undefined =>
    masks.find((mask) => mask.width === width && mask.height === height);
  checkMasks(masks, maskOf(base));
  // A mask that only the full image has cannot be shown by an overview.
  const levels = [
    base,
    ...reducedOf(layouts, 0, base).filter((level) => masks.length === 0 || maskOf(level) !== undefined),
  ];
  const info = await readInfo(main, levels, masks.length > 0, reader, signal);
  const bands = info.bands.map((_, index) => index);
  const groups = [...(base.isPlanar ? bands.map((band) => [band]) : [bands]), ...(masks.length > 0 ? [[-1]] : [])];
  const maskGroup = masks.length > 0 ? groups.length - 1 : -1;

  const readStored = async (
    requests: readonly { readonly address: BlockAddress; readonly layout: Layout; readonly plane: number }[],
    readSignal: AbortSignal | undefined,
  ): Promise<(Block | undefined)[]> => {
    const parts = await Promise.all(
      requests.map(async ({ address, layout, plane }, index) =>
        (await findPieces(address, plane, layout, reader, readSignal)).map((piece) => ({ ...piece, index, layout })),
      ),
    );
    const blocks: (Block | undefined)[] = requests.map(() => undefined);
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
  };

  return {
    key: source.key,
    info,
    groups,
    isCurrent: source.isCurrent,
    close: source.close,
    readBlocks: async (addresses, readSignal) => {
      const requests = addresses.map((address) => {
        const image = levels[address.level] as Layout;
        const mask = address.group === maskGroup ? maskOf(image) : undefined;
        return mask === undefined
          ? { address, image, mask, own: [{ address, layout: image, plane: image.isPlanar ? address.group : 0 }] }
          : {
              address,
              image,
              mask,
              own: addressesOfMask(address, image, mask).map((own) => ({ address: own, layout: mask, plane: 0 })),
            };
      });
      const stored = await readStored(
        requests.flatMap(({ own }) => own),
        readSignal,
      );
      let at = 0;
      return requests.map(({ address, image, mask, own }) => {
        const blocks = stored.slice(at, (at += own.length));
        return mask === undefined ? blocks[0] : joinMask(address, image, mask, blocks);
      });
    },
  };
}

/** What a mask that cannot be read leaves out would be shown as pixels. */
function checkMasks(masks: readonly Layout[], main: Layout | undefined): void {
  if (masks.length > 0 && main === undefined) {
    throw new RasterError("unsupported", "The mask of the TIFF has another size than its image.");
  }
  if (masks.some(({ samples, type }) => samples !== 1 || type !== "uint8")) {
    throw new RasterError("unsupported", "TIFF masks are read with one band of up to 8 bits.");
  }
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
  const palette = toPalette(base, await numbers(TAG.colorMap));
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

function checkPiece<T extends Piece>(piece: T): T {
  if (piece.length > MAX_STORED_BLOCK_BYTES) {
    throw invalidRaster(`A block of the file claims ${piece.length} bytes.`);
  }
  return piece;
}
