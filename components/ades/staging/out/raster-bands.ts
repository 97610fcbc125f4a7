import { open } from "node:fs/promises";

import type { BandInfo, BandStatistics, RasterPool } from "@swath/raster";
import type { StacAsset } from "@swath/stac";

import type { OutputFile } from "./plan-output.ts";

/** What a band of a result has in it, in the words of STAC 1.1 (common metadata, bands) and of the raster extension 1.1. */
export interface DescribedBand {
  readonly data_type: string;
  readonly nodata?: number | "nan";
  /** Over at most 1,024 × 1,024 pixels: those of an overview where the raster is larger. */
  readonly statistics: Readonly<
    Partial<Record<"minimum" | "maximum" | "mean" | "stddev", number>> & { readonly valid_percent: number }
  >;
}

export const RASTER_EXTENSION = "https://stac-extensions.github.io/raster/v1.1.0/schema.json";

const RASTER_TYPE = /^image\/(?:tiff|jp2)\b/i;
const MAX_RASTERS = 50;
const MAX_MS = 60_000;
const EACH_MS = 20_000;
const CACHE_BYTES = 32 * 2 ** 20;

/**
 * Looks into the rasters of an output: the first 50, for a minute at most. One that cannot be read is the package's own affair and has
 * nothing said of it. What was written by a tool is parsed in a thread of its own.
 * @returns bands by the key of their file
 */
export async function describeRasters(
  files: readonly OutputFile[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly DescribedBand[]>> {
  const found = new Map<string, readonly DescribedBand[]>();
  const rasters = await listRasters(files);
  if (rasters.length === 0) {
    return found;
  }
  const both = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]);
  // Most results have no raster, and reading them takes a while to load.
  const { RasterPool: Pool } = await import("@swath/raster");
  const pool = new Pool({ threads: 1, concurrency: 1, cacheBytes: CACHE_BYTES, timeoutMs: EACH_MS });
  try {
    for (const { path, key } of rasters) {
      const bands = await describe(pool, path, both).catch(() => undefined);
      signal.throwIfAborted();
      if (bands !== undefined) {
        found.set(key, bands);
      }
    }
  } finally {
    await pool.close();
  }
  return found;
}

/** The first of those that say they are rasters and begin like one: nothing is loaded for a file that is none. */
async function listRasters(files: readonly OutputFile[]): Promise<readonly OutputFile[]> {
  const found: OutputFile[] = [];
  for (const file of files.filter(({ mediaType }) => RASTER_TYPE.test(mediaType))) {
    if (found.length === MAX_RASTERS) {
      break;
    }
    if (await beginsLikeRaster(file.path)) {
      found.push(file);
    }
  }
  return found;
}

/** TIFF and BigTIFF in both orders of bytes; JP2 and a bare codestream of JPEG 2000. */
const BEGINNINGS = ["49492a00", "4d4d002a", "49492b00", "4d4d002b", "0000000c6a502020", "ff4fff51"];

async function beginsLikeRaster(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
    const hex = buffer.toString("hex", 0, bytesRead);
    return BEGINNINGS.some((beginning) => hex.startsWith(beginning));
  } finally {
    await file.close();
  }
}

async function describe(pool: RasterPool, path: string, signal: AbortSignal): Promise<readonly DescribedBand[]> {
  const location = { kind: "file", path } as const;
  const { info } = await pool.describe(location, signal);
  const expressions = info.bands.map((_, band) => `b${band + 1}`);
  const scenes = [{ assets: { "": { location } } }];
  const statistics = await pool.statistics({ scenes, grid: {}, expressions }, signal);
  return info.bands.map((band, index) => toBand(band, statistics[`b${index + 1}`]));
}

function toBand({ type, isComplex, nodata }: BandInfo, statistics: BandStatistics | undefined): DescribedBand {
  const numbers = Object.entries({
    minimum: statistics?.min,
    maximum: statistics?.max,
    mean: statistics?.mean,
    stddev: statistics?.std,
  }).filter(([, value]) => value !== undefined && Number.isFinite(value));
  return {
    data_type: isComplex ? `c${type}` : type,
    ...(nodata !== undefined && { nodata: Number.isNaN(nodata) ? "nan" : nodata }),
    statistics: { ...Object.fromEntries(numbers), valid_percent: statistics?.valid_percent ?? 0 },
  };
}

/** An asset with what its bands have in them; what its package said of them stays. */
export function withBands(asset: StacAsset, bands: readonly DescribedBand[] | undefined, version: string): StacAsset {
  if (bands === undefined) {
    return asset;
  }
  // Until 1.1 the raster extension has a list of its own.
  const member = version.startsWith("1.1") && asset["raster:bands"] === undefined ? "bands" : "raster:bands";
  const own = asset[member];
  if (own !== undefined && !(Array.isArray(own) && own.length === bands.length)) {
    return asset;
  }
  const known = (own ?? []) as readonly object[];
  return { ...asset, [member]: bands.map((band, index) => ({ ...band, ...known[index] })) };
}

/** Whether a document's assets have members of the raster extension. */
export const usesRasterExtension = (assets: Readonly<Record<string, StacAsset>>): boolean =>
  Object.values(assets).some((asset) => asset["raster:bands"] !== undefined);
