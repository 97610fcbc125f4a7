import type { TiffImage } from "@cogeotiff/core";

import { RasterError, invalidRaster } from "../../errors.ts";
import { MAX_BANDS, MAX_BLOCK_BYTES, MAX_DIMENSION } from "../../limits.ts";
import type { SampleType } from "../raster.ts";
import type { MetadataReader } from "./metadata-reader.ts";
import { checkPhotometric } from "./photometric.ts";
import { TAG, readBytes, readNumbers } from "./tags.ts";

/** Strips are put together to blocks of about this many rows and bytes, so that a file of single rows is not read by rows. */
const MIN_STRIP_BLOCK_ROWS = 64;
const MIN_STRIP_BLOCK_BYTES = 256 * 1024;

/** How the pixels of one image (full size, overview or mask) are stored. */
export interface Layout {
  readonly image: TiffImage;
  readonly width: number;
  readonly height: number;
  readonly blockWidth: number;
  readonly blockHeight: number;
  readonly columns: number;
  readonly rows: number;
  /** Rows of one tile or strip; a block is one tile or several strips. */
  readonly pieceRows: number;
  readonly isTiled: boolean;
  /** Uncompressed strips are read by parts. */
  readonly isSplit: boolean;
  readonly isLittleEndian: boolean;
  readonly samples: number;
  /** Bits of one number; a complex sample is two. */
  readonly bits: number;
  readonly isComplex: boolean;
  readonly type: SampleType;
  readonly isFloat: boolean;
  readonly isSigned: boolean;
  readonly isPlanar: boolean;
  readonly compression: number;
  readonly photometric: number;
  readonly predictor: number;
  readonly jpegTables?: Uint8Array;
  /** Compression around LERC: 0 none, 1 deflate, 2 zstd. */
  readonly lercWrapper: number;
  readonly extraSamples: readonly number[];
}

/** @throws {RasterError} `invalid-raster` for contradictions and claims beyond the limits, `unsupported` for sample types nobody reads */
export async function readLayout(image: TiffImage, reader: MetadataReader, signal?: AbortSignal): Promise<Layout> {
  const numbers = (id: number) => readNumbers(image, id, reader, signal);
  const one = async (id: number, fallback?: number) => {
    const value = (await numbers(id))[0] ?? fallback;
    if (value === undefined) {
      throw invalidRaster(`The TIFF lacks tag ${id}.`);
    }
    return value;
  };
  const [width, height, samples] = [await one(TAG.width), await one(TAG.height), await one(TAG.samplesPerPixel, 1)];
  if (!isCount(width, MAX_DIMENSION) || !isCount(height, MAX_DIMENSION) || !isCount(samples, MAX_BANDS)) {
    throw invalidRaster(`The TIFF claims ${width} × ${height} pixels of ${samples} bands.`);
  }
  const compression = await one(TAG.compression, 1);
  const photometric = await one(TAG.photometric, 1);
  checkPhotometric(photometric, compression);
  if ((await one(TAG.fillOrder, 1)) !== 1) {
    throw new RasterError("unsupported", "TIFFs with reversed bits (FillOrder 2) are not read.");
  }
  const isPlanar = (await one(TAG.planarConfiguration, 1)) === 2 && samples > 1;
  const sampleKind = await readSampleKind(await numbers(TAG.bitsPerSample), await numbers(TAG.sampleFormat), samples);
  const isTiled = (await numbers(TAG.tileWidth)).length > 0;
  const samplesPerBlock = isPlanar ? 1 : samples;
  const rowBytes = Math.ceil((width * samplesPerBlock * sampleKind.bits * (sampleKind.isComplex ? 2 : 1)) / 8);
  const blocks = isTiled
    ? { blockWidth: await one(TAG.tileWidth), pieceRows: await one(TAG.tileHeight) }
    : { blockWidth: width, pieceRows: Math.min(await one(TAG.rowsPerStrip, height), height) };
  const { blockWidth, pieceRows } = blocks;
  if (!isCount(blockWidth, MAX_DIMENSION) || !isCount(pieceRows, MAX_DIMENSION)) {
    throw invalidRaster(`The TIFF claims blocks of ${blockWidth} × ${pieceRows} pixels.`);
  }
  const requestedRows = Math.max(
    1,
    Math.min(height, Math.max(MIN_STRIP_BLOCK_ROWS, Math.ceil(MIN_STRIP_BLOCK_BYTES / rowBytes))),
  );
  const isSplit = !isTiled && compression === 1 && pieceRows > requestedRows;
  const blockHeight = isTiled
    ? pieceRows
    : isSplit
      ? Math.max(1, Math.min(requestedRows, Math.floor(MAX_BLOCK_BYTES / rowBytes)))
      : pieceRows * Math.max(1, Math.floor(requestedRows / pieceRows));
  // Samples are kept in arrays of the type they are read as, which may be wider than they are stored.
  const blockBytes =
    blockWidth * blockHeight * samplesPerBlock * Math.max(1, (sampleKind.bits * (sampleKind.isComplex ? 2 : 1)) / 8);
  if (blockBytes > MAX_BLOCK_BYTES) {
    throw invalidRaster(`The TIFF claims blocks of ${blockBytes} bytes; up to ${MAX_BLOCK_BYTES} are read.`);
  }
  const predictor = await one(TAG.predictor, 1);
  if (![1, 2, 3].includes(predictor) || (predictor !== 1 && sampleKind.bits % 8 !== 0)) {
    throw new RasterError("unsupported", `TIFF predictor ${predictor} of ${sampleKind.bits} bits is not supported.`);
  }
  const jpegTables = await readBytes(image, TAG.jpegTables, reader, signal);
  return {
    image,
    width,
    height,
    blockWidth,
    blockHeight,
    columns: Math.ceil(width / blockWidth),
    rows: Math.ceil(height / blockHeight),
    pieceRows,
    isTiled,
    isSplit,
    isLittleEndian: image.tiff.isLittleEndian,
    samples,
    ...sampleKind,
    isPlanar,
    compression,
    photometric,
    predictor,
    ...(jpegTables !== undefined && { jpegTables }),
    lercWrapper: (await numbers(TAG.lercParameters))[1] ?? 0,
    extraSamples: await numbers(TAG.extraSamples),
  };
}

