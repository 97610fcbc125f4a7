import { LRUCache } from "lru-cache";

import { encodeCog } from "../encode/cog.ts";
import { CONTENT_TYPES, encodeImage } from "../encode/image.ts";
import { encodeNumpy } from "../encode/numpy.ts";
import { RasterError, checkCancelled, invalidRequest } from "../errors.ts";
import { KeptMemory, type Memory } from "../memory.ts";
import { createMosaic } from "../mosaic/select-pixels.ts";
import type { Raster } from "../readers/raster.ts";
import { isClear } from "../render/masks.ts";
import type { Plane } from "../render/plane.ts";
import { type Range, renderImage, renderPlanes } from "../render/render-image.ts";
import { type BandStatistics, computePercentiles, computeStatistics } from "../render/statistics.ts";
import { computeTerrain } from "../render/terrain.ts";
import type { SourceLocation } from "../sources/source.ts";
import { clipPlanes, measureCoverage } from "../warp/clip-planes.ts";
import { createGeoreferencing } from "../warp/georeferencing.ts";
import type { Grid } from "../warp/grid.ts";
import { wholeOf } from "../warp/read-grid.ts";
import { BlockCache } from "../windows/block-cache.ts";
import { listDataBands, withoutPosition } from "./choose-bands.ts";
import { type WrittenBand, mergeInfos, toCogOptions } from "./cog-options.ts";
import { cropPlane, cutRows, widenGrid } from "./grid-parts.ts";
import { encodePlanes } from "./encode-planes.ts";
import { OpenRasters, type UseRasters } from "./open-rasters.ts";
import { readPoint } from "./read-point.ts";
import { readScene } from "./read-scene.ts";
import type {
  CoverageRequest,
  DescribedRaster,
  ImageRequest,
  ImageResult,
  PixelsRequest,
  PixelsResult,
  PointRequest,
  StatisticsRequest,
} from "./requests.ts";
import { boundsOf, checkSize, geographicBoundsOf, resolveGrid } from "./resolve-grid.ts";
import { defaultExpressions, firstAssetOf } from "./scene.ts";

const STATISTICS_SIZE = 1024;
const MAX_SCENES = 500;
const MAX_EXPRESSIONS = 64;
/** Memory of pictures that the next ones have: enough for one of 1,024² in three bands of 16 bits. */
const KEPT_BYTES = 24 * 1024 * 1024;

export interface EngineOptions {
  readonly cacheBytes: number;
  readonly maxOpen?: number;
  /** How long a remote object is taken to be unchanged; 0: it is looked at each time. */
  readonly maxUnverifiedMs?: number;
}

/** Reads, warps, mosaics, renders and encodes in the calling thread; `pool` runs several of them. */
export class RasterEngine {
  readonly cache: BlockCache;
  readonly #rasters: OpenRasters;
  readonly #memory = new KeptMemory(KEPT_BYTES);
  readonly #ranges = new LRUCache<string, Range>({ max: 1000 });

  constructor({ cacheBytes, maxOpen = 128, maxUnverifiedMs }: EngineOptions) {
    this.cache = new BlockCache(cacheBytes);
    this.#rasters = new OpenRasters(maxOpen, maxUnverifiedMs);
  }

