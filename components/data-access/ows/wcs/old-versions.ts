import type { Bbox, Crs, Grid } from "@swath/raster";
import type { FastifyReply, FastifyRequest } from "fastify";

import { type Coverage, findCoverage } from "../../coverages/coverage.ts";
import { parseFields } from "../../coverages/routes.ts";
import { type CoveragePart, sendCoverage } from "../../coverages/send-coverage.ts";
import { requireCrs, toCoverageGrid } from "../../coverages/subset.ts";
import { type DataAccessContext, signalOf } from "../../http/context.ts";
import { parseTimes } from "../../layers/parse-time.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError } from "../ows-error.ts";
import type { CoverageEntry } from "./capabilities.ts";
import { parseFormat, parseMethod } from "./get-coverage.ts";
import { writeCapabilities10, writeCapabilities11, writeDescription10, writeDescription11 } from "./old-documents.ts";

interface OldRequest {
  readonly context: DataAccessContext;
  readonly kvp: Kvp;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly url: string;
  readonly version: "1.1.1" | "1.0.0";
  readonly entries: () => Promise<readonly CoverageEntry[]>;
}

/** WCS 1.0.0 (OGC 03-065r6) and 1.1.1 (OGC 07-067r2), as far as clients use them: one part of one coverage at a time. */
export async function handleOldWcs(old: OldRequest): Promise<FastifyReply> {
  const { context, kvp, request, reply, url, version, entries } = old;
  const send = (xml: string) => reply.type("text/xml; charset=utf-8").send(xml);
  const is10 = version === "1.0.0";
  const find = (id: string) => findCoverage(context, id, request, signalOf(reply));
  switch (kvp.require("REQUEST").toLowerCase()) {
    case "getcapabilities": {
      const list = (await entries()).filter(({ kind }) => kind !== "series");
      return send((is10 ? writeCapabilities10 : writeCapabilities11)(context.title, url, list));
    }
    case "describecoverage": {
      const ids = kvp.require(is10 ? "COVERAGE" : "IDENTIFIERS").split(",");
      const coverages = await Promise.all(ids.slice(0, 50).map(find));
      return send((is10 ? writeDescription10 : writeDescription11)(coverages));
    }
    case "getcoverage": {
      const coverage = await find(kvp.require(is10 ? "COVERAGE" : "IDENTIFIER"));
      const part = is10 ? parsePart10(coverage, kvp) : parsePart11(coverage, kvp);
      const format = parseFormat((kvp.get("FORMAT") ?? "image/tiff").replace(/^geotiff$/i, "image/tiff"));
      return sendCoverage(context, part, format, request, reply);
    }
    default:
      throw new OwsError("OperationNotSupported", "REQUEST must be an operation of WCS.", {
        locator: "REQUEST",
        status: 501,
      });
  }
}

/** x before y, whatever the system's own order. */
function parsePart10(coverage: Coverage, kvp: Kvp): CoveragePart {
  const crs = requireCrs(kvp.get("CRS") ?? coverage.grid.crs.id, "InvalidParameterValue");
  const bbox = parseNumbers(kvp.require("BBOX"), false);
  const output = requireCrs(kvp.get("RESPONSE_CRS") ?? crs.id, "InvalidParameterValue");
  const [resX, resY] = [Number(kvp.get("RESX")), Number(kvp.get("RESY"))];
  const scaling =
    kvp.get("WIDTH") !== undefined
      ? { width: kvp.requireCount("WIDTH", 65_535), height: kvp.requireCount("HEIGHT", 65_535) }
      : resX > 0 && resY > 0
        ? {
            width: Math.max(1, Math.round((bbox[2] - bbox[0]) / resX)),
            height: Math.max(1, Math.round((bbox[3] - bbox[1]) / resY)),
          }
        : undefined;
  return {
    coverage,
    grid: toGrid(coverage, bbox, crs, output, scaling),
    fields: parseFields(coverage, kvp.get("BANDS")),
    times: parseTimes(kvp.get("TIME")),
    ...parseMethod(kvp.get("INTERPOLATION")),
  };
}

