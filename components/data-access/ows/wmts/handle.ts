import type { FastifyReply, FastifyRequest } from "fastify";

import { type DataAccessContext, baseUrlOf, callerOf, signalOf } from "../../http/context.ts";
import { sendImage } from "../../http/send-image.ts";
import type { Caller } from "../../layers/layer.ts";
import { parseTimes } from "../../layers/parse-time.ts";
import { renderLayer } from "../../layers/render-layer.ts";
import { findTileMatrixSet, tileToGrid } from "../../tiles/tile-matrix-sets.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError, escapeXml } from "../ows-error.ts";
import { INFO_TYPES } from "../wms/write-info.ts";
import { describePixel } from "../wms/feature-info.ts";
import { findStyledLayer, parseDimensions } from "../wms/get-map.ts";
import { toOwsError } from "../wms/handle.ts";
import { CAPABILITIES_TYPES, SECTIONS, type Section, writeWmtsCapabilities } from "./capabilities.ts";

const VERSION = "1.0.0";

export interface TileRequest {
  readonly layer: string;
  readonly style: string;
  readonly set: string;
  readonly level: string;
  readonly row: string;
  readonly column: string;
  readonly format: string;
  readonly time: string | undefined;
  /** ELEVATION and DIM_<name>. */
  readonly dimensions: Pick<Kvp, "get">;
}