  async describe(location: SourceLocation, signal?: AbortSignal): Promise<DescribedRaster> {
    return this.#rasters.use(
      location,
      async ({ info }) => {
        const { crs } = createGeoreferencing(info);
        const bounds = boundsOf(info, crs);
        if (bounds === undefined) {
          throw new RasterError("invalid-raster", "The raster does not say where it is.");
        }
        return { info, crs, bounds, geographicBounds: geographicBoundsOf(info) };
      },
      signal,
    );
  }

  /** Names the content of a raster: differs once it has changed. */
  async version(location: SourceLocation, signal?: AbortSignal): Promise<string> {
    return this.#rasters.use(location, async ({ key }) => key, signal);
  }

  async image(request: ImageRequest, signal?: AbortSignal): Promise<ImageResult> {
    const memory = this.#memory.lend();
    const result = await this.#makeImage(request, memory, signal);
    // Not after an error, when other parts of the request may still be at work, nor what a result may be a part of.
    if (request.format !== "npy" && request.format !== "tif") {
      memory.giveBack();
    }
    return result;
  }

  async #makeImage(request: ImageRequest, memory: Memory, signal: AbortSignal | undefined): Promise<ImageResult> {
    const versions = new Map<string, string>();
    const rasters = this.#rasters.noting(versions);
    const grid = await this.#toGrid(request, signal);
    const isData = request.format === "npy" || request.format === "tif";
    const { planes, info, infos, expressions } = await this.#readMosaic(
      isData ? await this.#withAllBands(request, signal, rasters) : request,
      grid,
      request.terrain === undefined ? 0 : 1,
      signal,
      { rasters, memory },
    );
    checkCancelled(signal);
    const isEmpty = planes.every(({ mask }) => isClear(mask));
    const { format, hasMask = true } = request;
    const facts = {
      isEmpty,
      width: grid.width,
      height: grid.height,
      bbox: grid.bbox,
      crs: grid.crs,
      versions: Object.fromEntries(versions),
    };
    const operations =
      request.operations ??
      (request.gamma === undefined ? undefined : [{ kind: "gamma" as const, bands: [0, 1, 2], gamma: request.gamma }]);
    const look = {
      ...(operations !== undefined && { operations }),
      ...(request.colormap !== undefined && { colormap: request.colormap }),
    };
    const isRendered = request.rendersData === true;
    const written =
      isData && isRendered
        ? renderPlanes(planes, grid.width, grid.height, {
            rescale: request.rescale ?? (await this.#defaultRanges(request, planes, expressions, signal)),
            ...look,
          })
        : planes;
    if (format === "npy") {
      const bytes = encodeNumpy(written, grid.width, grid.height, hasMask);
      return { bytes, contentType: "application/x-binary", ...facts };
    }
    if (format === "tif") {
      return {
        bytes: await encodePlanes(grid, written, { infos: isRendered ? undefined : infos, hasMask }, signal),
        contentType: "image/tiff; application=geotiff; profile=cloud-optimized",
        ...facts,
      };
    }
    const rescale = request.rescale ?? (await this.#defaultRanges(request, planes, expressions, signal));
    const isPalette =
      request.colormap === undefined &&
      info?.palette !== undefined &&
      expressions.length === 1 &&
      expressions[0] === "b1";
    // Transparency that is asked for as the fourth band is in the masks of the others already.
    const shown = planes.length === 4 && infos?.[3]?.color === "alpha" ? planes.slice(0, 3) : planes;
    const image = renderImage(shown, grid.width, grid.height, {
      rescale,
      memory,
      ...look,
      ...(isPalette && info.palette !== undefined && { palette: info.palette }),
    });
    const chosen =
      format ?? (image.palette === undefined && (image.channels === 1 || image.channels === 3) ? "jpeg" : "png");
    const bytes = await encodeImage(image, chosen, {
      memory,
      ...(request.quality !== undefined && { quality: request.quality }),
      ...(request.background !== undefined && { background: request.background }),
    });
    return { bytes, contentType: CONTENT_TYPES[chosen], ...facts };
  }

  /** The values of an area. */
  async pixels(request: PixelsRequest, signal?: AbortSignal): Promise<PixelsResult> {
    const grid = await this.#toGrid(request, signal);
    const { planes } = await this.#readMosaic(request, grid, 0, signal);
    return { planes, grid };
  }

  /** A cloud-optimised GeoTIFF, read by rows of tiles: of any size that `maxPixels` allows. */
  async *coverage(coverage: CoverageRequest, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const request = await this.#withAllBands(coverage, signal);
    const grid = await this.#toGrid(request, signal, request.maxPixels);
    const bands = await this.#probe(request, signal);
    const rows = async (firstRow: number, count: number): Promise<readonly Plane[]> => {
      const part = cutRows(grid, firstRow, count);
      return (await this.#readMosaic(request, part, 0, signal)).planes;
    };
    yield* encodeCog(grid, rows, toCogOptions(bands, request.unscale === true), signal);
  }

  async statistics(request: StatisticsRequest, signal?: AbortSignal): Promise<Record<string, BandStatistics>> {
    const sized =
      request.grid.maxSize === undefined && request.grid.width === undefined && request.grid.isAligned !== true
        ? { ...request, grid: { ...request.grid, maxSize: STATISTICS_SIZE } }
        : request;
    const grid = await this.#toGrid(sized, signal);
    const clip = sized.clip && { ...sized.clip, isTouched: true };
    const { planes, expressions } = await this.#readMosaic({ ...sized, ...(clip && { clip }) }, grid, 0, signal);
    const weights = clip && measureCoverage(clip, grid);
    return Object.fromEntries(
      planes.map(({ samples, mask }, index) => [
        expressions[index] ?? `b${index + 1}`,
        computeStatistics(samples, mask, {
          ...(request.percentiles !== undefined && { percentiles: request.percentiles }),
          ...(request.bins !== undefined && { bins: request.bins }),
          ...(request.range !== undefined && { range: request.range }),
          ...(request.categories !== undefined && { categories: request.categories }),
          ...(weights !== undefined && { weights }),
        }),
      ]),
    );
  }

  /** Values of all bands of the pixel at a point; null where there is nothing, `undefined` outside of the raster. */
  async point(request: PointRequest, signal?: AbortSignal): Promise<readonly (number | null)[] | undefined> {
    return this.#rasters.use(request.location, (raster) => readPoint(raster, this.cache, request, signal), signal);
  }

  async close(): Promise<void> {
    await this.#rasters.close();
    this.cache.clear();
  }

  async #toGrid(
    { scenes, expressions, grid }: PixelsRequest,
    signal: AbortSignal | undefined,
    maxPixels?: number,
  ): Promise<Grid> {
    const { crs, bbox, bboxCrs, width, height } = grid;
    const check = (result: Grid) => {
      if (maxPixels === undefined) {
        return checkSize(result);
      }
      if (result.width * result.height > maxPixels) {
        throw new RasterError(
          "too-large",
          `${result.width} × ${result.height} pixels are more than the ${maxPixels} allowed.`,
        );
      }
      return result;
    };
    if (
      crs !== undefined &&
      bbox !== undefined &&
      bboxCrs === undefined &&
      width !== undefined &&
      height !== undefined
    ) {
      return check({ crs, bbox, width, height });
    }
    return check(
      await this.#useFirst(
        { scenes, ...(expressions && { expressions }) },
        async ({ info }) => resolveGrid(grid, info),
        signal,
      ),
    );
  }

  /** Works with the first raster that the request reads: it stands for the others where the request leaves something open. */
  async #useFirst<T>(
    { scenes, expressions = [] }: Pick<PixelsRequest, "scenes" | "expressions">,
    work: (raster: Raster) => Promise<T>,
    signal: AbortSignal | undefined,
    rasters: UseRasters = this.#rasters,
  ): Promise<T> {
    const asset = scenes[0] && firstAssetOf(scenes[0], expressions);
    if (asset === undefined) {
      throw invalidRequest("There is no raster to read.");
    }
    return rasters.use(asset.location, work, signal);
  }

  /** With all bands of the first scene, where nothing is said: formats of data leave none out. */
  async #withAllBands<T extends PixelsRequest>(request: T, signal?: AbortSignal, rasters?: UseRasters): Promise<T> {
    const [asset] = Object.values(request.scenes[0]?.assets ?? {});
    if (request.expressions !== undefined || asset === undefined) {
      return request;
    }
    const list = async ({ info }: Raster) => listDataBands(info.bands, asset);
    return { ...request, expressions: await this.#useFirst(request, list, signal, rasters) };
  }

  /** Types and descriptions of what the expressions give in all scenes, without reading pixels of an area. */
  async #probe(request: PixelsRequest, signal: AbortSignal | undefined): Promise<readonly WrittenBand[]> {
    let infos: readonly WrittenBand[] | undefined;
    for (const scene of request.scenes.slice(0, MAX_SCENES)) {
      const own = await readScene(
        {
          scene,
          grid: undefined,
          requested: wholeOf({ width: 0, height: 0 }),
          expressions: request.expressions ?? [],
          unscale: request.unscale,
          resampling: "nearest",
        },
        this.cache,
        this.#rasters,
        signal,
      );
      infos = infos === undefined ? own.infos : mergeInfos(infos, own.infos);
    }
    return infos ?? [];
  }

  async #readMosaic(
    request: PixelsRequest & Partial<Pick<ImageRequest, "terrain">>,
    grid: Grid,
    margin: number,
    signal: AbortSignal | undefined,
    { rasters = this.#rasters, memory }: { readonly rasters?: UseRasters; readonly memory?: Memory } = {},
  ) {
    const { scenes, resampling = "nearest", selection = "first", unscale } = request;
    if (scenes.length > MAX_SCENES || (request.expressions?.length ?? 0) > MAX_EXPRESSIONS) {
      throw new RasterError("too-large", `A request reads up to ${MAX_SCENES} scenes and ${MAX_EXPRESSIONS} bands.`);
    }
    const info =
      scenes.length === 0 ? undefined : await this.#useFirst(request, async (raster) => raster.info, signal, rasters);
    const expressions = request.expressions ?? (info === undefined ? ["b1"] : defaultExpressions(info));
    const read = margin === 0 ? grid : widenGrid(grid, margin);
    const mosaic = createMosaic(selection, read, memory);
    let infos: readonly WrittenBand[] | undefined;
    for (const scene of scenes) {
      const requested = mosaic.requested();
      if (requested === undefined) {
        break;
      }
      checkCancelled(signal);
      const {
        planes,
        part,
        infos: own,
      } = await readScene(
        { scene, grid: read, requested, expressions, resampling, unscale, ...(memory && { memory }) },
        this.cache,
        rasters,
        signal,
      );
      mosaic.add(planes, part);
      infos = infos === undefined ? own : mergeInfos(infos, own);
    }
    const whole =
      mosaic.finish() ??
      expressions.map((): Plane => ({
        samples: new Uint8Array(read.width * read.height),
        mask: new Uint8Array(read.width * read.height),
        type: "uint8",
      }));
    const planes = request.clip === undefined ? whole : clipPlanes(whole, read, request.clip);
    const { terrain } = request;
    const shaded =
      terrain === undefined
        ? planes
        : planes
            .slice(0, 1)
            .map((plane) => cropPlane(computeTerrain(plane, read, terrain.algorithm, terrain), read, grid, margin));
    return { planes: shaded, expressions, ...(info !== undefined && { info }), ...(infos !== undefined && { infos }) };
  }

  /** Bytes are shown as they are; anything else by what most of its pixels have, in the whole scene, so that tiles fit together. */
  async #defaultRanges(
    request: ImageRequest,
    planes: readonly Plane[],
    expressions: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<readonly Range[]> {
    if (request.terrain !== undefined) {
      return [request.terrain.algorithm === "slope" ? [0, 90] : [0, 255]];
    }
    if (request.percentiles === undefined && planes.every(({ type }) => type === "uint8")) {
      return [[0, 255]];
    }
    const [least, greatest] = request.percentiles ?? [2, 98];
    const scenes = request.scenes.slice(0, 1).map(withoutPosition);
    return Promise.all(
      expressions.map(async (expression) => {
        const key = `${JSON.stringify(scenes)}|${expression}|${least}|${greatest}|${request.unscale}`;
        const known = this.#ranges.get(key);
        if (known !== undefined) {
          return known;
        }
        const whole: PixelsRequest = {
          scenes,
          grid: { maxSize: STATISTICS_SIZE },
          expressions: [expression],
          ...(request.unscale !== undefined && { unscale: request.unscale }),
        };
        const grid = await this.#toGrid(whole, signal);
        const { planes: all } = await this.#readMosaic(whole, grid, 0, signal);
        const [min = Number.NaN, max = Number.NaN] = computePercentiles(all[0]!.samples, all[0]!.mask, [
          least,
          greatest,
        ]);
        const range: Range = Number.isNaN(min) ? [0, 255] : min === max ? [min, min + 1] : [min, max];
        this.#ranges.set(key, range);
        return range;
      }),
    );
  }
}
