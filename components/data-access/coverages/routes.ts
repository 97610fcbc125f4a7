import { type Bbox, type Crs, RESAMPLINGS, type Resampling, parseCrs } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { type DataAccessContext, baseUrlOf, signalOf } from "../http/context.ts";
import { parseTimes } from "../layers/parse-time.ts";
import { type Query, listOf, one, parseCount } from "../tiler/parameters.ts";
import { parseNumbers } from "../tiler/request-grid.ts";
import { crsUri } from "../tiles/tile-matrix-sets.ts";
import { type Coverage, findCoverage } from "./coverage.ts";
import { CoverageError } from "./coverage-error.ts";
import { toGridCoverage } from "./coverage-json.ts";
import { COVERAGE_FORMATS, type CoveragePart, findPartScenes, sendCoverage } from "./send-coverage.ts";
import {
  type AxisSubset,
  type Scaling,
  parseAxis,
  parseSubset,
  requireCrs,
  timesOf,
  toCoverageGrid,
} from "./subset.ts";

const tagged = { schema: { tags: ["coverages"] } as object };
const COVERAGE_JSON = "application/prs.coverage+json";
/** Values that are written as text. */
export const MAX_TEXT_VALUES = 1_000_000;
const MAX_SIZE = 65_535;

/** OGC API Coverages: the values of layers, of an area, at times, of some bands, in any system and size. */
export function addCoverageRoutes(app: FastifyInstance, context: DataAccessContext): void {
  const find = (request: FastifyRequest, reply: FastifyReply): Promise<Coverage> =>
    findCoverage(context, (request.params as { collection: string }).collection, request, signalOf(reply));

  app.get("/collections/:collection/coverage", tagged, async (request, reply) => {
    const part = parsePart(await find(request, reply), request.query as Query);
    const requested = formatOf(request);
    if (requested !== COVERAGE_JSON) {
      return sendCoverage(context, part, COVERAGE_FORMATS[requested] ?? "tif", request, reply);
    }
    return reply.type(COVERAGE_JSON).send(await toCoverageJson(context, part, request, reply));
  });
  app.get("/collections/:collection/coverage/domainset", tagged, async (request, reply) =>
    describeDomain(await find(request, reply)),
  );
  app.get(
    "/collections/:collection/coverage/rangetype",
    tagged,
    async (request, reply) => describeRange(await find(request, reply)).rangeType,
  );
  app.get("/collections/:collection/schema", tagged, async (request, reply) => {
    const { fields, layer } = await find(request, reply);
    return {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: `${baseUrlOf(request)}/collections/${encodeURIComponent(layer.id)}/schema`,
      type: "object",
      title: layer.title,
      properties: Object.fromEntries(
        fields.map(({ name, title, band: { unit } }, at) => [
          name,
          { title, type: "number", "x-ogc-propertySeq": at + 1, ...(unit !== undefined && { "x-ogc-unit": unit }) },
        ]),
      ),
    };
  });
  // Earlier versions of the platform described coverages here.
  app.get("/coverages/metadata", tagged, async (request, reply) => {
    const id = one((request.query as Query)["id"]) ?? one((request.query as Query)["coverageid"]);
    if (id === undefined) {
      throw new Problem(400, "id is missing: the name of a collection or item.");
    }
    const coverage = await findCoverage(context, id, request, signalOf(reply));
    return { id: coverage.layer.id, ...describeDomain(coverage), ...describeRange(coverage) };
  });
}

/** Values of an area as CoverageJSON, of bounded size. */
export async function toCoverageJson(
  context: DataAccessContext,
  part: CoveragePart,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { grid, coverage, resampling = "nearest" } = part;
  if (grid.width * grid.height * part.fields.length > MAX_TEXT_VALUES) {
    throw new Problem(400, `${MAX_TEXT_VALUES} values are written as text at most; scale it down, or ask for GeoTIFF.`);
  }
  const signal = signalOf(reply);
  const scenes = await findPartScenes(context, part, request, signal);
  const { planes } = await context.pool.pixels({ scenes, grid, expressions: part.fields, resampling }, signal);
  const ranges = planes.map(({ samples, mask }, at) => ({
    field: coverage.fields.find(({ name }) => name === part.fields[at]) ?? coverage.fields[0]!,
    values: Array.from(samples, (value, index) => (mask[index] === 0 || !Number.isFinite(value) ? null : value)),
  }));
  return toGridCoverage(
    grid,
    ranges,
    coverage.layer.kind === "item" ? (coverage.layer.interval[0] ?? undefined) : undefined,
  );
}

function parsePart(coverage: Coverage, query: Query): CoveragePart {
  const subsets: AxisSubset[] = listOf(query["subset"]).flatMap((text) => text.split(/(?<=\)),/).map(parseSubset));
  const subsetCrs = one(query["subset-crs"]);
  const bbox = one(query["bbox"]);
  const crs: Crs = parseCrs(one(query["bbox-crs"]) ?? "OGC:CRS84");
  if (bbox !== undefined) {
    const numbers = parseNumbers(bbox, 4);
    const [minX, minY, maxX, maxY] = (crs.isNorthFirst
      ? [numbers[1], numbers[0], numbers[3], numbers[2]]
      : numbers) as unknown as Bbox;
    subsets.push(
      { axis: "x", low: String(minX), high: String(maxX), isSlice: false },
      { axis: "y", low: String(minY), high: String(maxY), isSlice: false },
    );
  }
  const output = one(query["crs"]);
  const grid = toCoverageGrid(coverage.grid, {
    pixels: coverage.pixels,
    subsets,
    subsetCrs:
      bbox !== undefined
        ? crs
        : subsetCrs !== undefined
          ? requireCrs(subsetCrs, "SubsettingCrs-NotSupported")
          : guessSubsetCrs(subsets, query, coverage.grid.crs),
    outputCrs: output === undefined ? coverage.grid.crs : requireCrs(output, "OutputCrs-NotSupported"),
    scaling: parseScaling(query),
  });
  const resampling = RESAMPLINGS.find((each): each is Resampling => each === one(query["resampling"]));
  return {
    coverage,
    grid,
    fields: parseFields(coverage, one(query["properties"])),
    times: parseTimes(one(query["datetime"])) ?? timesOf(subsets),
    ...(resampling !== undefined && { resampling }),
  };
}

