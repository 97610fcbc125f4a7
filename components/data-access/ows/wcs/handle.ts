import { Problem } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";

import { type Coverage, describeCoverage, findCoverage } from "../../coverages/coverage.ts";
import { CoverageError } from "../../coverages/coverage-error.ts";
import { parseSubset, timesOf } from "../../coverages/subset.ts";
import { type DataAccessContext, baseUrlOf, callerOf, signalOf } from "../../http/context.ts";
import type { Layer } from "../../layers/layer.ts";
import { ITEM_SEPARATOR, toBbox } from "../../layers/names.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError, escapeXml } from "../ows-error.ts";
import { toOwsError } from "../wms/handle.ts";
import { type CoverageEntry, writeCapabilities, writeSeries } from "./capabilities.ts";
import { writeDescription } from "./describe.ts";
import { getCoverage } from "./get-coverage.ts";
import { handleOldWcs } from "./old-versions.ts";
import { NAMESPACES } from "./xml.ts";

/** Items that capabilities list of each collection; DescribeEOCoverageSet finds the others. */
const MAX_LISTED = 20;
const MAX_DESCRIBED = 100;
const DEFAULT_DESCRIBED = 20;
const MAX_COVERAGES = 50;

/** Web Coverage Service 2.0.1 with EO-WCS; versions 1.1 and 1.0 for clients that know nothing newer. */
export async function handleWcs(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<FastifyReply> {
  const url = `${baseUrlOf(request)}${path}`;
  try {
    const version = versionOf(kvp);
    if (version !== "2.0.1") {
      return await handleOldWcs({
        context,
        kvp,
        request,
        reply,
        url,
        version,
        entries: () => listCoverages(context, request, reply),
      });
    }
    return await answer(context, kvp, request, reply, url);
  } catch (error) {
    return sendReport(error, reply);
  }
}

/** The version that the client names, or the highest that it accepts. */
function versionOf(kvp: Kvp): "2.0.1" | "1.1.1" | "1.0.0" {
  const named = kvp.get("VERSION") ?? kvp.get("ACCEPTVERSIONS")?.split(",")[0];
  return named?.startsWith("1.0") === true ? "1.0.0" : named?.startsWith("1.1") === true ? "1.1.1" : "2.0.1";
}

async function answer(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  reply: FastifyReply,
  url: string,
): Promise<FastifyReply> {
  const send = (xml: string) => reply.type("text/xml; charset=utf-8").send(xml);
  const signal = signalOf(reply);
  switch (kvp.require("REQUEST").toLowerCase()) {
    case "getcapabilities":
      return send(writeCapabilities(context.title, url, await listCoverages(context, request, reply)));
    case "describecoverage": {
      const ids = kvp.require("COVERAGEID").split(",").slice(0, MAX_COVERAGES);
      const coverages = await Promise.all(ids.map((id) => require404(context, id, request, signal)));
      return send(
        `<?xml version="1.0" encoding="UTF-8"?>\n<wcs:CoverageDescriptions ${NAMESPACES}>${coverages.map(writeDescription).join("\n")}</wcs:CoverageDescriptions>`,
      );
    }
    case "getcoverage": {
      const coverage = await require404(context, kvp.require("COVERAGEID"), request, signal);
      return getCoverage(context, coverage, kvp, request, reply);
    }
    case "describeeocoverageset":
      return send(await describeSet(context, kvp, request, signal));
    default:
      throw new OwsError("OperationNotSupported", "REQUEST must be an operation of WCS 2.0.", {
        locator: "REQUEST",
        status: 501,
      });
  }
}

async function require404(
  context: DataAccessContext,
  id: string,
  request: FastifyRequest,
  signal: AbortSignal,
): Promise<Coverage> {
  try {
    return await findCoverage(context, id, request, signal);
  } catch (error) {
    throw error instanceof Problem && error.status === 404
      ? new OwsError("NoSuchCoverage", error.message, { locator: "coverageId", status: 404 })
      : error;
  }
}

/** Collections as series, and as mosaics; the newest items of each as coverages. */
async function listCoverages(
  context: DataAccessContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<readonly CoverageEntry[]> {
  const [caller, signal] = [callerOf(request), signalOf(reply)];
  const layers = await context.layers.list(caller, signal);
  const lists = await Promise.all(
    layers.map(async (layer) => {
      const items = await context.layers.findItems(layer, { limit: MAX_LISTED }, caller, signal);
      return [
        toEntry(layer, true),
        toEntry(layer, false),
        ...items.map(({ id, bbox, datetime }): CoverageEntry => ({
          id: `${layer.id}${ITEM_SEPARATOR}${id}`,
          title: id,
          bbox: toBbox(bbox),
          interval: [datetime, datetime],
          isSeries: false,
        })),
      ];
    }),
  );
  return lists.flat();
}

const toEntry = ({ id, title, bbox, interval }: Layer, isSeries: boolean): CoverageEntry => ({
  id,
  title,
  bbox,
  interval,
  isSeries,
});

/** DescribeEOCoverageSet (OGC 10-140r1 section 8.2): items of series in an area, at a time. */
async function describeSet(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  signal: AbortSignal,
): Promise<string> {
  const caller = callerOf(request);
  const ids = kvp.require("EOID").split(",").slice(0, MAX_COVERAGES);
  const count = Math.min(MAX_DESCRIBED, Math.max(0, Number(kvp.get("COUNT") ?? DEFAULT_DESCRIBED) || 0));
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
      if (own !== undefined) {
        found.push(await describeCoverage(context, own, caller, signal));
      }
    }
  }
  const shown = series.filter(({ kind }) => kind !== "item").map((layer) => writeSeries(toEntry(layer, true)));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<wcseo:EOCoverageSetDescription ${NAMESPACES} numberMatched="${found.length}" numberReturned="${found.length}"><wcs:CoverageDescriptions>${found.map(writeDescription).join("\n")}</wcs:CoverageDescriptions><wcseo:DatasetSeriesDescriptions>${shown.join("")}</wcseo:DatasetSeriesDescriptions></wcseo:EOCoverageSetDescription>`;
}

/** An exception report of OWS 2.0. What is a fault of this service is none of the client's. */
async function sendReport(error: unknown, reply: FastifyReply): Promise<FastifyReply> {
  const known =
    error instanceof CoverageError ? new OwsError(error.code, error.message, { status: 404 }) : toOwsError(error);
  if (known === undefined) {
    throw error;
  }
  const locator = known.locator === undefined ? "" : ` locator="${known.locator}"`;
  return reply
    .code(known.status)
    .type("text/xml; charset=utf-8")
    .send(
      `<?xml version="1.0" encoding="UTF-8"?>\n<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/2.0" version="2.0.1"><ows:Exception exceptionCode="${known.code}"${locator}><ows:ExceptionText>${escapeXml(known.message)}</ows:ExceptionText></ows:Exception></ows:ExceptionReport>`,
    );
}
