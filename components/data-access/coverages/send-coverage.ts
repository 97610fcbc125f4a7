import { Readable } from "node:stream";

import {
  type Bbox,
  type Grid,
  type OutputFormat,
  type Resampling,
  type Scene,
  parseCrs,
  reprojectBbox,
} from "@swath/raster";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "@swath/service";

import { type DataAccessContext, callerOf, signalOf } from "../http/context.ts";
import { sendImage } from "../http/send-image.ts";
import type { ItemOrder, TimeRange } from "../layers/layer.ts";
import { findItems } from "../layers/render-layer.ts";
import { scenesFor } from "../tiler/scene-target.ts";
import type { Coverage } from "./coverage.ts";
import { MAX_COVERAGE_PIXELS } from "./subset.ts";

export interface CoveragePart {
  readonly coverage: Coverage;
  readonly grid: Grid;
  /** Names of fields, in order. */
  readonly fields: readonly string[];
  readonly times?: readonly TimeRange[] | undefined;
  readonly order?: ItemOrder | undefined;
  readonly resampling?: Resampling | undefined;
}

/**
 * Scenes that a part of a coverage is made of. A gap between the scenes of a coverage is a part of it: there it is the newest scene, whose
 * pixels are all nodata (clients try a coverage in the middle, and read it block by block).
 * @throws {Problem} 404 for an area outside of the coverage, and where there is nothing at these times
 */
export async function findPartScenes(
  context: DataAccessContext,
  { coverage: { layer }, grid, times, fields }: CoveragePart,
  request: FastifyRequest,
  signal: AbortSignal,
): Promise<readonly Scene[]> {
  const caller = callerOf(request);
  const conditions = times === undefined ? {} : { times };
  const scenes = scenesFor(await findItems(context, { layer, grid, caller, ...conditions }, signal), fields);
  if (scenes.length > 0) {
    return scenes;
  }
  if (!overlaps(grid, layer.bbox)) {
    throw new Problem(404, `This area is outside of the coverage, which is in ${layer.bbox.join(",")} (degrees).`);
  }
  const newest = await context.layers.findItems(layer, { limit: 1, ...conditions }, caller, signal);
  const inGap = scenesFor(newest, fields);
  if (inGap.length === 0) {
    throw new Problem(404, "There is nothing in this area at this time.");
  }
  return inGap;
}

/** Whether a grid meets a box in degrees, which may cross the antimeridian. */
function overlaps({ bbox, crs }: Grid, [west, south, east, north]: Bbox): boolean {
  const box = reprojectBbox(bbox, crs, parseCrs("OGC:CRS84"));
  if (box === undefined) {
    return false;
  }
  const isAround = east < west || box[2] < box[0];
  return box[1] <= north && box[3] >= south && (isAround || (box[0] <= east && box[2] >= west));
}

export const COVERAGE_FORMATS: Readonly<Record<string, OutputFormat>> = {
  "image/tiff": "tif",
  "image/tiff; application=geotiff": "tif",
  tiff: "tif",
  geotiff: "tif",
  tif: "tif",
  cog: "tif",
  "image/png": "png",
  png: "png",
  "image/jpeg": "jpeg",
  jpeg: "jpeg",
  "application/x-binary": "npy",
  npy: "npy",
};

/** A part of a coverage as a GeoTIFF, as it is made. */
export async function openCoverage(
  context: DataAccessContext,
  part: CoveragePart,
  request: FastifyRequest,
  signal: AbortSignal,
  known?: readonly Scene[],
): Promise<AsyncGenerator<Uint8Array>> {
  const scenes = known ?? (await findPartScenes(context, part, request, signal));
  const { grid, fields, resampling = "nearest", coverage } = part;
  return context.pool.coverage(
    {
      scenes,
      grid,
      expressions: fields,
      resampling,
      selection: coverage.layer.selection,
      maxPixels: MAX_COVERAGE_PIXELS,
    },
    signal,
  );
}

/** Sends the values of a part of a coverage, a GeoTIFF as it is made. */
export async function sendCoverage(
  context: DataAccessContext,
  part: CoveragePart,
  format: OutputFormat,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const signal = signalOf(reply);
  const scenes = await findPartScenes(context, part, request, signal);
  const { grid, fields, resampling = "nearest", coverage } = part;
  if (format !== "tif") {
    const { selection } = coverage.layer;
    const image = await context.pool.image(
      { scenes, grid, expressions: fields, resampling, selection, format },
      signal,
    );
    return sendImage(request, reply, image);
  }
  const parts = await openCoverage(context, part, request, signal, scenes);
  // What is wrong is told as long as nothing is sent.
  const start = await parts.next();
  const name = `${coverage.layer.id.replaceAll(/[^\w.-]/g, "_").slice(0, 100)}.tif`;
  return reply
    .type("image/tiff; application=geotiff; profile=cloud-optimized")
    .header("content-disposition", `attachment; filename="${name}"`)
    .header("cache-control", "private, no-cache")
    .send(
      Readable.from(
        (async function* () {
          if (start.done !== true) {
            yield Buffer.from(start.value);
          }
          yield* parts;
        })(),
        { objectMode: false },
      ),
    );
}