interface SampleKind {
  readonly bits: number;
  readonly isComplex: boolean;
  readonly isFloat: boolean;
  readonly isSigned: boolean;
  readonly type: SampleType;
}

async function readSampleKind(
  allBits: readonly number[],
  formats: readonly number[],
  samples: number,
): Promise<SampleKind> {
  const bits = allBits[0] ?? 1;
  const format = formats[0] ?? 1;
  if (
    allBits.slice(0, samples).some((each) => each !== bits) ||
    formats.slice(0, samples).some((each) => each !== format)
  ) {
    throw new RasterError("unsupported", "Bands of different sample types in one TIFF are not supported.");
  }
  const isComplex = format === 5 || format === 6;
  const isFloat = format === 3 || format === 6;
  const isSigned = format === 2 || format === 5;
  const numberBits = isComplex ? bits / 2 : bits;
  const type = isComplex
    ? numberBits === 64 || (!isFloat && numberBits === 32)
      ? "float64"
      : "float32"
    : isFloat
      ? ({ 16: "float32", 32: "float32", 64: "float64" } as const)[bits]
      : isSigned
        ? ({ 8: "int8", 16: "int16", 32: "int32", 64: "float64" } as const)[bits]
        : bits <= 8
          ? "uint8"
          : bits <= 16
            ? "uint16"
            : bits === 32
              ? "uint32"
              : bits === 64
                ? "float64"
                : undefined;
  const isKnown = isComplex ? [16, 32, 64].includes(numberBits) : bits >= 1 && format >= 1 && format <= 4;
  if (type === undefined || !isKnown || !Number.isInteger(bits)) {
    throw new RasterError("unsupported", `TIFF samples of ${bits} bits and format ${format} are not supported.`);
  }
  return { bits: numberBits, isComplex, isFloat, isSigned, type };
}

function isCount(value: number, limit: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= limit;
}
