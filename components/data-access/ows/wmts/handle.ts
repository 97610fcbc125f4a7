import type { FastifyReply, FastifyRequest } from "fastify";

import { type DataAccessContext, baseUrlOf, callerOf, signalOf } from "../../http/context.ts";
import { sendImage } from "../../http/send-image.ts";
import { parseTimes } from "../../layers/parse-time.ts";
import { renderLayer } from "../../layers/render-layer.ts";
import { findTileMatrixSet, tileToGrid } from "../../tiles/tile-matrix-sets.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError, escapeXml } from "../ows-error.ts";
import { findStyledLayer, parseDimensions } from "../wms/get-map.ts";
import { toOwsError } from "../wms/handle.ts";
import { writeWmtsCapabilities } from "./capabilities.ts";

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
      return sendWmtsCapabilities(context, request, reply, path);
    }
    if (!/^GetTile$/i.test(operation)) {
      throw new OwsError("OperationNotSupported", `The operation "${operation.slice(0, 50)}" is not supported.`, {
        locator: "REQUEST",
        status: 501,
      });
    }
    const tile: TileRequest = {
      layer: kvp.require("LAYER"),
      style: kvp.get("STYLE") ?? "",
      set: kvp.require("TILEMATRIXSET"),
      level: kvp.require("TILEMATRIX"),
      row: kvp.require("TILEROW"),
      column: kvp.require("TILECOL"),
      format: kvp.get("FORMAT") ?? "image/png",
      time: kvp.get("TIME"),
      dimensions: kvp,
    };
    return sendTile(context, tile, request, reply);
  });
}

export async function sendWmtsCapabilities(
  context: DataAccessContext,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<FastifyReply> {
  const layers = await context.layers.list(callerOf(request), signalOf(reply));
  const base = baseUrlOf(request);
  return reply
    .type("text/xml; charset=utf-8")
    .send(writeWmtsCapabilities({ title: context.title, url: `${base}${path}`, restUrl: `${base}/wmts`, layers }));
}

export async function sendTile(
  context: DataAccessContext,
  tile: TileRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const caller = callerOf(request);
  const { layer, style } = await findStyledLayer(context, tile.layer, tile.style, caller);
  const set = findTileMatrixSet(tile.set);
  if (set === undefined) {
    throw new OwsError("InvalidParameterValue", `There is no tile matrix set "${tile.set.slice(0, 50)}".`, {
      locator: "TileMatrixSet",
    });
  }
  const grid = tileToGrid(set, Number(tile.level), Number(tile.column), Number(tile.row));
  if (grid === undefined) {
    throw new OwsError("TileOutOfRange", "The tile is outside of its matrix.", { locator: "TileRow" });
  }
  const format = /jpe?g/.test(tile.format) ? "jpeg" : tile.format.includes("png") ? "png" : undefined;
  if (format === undefined) {
    throw new OwsError("InvalidParameterValue", "FORMAT must be image/png or image/jpeg.", { locator: "Format" });
  }
  const position = parseDimensions(tile.dimensions, [{ layer, style }]);
  const times = tile.time === "default" ? undefined : parseTimes(tile.time);
  const image = await renderLayer(
    context,
    { layer, style, grid, format, caller, position, ...(times !== undefined && { times }) },
    signalOf(reply),
  );
  return sendImage(request, reply, image);
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