/** Corners in the order of the system that the box ends with, pixel to pixel steps in GridOffsets. */
function parsePart11(coverage: Coverage, kvp: Kvp): CoveragePart {
  const parts = kvp.require("BOUNDINGBOX").split(",");
  const crs = requireCrs(parts[4] ?? coverage.grid.crs.id, "InvalidParameterValue");
  const bbox = parseNumbers(parts.slice(0, 4).join(","), isInOrderOf(crs, parts[4]));
  const base = kvp.get("GRIDBASECRS");
  const output = requireCrs(base ?? crs.id, "InvalidParameterValue");
  const [stepX, stepY] = parseOffsets(kvp.get("GRIDOFFSETS"), isInOrderOf(output, base ?? parts[4]));
  const named = kvp.get("RANGESUBSET");
  const fields = /\[(?:[^[\]]*)\[([^\]]*)\]\]/.exec(named ?? "")?.[1];
  const hasSteps = stepX > 0 && stepY > 0 && output.id === crs.id;
  const size = hasSteps && {
    width: Math.round((bbox[2] - bbox[0]) / stepX) + 1,
    height: Math.round((bbox[3] - bbox[1]) / stepY) + 1,
  };
  // The box of this version goes through the centres of the outer pixels.
  const outer: Bbox = hasSteps
    ? [bbox[0] - stepX / 2, bbox[1] - stepY / 2, bbox[2] + stepX / 2, bbox[3] + stepY / 2]
    : bbox;
  return {
    coverage,
    grid: toGrid(coverage, outer, crs, output, size === false ? undefined : size),
    fields: parseFields(coverage, fields),
    times: parseTimes(kvp.get("TIMESEQUENCE")),
    ...parseMethod(/:([a-z]+)/i.exec(named ?? "")?.[1]),
  };
}

/** Whether coordinates are north before east: names of the registry stand for its order of axes. */
const isInOrderOf = (crs: Crs, name = ""): boolean => crs.isNorthFirst && /urn:|\/def\/crs/.test(name);

/** Steps from pixel to pixel: one an axis, or the vectors of both (07-067r2, 7.4.8). */
function parseOffsets(text = "", isNorthFirst: boolean): readonly [x: number, y: number] {
  const [a = Number.NaN, b = Number.NaN, c, d] = text.split(",").map((value) => Math.abs(Number(value)));
  if (c !== undefined && d !== undefined) {
    // Grids are not rotated: of each vector one coordinate is 0.
    return [Math.max(a, b), Math.max(c, d)];
  }
  return isNorthFirst ? [b, a] : [a, b];
}

/** The box as it is asked for where a size is given with it, else the pixels of the coverage in it. */
function toGrid(
  coverage: Coverage,
  bbox: Bbox,
  crs: Crs,
  output: Crs,
  size: { readonly width: number; readonly height: number } | undefined,
): Grid {
  if (size !== undefined && output.id === crs.id) {
    return toCoverageGrid({ crs, bbox, ...size }, { subsets: [], subsetCrs: crs, outputCrs: crs, scaling: {} });
  }
  const side = (axis: "x" | "y", low: number, high: number) => ({
    axis,
    low: String(low),
    high: String(high),
    isSlice: false,
  });
  return toCoverageGrid(coverage.grid, {
    pixels: coverage.pixels,
    subsets: [side("x", bbox[0], bbox[2]), side("y", bbox[1], bbox[3])],
    subsetCrs: crs,
    outputCrs: output,
    scaling: size ?? {},
  });
}

function parseNumbers(text: string, isNorthFirst: boolean): Bbox {
  const [a = Number.NaN, b = Number.NaN, c = Number.NaN, d = Number.NaN] = text.split(",").map(Number);
  const bbox: Bbox = isNorthFirst ? [b, a, d, c] : [a, b, c, d];
  if (!bbox.every(Number.isFinite) || bbox[0] >= bbox[2] || bbox[1] >= bbox[3]) {
    throw new OwsError("InvalidParameterValue", "The box must be four numbers, the lower corner first.", {
      locator: "BBOX",
    });
  }
  return bbox;
}
