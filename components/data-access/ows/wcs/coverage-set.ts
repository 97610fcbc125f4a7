import { Readable } from "node:stream";

import { writeZip } from "@swath/archive";
import type { FastifyReply, FastifyRequest } from "fastify";

import { type Coverage, describeCoverage } from "../../coverages/coverage.ts";
import { openCoverage } from "../../coverages/send-coverage.ts";
import { MAX_COVERAGE_PIXELS, parseSubset, timesOf } from "../../coverages/subset.ts";
import { type DataAccessContext, callerOf, signalOf } from "../../http/context.ts";
import type { Layer } from "../../layers/layer.ts";
import { ITEM_SEPARATOR } from "../../layers/names.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError } from "../ows-error.ts";
import { toEntry, writeSeries } from "./capabilities.ts";
import { writeDescription } from "./describe.ts";
import { toCoveragePart } from "./get-coverage.ts";
import { NAMESPACES } from "./xml.ts";

const MAX_DESCRIBED = 100;
const DEFAULT_COUNT = 20;
const MAX_COVERAGES = 50;
/** Coverages of one package. */
const MAX_PACKED = 20;

/** DescribeEOCoverageSet (OGC 10-140r1 section 8.2). */
export async function describeSet(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  signal: AbortSignal,
): Promise<string> {
  const { found, series } = await findSet(context, kvp, request, signal, MAX_DESCRIBED);
  const shown = series.filter(({ kind }) => kind !== "item").map((layer) => writeSeries(toEntry(layer, true)));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<wcseo:EOCoverageSetDescription ${NAMESPACES} numberMatched="${found.length}" numberReturned="${found.length}"><wcs:CoverageDescriptions>${found.map(writeDescription).join("\n")}</wcs:CoverageDescriptions><wcseo:DatasetSeriesDescriptions>${shown.join("")}</wcseo:DatasetSeriesDescriptions></wcseo:EOCoverageSetDescription>`;
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
  const { found } = await findSet(context, kvp, request, signal, MAX_PACKED);
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
}

/** Items of series in an area, at a time. */
async function findSet(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  signal: AbortSignal,
  most: number,
): Promise<CoverageSet> {
  const caller = callerOf(request);
  const ids = kvp.require("EOID").split(",").slice(0, MAX_COVERAGES);
  const count = Math.min(most, Math.max(0, Number(kvp.get("COUNT") ?? DEFAULT_COUNT) || 0));
  const subsets = kvp.all("SUBSET").map(parseSubset);
  const times = timesOf(subsets);
  const ends = (axis: "x" | "y", least: number, greatest: number) => {
    const subset = subsets.find((each) => each.axis === axis);
    return [Number(subset?.low ?? least), Number(subset?.high ?? greatest)] as const;
  };
  const [west, east] = ends("x", -180, 180);
  const [south, north] = ends("y", -90, 90);
  const found: Coverage[] = [];
  const series: Layer[] = [];
  for (const id of ids) {
    const layer = await context.layers.find(id, caller, signal);
    if (layer === undefined) {
      throw new OwsError("NoSuchDatasetSeriesOrCoverage", `There is no "${id.slice(0, 100)}".`, {
        locator: "eoId",
        status: 404,
      });
    }
    series.push(layer);
    const items = await context.layers.findItems(
      layer,
      { limit: count - found.length || 1, bbox: [west, south, east, north], ...(times !== undefined && { times }) },
      caller,
      signal,
    );
    for (const item of items) {
      if (found.length >= count) {
        break;
      }
      const own =
        layer.kind === "item"
          ? layer
          : await context.layers.find(`${item.collection ?? ""}${ITEM_SEPARATOR}${item.id}`, caller, signal);
      // Named by its series and by itself, it is one coverage: ids of a document must differ.
      if (own !== undefined && !found.some((each) => each.layer.id === own.id)) {
        found.push(await describeCoverage(context, own, caller, signal));
      }
    }
  }
  return { found, series };
}
