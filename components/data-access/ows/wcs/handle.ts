import { Problem } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";

import { type Coverage, findCoverage } from "../../coverages/coverage.ts";
import { CoverageError } from "../../coverages/coverage-error.ts";
import { type DataAccessContext, baseUrlOf, callerOf, signalOf } from "../../http/context.ts";
import { ITEM_SEPARATOR, toBbox } from "../../layers/names.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError, escapeXml } from "../ows-error.ts";
import { toOwsError } from "../wms/handle.ts";
import { type CoverageEntry, toEntry, writeCapabilities } from "./capabilities.ts";
import { describeSet, getSet } from "./coverage-set.ts";
import { writeDescription } from "./describe.ts";
import { getCoverage } from "./get-coverage.ts";
import { handleOldWcs } from "./old-versions.ts";
import { NAMESPACES } from "./xml.ts";

/** Items that capabilities list of each collection; DescribeEOCoverageSet finds the others. */
const MAX_LISTED = 20;
const MAX_COVERAGES = 50;

/** Web Coverage Service 2.0.1 with EO-WCS; versions 1.1 and 1.0 for clients that know nothing newer. `parse` may throw an `OwsError`. */
export async function handleWcs(
  context: DataAccessContext,
  parse: () => Kvp,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<FastifyReply> {
  const url = `${baseUrlOf(request)}${path}`;
  try {
    const kvp = parse();
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
    return await response(context, kvp, request, reply, url);
  } catch (error) {
    return sendReport(error, reply);
  }
}

/** The version that the client names, or the highest that it accepts. */
function versionOf(kvp: Kvp): "2.0.1" | "1.1.1" | "1.0.0" {
  const named = kvp.get("VERSION") ?? kvp.get("ACCEPTVERSIONS")?.split(",")[0];
  return named?.startsWith("1.0") === true ? "1.0.0" : named?.startsWith("1.1") === true ? "1.1.1" : "2.0.1";
}

async function response(
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
      // Named twice, it is one coverage: ids of a document must differ.
      const ids = [...new Set(kvp.require("COVERAGEID").split(","))].slice(0, MAX_COVERAGES);
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
    case "geteocoverageset":
      return getSet(context, kvp, request, reply);
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
        toEntry(layer, "series"),
        toEntry(layer, "mosaic"),
        ...items.map(({ id, bbox, datetime }): CoverageEntry => ({
          id: `${layer.id}${ITEM_SEPARATOR}${id}`,
          title: id,
          bbox: toBbox(bbox),
          interval: [datetime, datetime],
          kind: "scene",
        })),
      ];
    }),
  );
  return lists.flat();
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