/** Lat and Lon are degrees whatever the coverage's own system is. */
function guessSubsetCrs(subsets: readonly AxisSubset[], query: Query, native: Crs): Crs {
  const isDegrees = listOf(query["subset"]).some((text) => /(^|,)\s*(lat|lon)/i.test(text));
  return subsets.length > 0 && isDegrees ? parseCrs("OGC:CRS84") : native;
}

function parseScaling(query: Query): Scaling {
  // GDAL has the names of a draft.
  const factor = one(query["scale-factor"]) ?? one(query["scaleFactor"]);
  const [width, height] = [parseCount(query, "width", MAX_SIZE), parseCount(query, "height", MAX_SIZE)];
  const size = parseByAxis(one(query["scale-size"]) ?? one(query["scaleSize"]));
  const factors = parseByAxis(one(query["scale-axes"]) ?? one(query["scaleAxes"]));
  const [wide, high] = [width ?? size.x, height ?? size.y];
  return {
    // The standard's factor divides.
    ...(factor !== undefined && { factor: 1 / Number(factor) }),
    ...(factors.x !== undefined && { factorX: 1 / factors.x }),
    ...(factors.y !== undefined && { factorY: 1 / factors.y }),
    ...(wide !== undefined && { width: wide }),
    ...(high !== undefined && { height: high }),
  };
}

function parseByAxis(text: string | undefined): { readonly x?: number; readonly y?: number } {
  return Object.fromEntries(
    (text ?? "")
      .split(/(?<=\)),/)
      .filter((each) => each !== "")
      .map((each) => {
        const [, name = "", number = ""] = /^([^()]+)\(([^()]+)\)$/.exec(each) ?? [];
        const value = Number(number);
        if (number === "" || !(value > 0) || value > MAX_SIZE) {
          throw new CoverageError("InvalidScaleFactor", "Scaling must have the form axis(number),axis(number).");
        }
        return [parseAxis(name), value];
      }),
  );
}

/** `properties`: names of fields. @throws {CoverageError} `NoSuchField` */
export function parseFields({ fields }: Coverage, text: string | undefined): readonly string[] {
  const names = text?.split(",").map((name) => name.trim()) ?? fields.map(({ name }) => name);
  const unknown = names.find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) {
    throw new CoverageError(
      "NoSuchField",
      `There is no field "${unknown.slice(0, 50)}"; fields: ${fields.map(({ name }) => name).join(", ")}.`,
    );
  }
  return names;
}

function formatOf(request: FastifyRequest): string {
  const requested = one((request.query as Query)["f"]);
  if (requested !== undefined) {
    if (/^(json|coveragejson|covjson)$|coverage\+json/i.test(requested)) {
      return COVERAGE_JSON;
    }
    if (COVERAGE_FORMATS[requested.toLowerCase()] === undefined) {
      throw new Problem(400, "f must be tiff, png, jpeg, npy or covjson.");
    }
    return requested.toLowerCase();
  }
  const accepted = (request.headers.accept ?? "").split(",").map((each) => each.split(";")[0]?.trim() ?? "");
  return accepted.includes(COVERAGE_JSON)
    ? COVERAGE_JSON
    : (accepted.find((each) => COVERAGE_FORMATS[each] !== undefined) ?? "tiff");
}

function describeDomain({ grid: { crs, bbox, width, height }, layer }: Coverage) {
  const [minX, minY, maxX, maxY] = bbox;
  const isNorthFirst = crs.isNorthFirst;
  const [x, y] = crs.isGeographic ? (["Lon", "Lat"] as const) : (["E", "N"] as const);
  const axis = (label: string, lower: number, upper: number, count: number) => ({
    type: "RegularAxis",
    axisLabel: label,
    lowerBound: lower,
    upperBound: upper,
    resolution: (upper - lower) / count,
  });
  const axes = [axis(x, minX, maxX, width), axis(y, minY, maxY, height)];
  const generalGrid = {
    type: "GeneralGridCoverage",
    srsName: crsUri(crs),
    // In the order of the system's own axes.
    axisLabels: isNorthFirst ? [y, x] : [x, y],
    axis: isNorthFirst ? axes.toReversed() : axes,
    gridLimits: {
      type: "GridLimits",
      axisLabels: ["i", "j"],
      axis: [
        { type: "IndexAxis", axisLabel: "i", lowerBound: 0, upperBound: width - 1 },
        { type: "IndexAxis", axisLabel: "j", lowerBound: 0, upperBound: height - 1 },
      ],
    },
  };
  return { type: "DomainSet", generalGrid, interval: layer.interval };
}

const describeRange = ({ fields }: Coverage) => ({
  rangeType: {
    type: "DataRecord",
    field: fields.map(({ name, title, band }) => ({
      type: "Quantity",
      id: name,
      name,
      description: title,
      encodingInfo: { dataType: band.type },
      ...(band.unit !== undefined && { uom: { type: "UnitReference", code: band.unit } }),
      ...(band.nodata !== undefined && { nilValues: [String(band.nodata)] }),
    })),
  },
});
