import { type Bbox, type Clip, type Crs, type Grid, parseCrs, reprojectBbox } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { type Coverage, findCoverage } from "../coverages/coverage.ts";
import {
  type SeriesRow,
  distancesOf,
  toGridCoverage,
  toPointSeries,
  toTrajectory,
} from "../coverages/coverage-json.ts";
import { parseFields, toCoverageJson } from "../coverages/routes.ts";
import { toCoverageGrid } from "../coverages/subset.ts";
import { type DataAccessContext, callerOf, signalOf } from "../http/context.ts";
import { boundsOf, parseWkt } from "../http/geometry.ts";
import type { LayerItem } from "../layers/layer.ts";
import { parseTimes } from "../layers/parse-time.ts";
import { type Query, one, parseCount } from "../tiler/parameters.ts";
import { parseNumbers } from "../tiler/request-grid.ts";
import { scenesFor } from "../tiler/scene-target.ts";
import { alongLine, boundsOfPoints, readAlong, requireLine, toGrid, toLineCsv } from "./along-line.ts";
import { parseDistance, toCircle } from "./circle.ts";
import { toCorridor } from "./corridor.ts";
import { decodeGeohash } from "./geohash.ts";

const tagged = { schema: { tags: ["edr"] } as object };
const COVERAGE_JSON = "application/prs.coverage+json";
const DEGREES = parseCrs("OGC:CRS84");
/** Scenes that a series is made of, the newest. */
const MAX_SCENES = 200;
const MAX_POSITIONS = 10;
/** Longer side of an area. */
const AREA_SIZE = 256;
const MAX_SIDE = 65_535;
/** Scenes that are read at the same time. */
const CONCURRENCY = 8;

