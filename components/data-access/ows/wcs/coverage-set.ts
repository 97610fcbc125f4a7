import { Readable } from "node:stream";

import { writeZip } from "@swath/archive";
import type { Bbox } from "@swath/raster";
import type { FastifyReply, FastifyRequest } from "fastify";

import { type Coverage, describeCoverage } from "../../coverages/coverage.ts";
import { openCoverage } from "../../coverages/send-coverage.ts";
import { MAX_COVERAGE_PIXELS, parseSubset, timesOf } from "../../coverages/subset.ts";
import { type DataAccessContext, callerOf, signalOf } from "../../http/context.ts";
import type { Layer } from "../../layers/layer.ts";
import { ITEM_SEPARATOR, toBbox } from "../../layers/names.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError } from "../ows-error.ts";
import { writeSeriesDescription } from "./capabilities.ts";
import { writeDescription } from "./describe.ts";
import { toCoveragePart } from "./get-coverage.ts";
import { NAMESPACES } from "./xml.ts";

const MAX_DESCRIBED = 100;
const DEFAULT_COUNT = 20;
const MAX_COVERAGES = 50;
/** Coverages of one package. */
const MAX_PACKED = 20;

const SECTIONS = ["CoverageDescriptions", "DatasetSeriesDescriptions", "All"];

/** DescribeEOCoverageSet (OGC 10-140r1 section 8.2). A collection is a series, and the stitched mosaic of its scenes. */
export async function describeSet(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  signal: AbortSignal,
): Promise<string> {
  const sections = (kvp.get("SECTIONS") ?? "All").split(",");
  if (!sections.every((name) => SECTIONS.includes(name))) {
    throw new OwsError("InvalidParameterValue", `SECTIONS must be some of ${SECTIONS.join(", ")}.`, {
      locator: "sections",
    });
  }
  const isWanted = (name: string) => sections.includes(name) || sections.includes("All");
  const set = await findSet(context, kvp, request, signal, { most: MAX_DESCRIBED, withMosaics: true });
  const found = isWanted("CoverageDescriptions") ? set.found : [];
  const series = isWanted("DatasetSeriesDescriptions") ? set.series.filter(({ kind }) => kind !== "item") : [];
  // COUNT is of both kinds of descriptions together.
  const shown = series.slice(0, Math.max(0, set.count - found.length));
  const coverages = isWanted("CoverageDescriptions")
    ? `<wcs:CoverageDescriptions>${found.map(writeDescription).join("\n")}</wcs:CoverageDescriptions>`
    : "";
  const descriptions = isWanted("DatasetSeriesDescriptions")
    ? `<wcseo:DatasetSeriesDescriptions>${shown.map(writeSeriesDescription).join("")}</wcseo:DatasetSeriesDescriptions>`
    : "";
  return `<?xml version="1.0" encoding="UTF-8"?>\n<wcseo:EOCoverageSetDescription ${NAMESPACES} numberMatched="${found.length + series.length}" numberReturned="${found.length + shown.length}">${coverages}${descriptions}</wcseo:EOCoverageSetDescription>`;
}

/** GetEOCoverageSet (OGC 10-140r2 section 8.4): the coverages that DescribeEOCoverageSet finds, trimmed to the area, as files of a zip. */
export async function getSet(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const signal = signalOf(reply);
  const format = kvp.get("PACKAGEFORMAT") ?? "application/zip";
  if (format.toLowerCase() !== "application/zip") {
    throw new OwsError("InvalidParameterValue", "PACKAGEFORMAT must be application/zip.", { locator: "packageFormat" });
  }
  if (!/^image\/tiff(;|$)/.test(kvp.get("FORMAT") ?? "image/tiff")) {
    throw new OwsError("InvalidParameterValue", "FORMAT must be image/tiff.", { locator: "FORMAT" });
  }
  const { found } = await findSet(context, kvp, request, signal, { most: MAX_PACKED, withMosaics: false });
  const parts = found.map((coverage) => toCoveragePart(coverage, kvp));
  const pixels = parts.reduce((sum, { grid }) => sum + grid.width * grid.height, 0);
  if (found.length === 0) {
    throw new OwsError("NoSuchDatasetSeriesOrCoverage", "There are no coverages in this area at this time.", {
      status: 404,
    });
  }
  if (pixels > MAX_COVERAGE_PIXELS) {
    throw new OwsError(
      "InvalidSubsetting",
      `The ${found.length} coverages have ${pixels} pixels, more than the ${MAX_COVERAGE_PIXELS} allowed; ask for a smaller area, scale down, or set COUNT.`,
      { status: 404 },
    );
  }
  const files = async function* () {
    for (const part of parts) {
      const bytes: Uint8Array[] = [];
      for await (const each of await openCoverage(context, part, request, signal)) {
        bytes.push(each);
      }
      yield {
        name: `${part.coverage.layer.id.replaceAll(/[^\w.-]/g, "_").slice(0, 100)}.tif`,
        content: Buffer.concat(bytes),
      };
    }
  };
  const archive = writeZip(files());
  // What is wrong with the first one is told as long as nothing is sent.
  const start = await archive.next();
  return reply
    .type("application/zip")
    .header("content-disposition", 'attachment; filename="coverages.zip"')
    .header("cache-control", "private, no-cache")
    .send(
      Readable.from(
        (async function* () {
          if (start.done !== true) {
            yield Buffer.from(start.value);
          }
          for await (const each of archive) {
            yield Buffer.from(each.buffer, each.byteOffset, each.byteLength);
          }
        })(),
        { objectMode: false },
      ),
    );
}

