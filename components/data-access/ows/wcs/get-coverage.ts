import { type Resampling, parseCrs } from "@swath/raster";
import type { FastifyReply, FastifyRequest } from "fastify";

import type { Coverage } from "../../coverages/coverage.ts";
import { CoverageError } from "../../coverages/coverage-error.ts";
import { parseFields } from "../../coverages/routes.ts";
import { COVERAGE_FORMATS, type CoveragePart, sendCoverage } from "../../coverages/send-coverage.ts";
import { type Scaling, parseAxis, parseSubset, requireCrs, timesOf, toCoverageGrid } from "../../coverages/subset.ts";
import type { DataAccessContext } from "../../http/context.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError } from "../ows-error.ts";
import { sendGml, sendMultipart } from "./send-gml.ts";

const METHODS: ReadonlyMap<string, Resampling> = new Map(
  Object.entries<Resampling>({
    "nearest-neighbor": "nearest",
    nearest: "nearest",
    near: "nearest",
    linear: "bilinear",
    bilinear: "bilinear",
    cubic: "cubic",
    average: "average",
  }),
);

/** GetCoverage of WCS 2.0 with its extensions for systems, scaling, ranges and interpolation. */
export function getCoverage(
  context: DataAccessContext,
  coverage: Coverage,
  kvp: Kvp,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const part = toCoveragePart(coverage, kvp);
  const mediaType = kvp.get("MEDIATYPE");
  const isGml = GML.test(kvp.get("FORMAT") ?? "");
  if (mediaType === undefined) {
    return isGml
      ? sendGml(context, part, request, reply)
      : sendCoverage(context, part, parseFormat(kvp.get("FORMAT")), request, reply);
  }
  if (!/^multipart\/related$/i.test(mediaType)) {
    throw new OwsError("InvalidParameterValue", "MEDIATYPE must be multipart/related.", { locator: "mediaType" });
  }
  if (isGml || parseFormat(kvp.get("FORMAT")) !== "tif") {
    throw new OwsError("InvalidParameterValue", "With MEDIATYPE=multipart/related, FORMAT must be image/tiff.", {
      locator: "FORMAT",
    });
  }
  return sendMultipart(context, part, request, reply);
}

/** A plus sign that is not escaped is a space in an address. */
const GML = /^application\/gml[+ ]xml(;|$)/i;

/** What a request asks for of a coverage. */
export function toCoveragePart(coverage: Coverage, kvp: Kvp): CoveragePart {
  const subsets = kvp.all("SUBSET").map(parseSubset);
  const named = kvp.get("SUBSETTINGCRS");
  const subsetCrs =
    named === undefined
      ? kvp.all("SUBSET").some((text) => /^\s*(lat|lon)/i.test(text)) && !coverage.grid.crs.isGeographic
        ? parseCrs("OGC:CRS84")
        : coverage.grid.crs
      : requireCrs(named, "SubsettingCrs-NotSupported");
  const output = kvp.get("OUTPUTCRS");
  return {
    coverage,
    grid: toCoverageGrid(coverage.grid, {
      pixels: coverage.pixels,
      subsets,
      subsetCrs,
      outputCrs: output === undefined ? coverage.grid.crs : requireCrs(output, "OutputCrs-NotSupported"),
      scaling: parseScaling(kvp),
    }),
    fields: parseRange(coverage, kvp.get("RANGESUBSET")),
    times: timesOf(subsets),
    ...parseMethod(kvp.get("INTERPOLATION")),
  };
}

export function parseMethod(text: string | undefined): { readonly resampling?: Resampling } {
  if (text === undefined) {
    return {};
  }
  const resampling = METHODS.get((text.split("/").at(-1) ?? "").toLowerCase());
  if (resampling === undefined) {
    throw new CoverageError(
      "InterpolationMethodNotSupported",
      "INTERPOLATION must be nearest-neighbor, linear, cubic or average.",
    );
  }
  return { resampling };
}

export function parseFormat(text: string | undefined) {
  const format = COVERAGE_FORMATS[(text ?? "image/tiff").toLowerCase()];
  if (format === undefined || format === "npy") {
    throw new OwsError(
      "InvalidParameterValue",
      "FORMAT must be image/tiff, image/png, image/jpeg or, in version 2.0.1, application/gml+xml.",
      {
        locator: "FORMAT",
      },
    );
  }
  return format;
}

/** Names, and intervals of them: `B02,B04:B08`. */
function parseRange(coverage: Coverage, text: string | undefined): readonly string[] {
  if (text === undefined || text === "") {
    return parseFields(coverage, undefined);
  }
  const names = coverage.fields.map(({ name }) => name);
  return text.split(",").flatMap((part) => {
    const [from = "", to] = part.trim().split(":");
    if (to === undefined) {
      return parseFields(coverage, from);
    }
    const [start, end] = [names.indexOf(from), names.indexOf(to)];
    if (start < 0 || end < 0) {
      throw new CoverageError("NoSuchField", `There is no field "${(start < 0 ? from : to).slice(0, 50)}".`);
    }
    if (start > end) {
      throw new CoverageError(
        "InvalidFieldSequence",
        "The fields of an interval must be in the order of the coverage.",
      );
    }
    return names.slice(start, end + 1);
  });
}

function parseScaling(kvp: Kvp): Scaling {
  const factor = kvp.get("SCALEFACTOR");
  const factors = parseByAxis(kvp.get("SCALEAXES"));
  const sizes = { ...parseByAxis(kvp.get("SCALEEXTENT")), ...parseByAxis(kvp.get("SCALESIZE")) };
  return {
    ...(factor !== undefined && { factor: Number(factor) }),
    ...(factors.x !== undefined && { factorX: factors.x }),
    ...(factors.y !== undefined && { factorY: factors.y }),
    ...(sizes.x !== undefined && { width: sizes.x }),
    ...(sizes.y !== undefined && { height: sizes.y }),
  };
}

/** `E(400),N(300)`, `x(0.5)`, `x(0:399)`. */
function parseByAxis(text: string | undefined): { readonly x?: number; readonly y?: number } {
  return Object.fromEntries(
    (text ?? "")
      .split(/(?<=\)),/)
      .filter((part) => part !== "")
      .map((part) => {
        const [, name = "", low = "", high] = /^\s*([^()]+)\(([^():]+)(?::([^():]+))?\)\s*$/.exec(part) ?? [];
        const value = high === undefined ? Number(low) : Number(high) - Number(low) + 1;
        if (!(value > 0) || value > 65_535) {
          throw new CoverageError("InvalidExtent", "Scaling must have the form axis(number), of up to 65535.");
        }
        return [parseAxis(name.split("/").at(-1) ?? ""), value];
      }),
  );
}