/** OGC API Environmental Data Retrieval: values over time at a position, of areas, along a line. */
export function addEdrRoutes(app: FastifyInstance, context: DataAccessContext): void {
  const { pool, layers } = context;

  const openCollection = async (request: FastifyRequest, reply: FastifyReply) => {
    const { collection } = request.params as { collection: string };
    const query = request.query as Query;
    checkHeight(query);
    const coverage = await findCoverage(context, collection, request, signalOf(reply));
    return {
      coverage,
      names: parseFields(coverage, one(query["parameter-name"])),
      crs: parseCrs(one(query["crs"]) ?? "OGC:CRS84"),
      times: parseTimes(one(query["datetime"])),
      signal: signalOf(reply),
    };
  };
  const open = async (request: FastifyRequest, reply: FastifyReply) => {
    const text = one((request.query as Query)["coords"]);
    if (text === undefined) {
      throw new Problem(400, "coords is missing: well-known text such as POINT(15.3 46.3).");
    }
    return { ...(await openCollection(request, reply)), geometry: parseWkt(text) };
  };
  const findScenes = (
    { layer }: Coverage,
    bbox: Bbox,
    {
      crs,
      times,
      signal,
    }: { readonly crs: Crs; readonly times: ReturnType<typeof parseTimes>; readonly signal: AbortSignal },
    request: FastifyRequest,
  ): Promise<readonly LayerItem[]> => {
    const area = reprojectBbox(bbox, crs, DEGREES);
    return area === undefined
      ? Promise.resolve([])
      : layers.findItems(
          layer,
          { bbox: area, limit: MAX_SCENES, ...(times !== undefined && { times }) },
          callerOf(request),
          signal,
        );
  };

  const readSeries = async (
    items: readonly LayerItem[],
    names: readonly string[],
    grid: Grid,
    signal: AbortSignal,
  ): Promise<readonly SeriesRow[]> => {
    const rows: SeriesRow[] = [];
    const waiting = items.values();
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        for (const item of waiting) {
          const scenes = scenesFor([item], names);
          if (scenes.length === 0) {
            continue;
          }
          const { planes } = await pool.pixels({ scenes, grid, expressions: names, resampling: "nearest" }, signal);
          const values = planes.map(({ samples, mask }) => (mask[0] === 0 ? null : (samples[0] ?? null)));
          if (values.some((value) => value !== null)) {
            rows.push({ time: item.datetime ?? "", item: item.id, values });
          }
        }
      }),
    );
    return rows.toSorted((a, b) => a.time.localeCompare(b.time));
  };

  const sendPositions = async (
    requested: Awaited<ReturnType<typeof openCollection>>,
    points: readonly (readonly [x: number, y: number])[],
    request: FastifyRequest,
    reply: FastifyReply,
  ) => {
    const { coverage, names, crs, signal } = requested;
    const fields = names.map((name) => coverage.fields.find((field) => field.name === name)!);
    const half = crs.isGeographic ? 1e-6 : 0.1;
    const series = await Promise.all(
      points.map(async ([x, y]) => {
        const bbox: Bbox = [x - half, y - half, x + half, y + half];
        const items = await findScenes(coverage, bbox, requested, request);
        return { x, y, rows: await readSeries(items, names, { crs, bbox, width: 1, height: 1 }, signal) };
      }),
    );
    if (one((request.query as Query)["f"])?.toLowerCase() === "csv") {
      const lines = series.flatMap(({ x, y, rows }) =>
        rows.map(({ time, item, values }) =>
          [x, y, time, quote(item), ...values.map((value) => value ?? "")].join(","),
        ),
      );
      return reply
        .type("text/csv; charset=utf-8")
        .send([`x,y,datetime,item,${names.join(",")}`, ...lines, ""].join("\r\n"));
    }
    const coverages = series.map(({ x, y, rows }) => toPointSeries(x, y, crs, fields, rows));
    return reply
      .type(COVERAGE_JSON)
      .send(coverages.length === 1 ? coverages[0] : { type: "CoverageCollection", coverages });
  };
  app.get("/collections/:collection/position", tagged, async (request, reply) => {
    const requested = await open(request, reply);
    const points = requested.geometry.parts.flat();
    if (!requested.geometry.type.endsWith("POINT") || points.length > MAX_POSITIONS) {
      throw new Problem(400, `coords must be a POINT, or a MULTIPOINT of up to ${MAX_POSITIONS}.`);
    }
    return sendPositions(requested, points, request, reply);
  });
  app.get("/collections/:collection/locations/:location", tagged, async (request, reply) => {
    const { location } = request.params as { location: string };
    const cell = decodeGeohash(location);
    if (cell === undefined) {
      throw new Problem(
        404,
        `There is no location "${location.slice(0, 20)}": locations are geohashes, such as u24q7d.`,
      );
    }
    const middle = [(cell[0] + cell[2]) / 2, (cell[1] + cell[3]) / 2] as const;
    const requested = await openCollection(request, reply);
    return sendPositions({ ...requested, crs: DEGREES }, [middle], request, reply);
  });

  const sendArea = async (
    requested: Awaited<ReturnType<typeof open>>,
    clip: Clip,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => {
    const { coverage, names, crs, signal } = requested;
    const bbox = boundsOf(clip, crs);
    const items = await findScenes(coverage, bbox, requested, request);
    const scenes = scenesFor(items, names);
    const grid = toGrid(bbox, crs, AREA_SIZE);
    const { planes } = await pool.pixels({ scenes, grid, expressions: names, clip, resampling: "average" }, signal);
    const ranges = planes.map(({ samples, mask }, at) => ({
      field: coverage.fields.find(({ name }) => name === names[at])!,
      values: Array.from(samples, (value, index) => (mask[index] === 0 || !Number.isFinite(value) ? null : value)),
    }));
    return reply.type(COVERAGE_JSON).send(toGridCoverage(grid, ranges, undefined));
  };
  app.get("/collections/:collection/area", tagged, async (request, reply) => {
    const requested = await open(request, reply);
    const { geometry, crs } = requested;
    if (!geometry.type.endsWith("POLYGON")) {
      throw new Problem(400, "coords must be a POLYGON or MULTIPOLYGON.");
    }
    return sendArea(requested, { crs, rings: geometry.parts }, request, reply);
  });
  app.get("/collections/:collection/radius", tagged, async (request, reply) => {
    const requested = await open(request, reply);
    const query = request.query as Query;
    const [point, another] = requested.geometry.parts.flat();
    if (requested.geometry.type !== "POINT" || point === undefined || another !== undefined) {
      throw new Problem(400, "coords must be a POINT.");
    }
    const metres = parseDistance(one(query["within"]), one(query["within-units"]));
    return sendArea(requested, toCircle(point, requested.crs, metres), request, reply);
  });

  app.get("/collections/:collection/corridor", tagged, async (request, reply) => {
    const requested = await open(request, reply);
    const query = request.query as Query;
    const metres = parseDistance(one(query["corridor-width"]), one(query["width-units"]), "corridor-width");
    checkCorridorHeight(query, requested.coverage);
    return sendArea(requested, toCorridor(requireLine(requested.geometry), requested.crs, metres), request, reply);
  });

  app.get("/collections/:collection/cube", tagged, async (request, reply) => {
    const { collection } = request.params as { collection: string };
    const query = request.query as Query;
    checkHeight(query);
    const text = one(query["bbox"]);
    if (text === undefined) {
      throw new Problem(400, "bbox is missing: west,south,east,north.");
    }
    const crs = parseCrs(one(query["crs"]) ?? "OGC:CRS84");
    const numbers = parseNumbers(text, 4);
    const [minX, minY, maxX, maxY] = crs.isNorthFirst ? [numbers[1], numbers[0], numbers[3], numbers[2]] : numbers;
    const coverage = await findCoverage(context, collection, request, signalOf(reply));
    const [width, height] = ["resolution-x", "resolution-y"].map((name) => parseCount(query, name, MAX_SIDE));
    const grid = toCoverageGrid(coverage.grid, {
      pixels: coverage.pixels,
      subsets: [
        { axis: "x", low: String(minX), high: String(maxX), isSlice: false },
        { axis: "y", low: String(minY), high: String(maxY), isSlice: false },
      ],
      subsetCrs: crs,
      outputCrs: crs,
      scaling: { ...(width !== undefined && { width }), ...(height !== undefined && { height }) },
    });
    const part = {
      coverage,
      grid,
      fields: parseFields(coverage, one(query["parameter-name"])),
      times: parseTimes(one(query["datetime"])),
    };
    return reply.type(COVERAGE_JSON).send(await toCoverageJson(context, part, request, reply));
  });

  app.get("/collections/:collection/trajectory", tagged, async (request, reply) => {
    const requested = await open(request, reply);
    const { coverage, names, geometry, crs, signal } = requested;
    const points = alongLine(requireLine(geometry));
    const bbox = boundsOfPoints(points, crs);
    const scenes = scenesFor(await findScenes(coverage, bbox, requested, request), names);
    const values = await readAlong(pool, { points, crs, scenes, expressions: names }, signal);
    if (one((request.query as Query)["f"])?.toLowerCase() === "csv") {
      return reply.type("text/csv; charset=utf-8").send(toLineCsv(values, distancesOf(values, crs), names));
    }
    const fields = names.map((name) => coverage.fields.find((field) => field.name === name)!);
    return reply.type(COVERAGE_JSON).send(toTrajectory(values, crs, fields));
  });
}

/** Positions of cubes in other dimensions are parameters of their own. @throws {Problem} 400 */
function checkHeight(query: Query): void {
  if (one(query["z"]) !== undefined) {
    throw new Problem(400, "z has no effect: values have no heights here; parameter-name chooses levels of cubes.");
  }
}

/**
 * The line is on the ground, as the values are: a corridor of any height has them. Values at several heights it cannot choose from.
 * @throws {Problem} 400
 */
function checkCorridorHeight(query: Query, { layer: { dimensions = [] } }: Coverage): void {
  const [height, units] = [one(query["corridor-height"]), one(query["height-units"])];
  if (height === undefined && units === undefined) {
    return;
  }
  parseDistance(height, units, "corridor-height");
  const heights = dimensions.find(({ kind }) => kind === "elevation");
  if (heights !== undefined) {
    throw new Problem(
      400,
      `corridor-height has no effect on values at several heights (${heights.name}); leave it out, and choose levels by parameter-name.`,
    );
  }
}

const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