interface CoverageSet {
  readonly found: readonly Coverage[];
  readonly series: readonly Layer[];
  /** Descriptions that the client wants at most. */
  readonly count: number;
}

interface SetOptions {
  readonly most: number;
  /** Whether mosaics of series are coverages of them as well. */
  readonly withMosaics: boolean;
}

/** Coverages of series in an area, at a time. */
async function findSet(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  signal: AbortSignal,
  { most, withMosaics }: SetOptions,
): Promise<CoverageSet> {
  const caller = callerOf(request);
  // Named by its series and by itself, it is one coverage: ids of a document must differ.
  const ids = [...new Set(kvp.require("EOID").split(","))].slice(0, MAX_COVERAGES);
  const count = Math.min(most, Math.max(0, Number(kvp.get("COUNT") ?? DEFAULT_COUNT) || 0));
  const { bbox, times, holds } = parseArea(kvp);
  const layers: Layer[] = [];
  const series: Layer[] = [];
  const add = (layer: Layer) => {
    if (layers.length < count && !layers.some(({ id }) => id === layer.id)) {
      layers.push(layer);
    }
  };
  for (const id of ids) {
    const layer = await context.layers.find(id, caller, signal);
    if (layer === undefined) {
      throw new OwsError("NoSuchDatasetSeriesOrCoverage", `There is no "${id.slice(0, 100)}".`, {
        locator: "eoId",
        status: 404,
      });
    }
    series.push(layer);
    if (withMosaics && layer.kind !== "item" && holds(layer.bbox, layer.interval)) {
      add(layer);
    }
    const items = await context.layers.findItems(
      layer,
      { limit: count - layers.length || 1, bbox, ...(times !== undefined && { times }) },
      caller,
      signal,
    );
    for (const item of items.filter(({ bbox: own, datetime, end }) =>
      holds(toBbox(own), [datetime, end ?? datetime]),
    )) {
      const own =
        layer.kind === "item"
          ? layer
          : await context.layers.find(`${item.collection ?? ""}${ITEM_SEPARATOR}${item.id}`, caller, signal);
      if (own !== undefined) {
        add(own);
      }
    }
  }
  const found = await Promise.all(layers.map((layer) => describeCoverage(context, layer, caller, signal)));
  return { found, series, count };
}

/** The trims of a request, and whether an object is in them: wholly with CONTAINMENT=contains, else partly. */
function parseArea(kvp: Kvp) {
  const containment = (kvp.get("CONTAINMENT") ?? "overlaps").toLowerCase();
  if (containment !== "overlaps" && containment !== "contains") {
    throw new OwsError("InvalidParameterValue", "CONTAINMENT must be overlaps or contains.", {
      locator: "containment",
    });
  }
  const subsets = kvp.all("SUBSET").map(parseSubset);
  const times = timesOf(subsets);
  const ends = (axis: "x" | "y", least: number, greatest: number) => {
    const subset = subsets.find((each) => each.axis === axis);
    return [Number(subset?.low ?? least), Number(subset?.high ?? greatest)] as const;
  };
  const [west, east] = ends("x", -180, 180);
  const [south, north] = ends("y", -90, 90);
  const holds = (box: Bbox, [begin, end]: Layer["interval"]): boolean => {
    const [from, to] = [Date.parse(begin ?? end ?? ""), Date.parse(end ?? begin ?? "")];
    if (containment === "overlaps") {
      const isBeside = box[0] <= box[2] && (box[0] > east || box[2] < west);
      return (
        !isBeside &&
        box[1] <= north &&
        box[3] >= south &&
        (times === undefined || times.some(([low, high]) => !(from > high) && !(to < low)))
      );
    }
    return (
      box[0] <= box[2] &&
      box[0] >= west &&
      box[2] <= east &&
      box[1] >= south &&
      box[3] <= north &&
      (times === undefined || times.some(([low, high]) => from >= low && to <= high))
    );
  };
  return { bbox: [west, south, east, north] as const, times, holds };
}
