import { RasterError } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";
import sharp, { type Sharp } from "sharp";

import { type DataAccessContext, baseUrlOf, callerOf, signalOf } from "../../http/context.ts";
import { sendImage } from "../../http/send-image.ts";
import type { Caller, Layer } from "../../layers/layer.ts";
import { ITEM_SEPARATOR, toBbox } from "../../layers/names.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError, escapeXml } from "../ows-error.ts";
import { MAX_IMAGE_SIZE, type SceneEntry, writeCapabilities } from "./capabilities.ts";
import { type ImageType, encodeAs, findImageType } from "./image-types.ts";
import { getFeatureInfo } from "./feature-info.ts";
import { findStyledLayer, getMap, parseBackground } from "./get-map.ts";
import { drawLegend } from "./legend.ts";

/** Scenes of a collection that capabilities list, while there are no more collections than that. */
const MAX_SCENES = 20;
const MAX_COLLECTIONS = 200;
/** Codes that the standard has; exceptions of any other kind have none. */
const CODES = new Set([
  "InvalidFormat",
  "InvalidCRS",
  "InvalidSRS",
  "LayerNotDefined",
  "StyleNotDefined",
  "LayerNotQueryable",
  "InvalidPoint",
  "MissingDimensionValue",
  "InvalidDimensionValue",
  "OperationNotSupported",
]);