/** Web Map Tile Service 1.0.0 with parameters; the paths of its REST form end up at the same functions. */
export function handleWmts(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<FastifyReply> {
  return withExceptionReports(reply, 400, async () => {
    const operation = kvp.require("REQUEST");
    if (/^GetCapabilities$/i.test(operation)) {
      const accepted = kvp.get("ACCEPTVERSIONS");
      if (accepted !== undefined && !accepted.split(",").includes(VERSION)) {
        // Without a locator (OGC 06-121r3, table 25).
        throw new OwsError("VersionNegotiationFailed", `This service has version ${VERSION}.`);
      }
      return sendWmtsCapabilities(context, request, reply, path, {
        type: findType(kvp.get("ACCEPTFORMATS")),
        sections: parseSections(kvp.get("SECTIONS")),
      });
    }
    if (!/^(GetTile|GetFeatureInfo)$/i.test(operation)) {
      throw new OwsError("InvalidParameterValue", "REQUEST must be GetCapabilities, GetTile or GetFeatureInfo.", {
        locator: "request",
      });
    }
    const version = kvp.get("VERSION") ?? VERSION;
    if (version !== VERSION) {
      throw new OwsError("InvalidParameterValue", `VERSION must be ${VERSION}.`, { locator: "Version" });
    }
    const [layer, style, format, set, level, row, column] = [
      "Layer",
      "Style",
      "Format",
      "TileMatrixSet",
      "TileMatrix",
      "TileRow",
      "TileCol",
    ].map((name) => requireNamed(kvp, name)) as [string, string, string, string, string, string, string];
    const tile: TileRequest = { layer, style, format, set, level, row, column, time: kvp.get("TIME"), dimensions: kvp };
    return /^GetTile$/i.test(operation)
      ? sendTile(context, tile, request, reply)
      : sendPixel(context, tile, kvp, request, reply);
  });
}

/** Locators of exceptions have the names of the standard. */
function requireNamed(kvp: Kvp, name: string): string {
  const value = kvp.get(name.toUpperCase());
  if (value === undefined) {
    throw new OwsError("MissingParameterValue", `The parameter ${name} is missing.`, { locator: name });
  }
  return value;
}

/** GetFeatureInfo: the values of the scenes below a pixel of a tile. */
async function sendPixel(
  context: DataAccessContext,
  tile: TileRequest,
  kvp: Kvp,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const caller = callerOf(request);
  const { layer, grid, position, times } = await openTile(context, tile, caller);
  const [column, row] = ["I", "J"].map((name) => {
    const value = Number(requireNamed(kvp, name));
    if (!Number.isInteger(value) || value < 0 || value >= grid.width) {
      throw new OwsError("PointIJOutOfRange", `${name} must be a pixel of the tile.`, { locator: name });
    }
    return value;
  }) as [number, number];
  const type = requireNamed(kvp, "InfoFormat").split(";")[0]?.trim() ?? "";
  if (!INFO_TYPES.includes(type as never)) {
    throw new OwsError("InvalidParameterValue", `InfoFormat must be one of ${INFO_TYPES.join(", ")}.`, {
      locator: "InfoFormat",
    });
  }
  const body = await describePixel(
    context,
    { grid, column, row, layers: [layer], position, count: 1, type, caller, ...(times !== undefined && { times }) },
    signalOf(reply),
  );
  return reply.type(`${type}; charset=utf-8`).send(body);
}

export async function sendWmtsCapabilities(
  context: DataAccessContext,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  {
    type = "text/xml",
    sections,
  }: { readonly type?: string; readonly sections?: ReadonlySet<Section> | undefined } = {},
): Promise<FastifyReply> {
  const layers = await context.layers.list(callerOf(request), signalOf(reply));
  const base = baseUrlOf(request);
  return reply.type(`${type}; charset=utf-8`).send(
    writeWmtsCapabilities({
      title: context.title,
      url: `${base}${path}`,
      restUrl: `${base}/wmts`,
      layers,
      sections,
    }),
  );
}

/** The first media type that is known of those that a client accepts; else the one that every client has to (OGC 06-121r3, 7.3.2). */
const findType = (accepted: string | undefined): string =>
  accepted === undefined
    ? "text/xml"
    : (accepted.split(",").find((type) => CAPABILITIES_TYPES.includes(type as never)) ?? "application/xml");

/** Sections by name, in any order; `All` stands for each. @throws {OwsError} `MissingParameterValue`, `InvalidParameterValue` */
function parseSections(text: string | undefined): ReadonlySet<Section> | undefined {
  if (text === undefined) {
    return undefined;
  }
  if (text === "") {
    throw new OwsError("MissingParameterValue", "SECTIONS has no value.", { locator: "sections" });
  }
  const names = text.split(",");
  const hasAll = names.some((name) => name.toLowerCase() === "all");
  const unknown = hasAll ? undefined : names.find((name) => !SECTIONS.includes(name as Section));
  if (unknown !== undefined) {
    throw new OwsError("InvalidParameterValue", `SECTIONS must be some of ${SECTIONS.join(", ")}, All.`, {
      locator: "sections",
    });
  }
  return hasAll ? undefined : new Set(names as Section[]);
}

export async function sendTile(
  context: DataAccessContext,
  tile: TileRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const caller = callerOf(request);
  const { layer, style, grid, position, times } = await openTile(context, tile, caller);
  const format = /jpe?g/.test(tile.format) ? "jpeg" : tile.format.includes("png") ? "png" : undefined;
  if (format === undefined) {
    throw new OwsError("InvalidParameterValue", "FORMAT must be image/png or image/jpeg.", { locator: "Format" });
  }
  const image = await renderLayer(
    context,
    { layer, style, grid, format, caller, position, ...(times !== undefined && { times }) },
    signalOf(reply),
  );
  return sendImage(request, reply, image);
}

/** @throws {OwsError} `InvalidParameterValue`, `TileOutOfRange` with the parameter that is wrong */
async function openTile(context: DataAccessContext, tile: TileRequest, caller: Caller) {
  const { layer, style } = await findStyledLayer(context, tile.layer, tile.style, caller).catch((error: unknown) => {
    // Those of WMS have codes that this standard does not.
    throw error instanceof OwsError
      ? new OwsError("InvalidParameterValue", error.message, {
          locator: error.code === "LayerNotDefined" ? "Layer" : "Style",
        })
      : error;
  });
  const set = findTileMatrixSet(tile.set);
  if (set === undefined) {
    throw new OwsError("InvalidParameterValue", `There is no tile matrix set "${tile.set.slice(0, 50)}".`, {
      locator: "TileMatrixSet",
    });
  }
  const [level, row, column] = [tile.level, tile.row, tile.column].map((text) =>
    /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN,
  ) as [number, number, number];
  if (tileToGrid(set, level, 0, 0) === undefined) {
    throw new OwsError("InvalidParameterValue", `There is no tile matrix "${tile.level.slice(0, 50)}".`, {
      locator: "TileMatrix",
    });
  }
  const grid = tileToGrid(set, level, column, row);
  if (grid === undefined) {
    const isRowWrong = tileToGrid(set, level, 0, row) === undefined;
    throw new OwsError("TileOutOfRange", "The tile is outside of its matrix.", {
      locator: isRowWrong ? "TileRow" : "TileCol",
    });
  }
  const position = parseDimensions(tile.dimensions, [{ layer, style }]);
  const times = tile.time === "default" ? undefined : parseTimes(tile.time);
  return { layer, style, grid, position, times };
}

/** Answers errors as exception reports of OWS 1.1; `status` is the one of requests that are wrong. */
export async function withExceptionReports(
  reply: FastifyReply,
  status: number,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await work();
  } catch (error) {
    const known = toOwsError(error);
    if (known === undefined) {
      throw error;
    }
    const locator = known.locator === undefined ? "" : ` locator="${known.locator}"`;
    return reply
      .code(known.status === 400 ? status : known.status)
      .type("text/xml; charset=utf-8")
      .send(
        `<?xml version="1.0" encoding="UTF-8"?>\n<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1" version="1.1.0"><ows:Exception exceptionCode="${known.code}"${locator}><ows:ExceptionText>${escapeXml(known.message)}</ows:ExceptionText></ows:Exception></ows:ExceptionReport>`,
      );
  }
}