/** Web Map Service 1.1.1 and 1.3.0. */
export async function handleWms(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<FastifyReply> {
  const requested = kvp.get("VERSION") ?? kvp.get("WMTVER");
  try {
    return await response(context, kvp, request, reply, path, requested);
  } catch (error) {
    const known = toOwsError(error);
    if (known === undefined) {
      throw error;
    }
    return sendException(known, kvp, requested ?? "1.3.0", reply);
  }
}

async function response(
  context: DataAccessContext,
  kvp: Kvp,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  requested: string | undefined,
): Promise<FastifyReply> {
  const operation = kvp.require("REQUEST");
  const caller = callerOf(request);
  if (/^(GetCapabilities|capabilities)$/i.test(operation)) {
    // Higher or no version: the highest; lower: the lowest.
    const version = requested !== undefined && requested < "1.3.0" ? "1.1.1" : "1.3.0";
    const layers = await context.layers.list(caller, signalOf(reply));
    const scenes = await listScenes(context, layers, caller, signalOf(reply));
    const type = version === "1.3.0" ? "text/xml" : "application/vnd.ogc.wms_xml";
    return reply
      .type(`${type}; charset=utf-8`)
      .send(writeCapabilities({ version, title: context.title, url: `${baseUrlOf(request)}${path}`, layers, scenes }));
  }
  if (/^GetLegendGraphic$/i.test(operation)) {
    const { style } = await findStyledLayer(context, kvp.require("LAYER"), kvp.get("STYLE") ?? "", caller);
    return reply.type("image/png").send(await drawLegend(style));
  }
  const version = requested === "1.3.0" ? "1.3.0" : requested?.startsWith("1.1.") === true ? "1.1.1" : undefined;
  if (version === undefined) {
    throw new OwsError(
      requested === undefined ? "MissingParameterValue" : "InvalidParameterValue",
      "VERSION must be 1.3.0 or 1.1.1.",
      { locator: "VERSION" },
    );
  }
  if (/^(GetMap|map)$/i.test(operation)) {
    return sendImage(request, reply, await getMap(context, kvp, version, caller, signalOf(reply)));
  }
  if (/^(GetFeatureInfo|feature_info)$/i.test(operation)) {
    const { type, body } = await getFeatureInfo(context, kvp, version, caller, signalOf(reply));
    return reply.type(`${type}; charset=utf-8`).send(body);
  }
  throw new OwsError("OperationNotSupported", `The operation "${operation.slice(0, 50)}" is not supported.`, {
    locator: "REQUEST",
  });
}

/** The newest items of each collection; others are layers, too, by the same form of name. */
async function listScenes(
  { layers: source }: DataAccessContext,
  layers: readonly Layer[],
  caller: Caller,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly SceneEntry[]>> {
  const lists = await Promise.all(
    (layers.length > MAX_COLLECTIONS ? [] : layers).map(async (layer) => {
      const items = await source.findItems(layer, { limit: MAX_SCENES }, caller, signal);
      const entries = items.map(({ id, bbox, datetime }) => ({
        id: `${layer.id}${ITEM_SEPARATOR}${id}`,
        title: id,
        bbox: toBbox(bbox),
        datetime,
      }));
      return [layer.id, entries] as const;
    }),
  );
  return new Map(lists);
}

const STATUS: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({
    busy: 503,
    changed: 503,
    cancelled: 503,
    unavailable: 502,
    timeout: 504,
  }),
);

/** `undefined` for what is a fault of this service. */
export function toOwsError(error: unknown): OwsError | undefined {
  return error instanceof OwsError
    ? error
    : error instanceof RasterError
      ? new OwsError(error.code === "invalid-request" ? "InvalidParameterValue" : "NoApplicableCode", error.message, {
          status: STATUS.get(error.code) ?? 400,
        })
      : error instanceof Problem && error.status < 500
        ? new OwsError(
            error.status === 401 || error.status === 403 ? "OperationNotSupported" : "InvalidParameterValue",
            error.message,
            { status: error.status },
          )
        : undefined;
}

async function sendException(error: OwsError, kvp: Kvp, version: string, reply: FastifyReply): Promise<FastifyReply> {
  const form = (kvp.get("EXCEPTIONS") ?? "XML").toLowerCase();
  if (/inimage|blank/.test(form)) {
    const sizeOf = (name: string) => Math.max(1, Math.min(MAX_IMAGE_SIZE, Math.round(Number(kvp.get(name))) || 256));
    const text = form.includes("blank")
      ? ""
      : `<text x="8" y="24" font-size="14" font-family="sans-serif" fill="#c00">${escapeXml(error.message)}</text>`;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${sizeOf("WIDTH")}" height="${sizeOf("HEIGHT")}">${text}</svg>`;
    return sendDrawing(sharp(Buffer.from(svg)), kvp, reply);
  }
  const [attributes, type] =
    version === "1.3.0"
      ? [`version="1.3.0" xmlns="http://www.opengis.net/ogc"`, "text/xml"]
      : [`version="1.1.1"`, "application/vnd.ogc.se_xml"];
  const code = CODES.has(error.code) ? ` code="${error.code}"` : "";
  // Its document type (OGC 01-068r3, annex A.3) has no locator.
  const locator = error.locator === undefined || version !== "1.3.0" ? "" : ` locator="${error.locator}"`;
  return reply
    .code(error.status)
    .type(`${type}; charset=utf-8`)
    .send(
      `<?xml version="1.0" encoding="UTF-8"?>\n<ServiceExceptionReport ${attributes}><ServiceException${code}${locator}>${escapeXml(error.message)}</ServiceException></ServiceExceptionReport>`,
    );
}

/** Of exceptions where the map would have no format for drawings. */
const DRAWING: ImageType = { format: "png", contentType: "image/png" };

/** In the format and on the background that the map would have (OGC 06-042, 7.3.3.11). */
async function sendDrawing(drawing: Sharp, kvp: Kvp, reply: FastifyReply): Promise<FastifyReply> {
  const named = findImageType(kvp.get("FORMAT") ?? "");
  const type = named === undefined || named.format === "tif" ? DRAWING : named;
  const isTransparent = kvp.get("TRANSPARENT")?.toUpperCase() === "TRUE" && type.format !== "jpeg";
  const [r, g, b] = readBackground(kvp);
  const filled = isTransparent ? drawing : drawing.flatten({ background: { r, g, b } });
  return reply.type(type.contentType).send(await encodeAs(filled, type).toBuffer());
}

/** A colour that is none must not hide what the exception is about. */
function readBackground(kvp: Kvp): readonly [number, number, number] {
  try {
    return parseBackground(kvp.get("BGCOLOR"));
  } catch {
    return [255, 255, 255];
  }
}
