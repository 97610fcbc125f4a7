import {
  type Bbox,
  type Crs,
  type Grid,
  RESAMPLINGS,
  RasterError,
  type Resampling,
  findCrs,
  parseColor,
} from "@swath/raster";
import sharp from "sharp";

import type { DataAccessContext } from "../../http/context.ts";
import type { Caller, Layer, LayerStyle, TimeRange } from "../../layers/layer.ts";
import { parseTimes } from "../../layers/parse-time.ts";
import { type Position, PositionError, readPosition } from "../../layers/position.ts";
import { renderLayer } from "../../layers/render-layer.ts";
import type { Picture } from "../../tiles/picture-cache.ts";
import type { Kvp } from "../kvp.ts";
import { OwsError } from "../ows-error.ts";
import { MAX_IMAGE_SIZE } from "./capabilities.ts";
import { IMAGE_TYPES, encodeAs, findImageType, toPalette } from "./image-types.ts";

const MAX_LAYERS = 20;

export interface StyledLayer {
  readonly layer: Layer;
  readonly style: LayerStyle;
}

export interface MapRequest {
  readonly grid: Grid;
  readonly layers: readonly StyledLayer[];
  readonly times: readonly TimeRange[] | undefined;
  readonly position: Position;
}

/** A picture of layers one upon another, the first one at the bottom. */
export async function getMap(
  context: DataAccessContext,
  kvp: Kvp,
  version: string,
  caller: Caller,
  signal: AbortSignal,
): Promise<Picture> {
  const unread = ["SLD", "SLD_BODY"].find((name) => kvp.get(name) !== undefined);
  if (unread !== undefined) {
    throw new OwsError("InvalidParameterValue", "Style documents are not read: name styles in STYLES.", {
      locator: unread,
    });
  }
  const { grid, layers, times, position } = await parseMapRequest(context, kvp, version, caller);
  const type = findImageType(kvp.require("FORMAT"));
  if (type === undefined) {
    throw new OwsError("InvalidFormat", `FORMAT must be one of ${IMAGE_TYPES.join(", ")}.`, { locator: "FORMAT" });
  }
  const { format, contentType, palette } = type;
  const isTransparent = kvp.get("TRANSPARENT")?.toUpperCase() === "TRUE" && format !== "jpeg";
  const background = isTransparent ? undefined : parseBackground(kvp.get("BGCOLOR"));
  const resampling = parseInterpolation(kvp);
  const shared = {
    grid,
    caller,
    position,
    ...(times !== undefined && { times }),
    ...(resampling !== undefined && { resampling }),
  };
  const [only] = layers;
  if (layers.length === 1 && only !== undefined) {
    const picture = await renderLayer(
      context,
      { ...only, ...shared, format, ...(background !== undefined && { background }) },
      signal,
    );
    return palette === undefined ? picture : { ...picture, bytes: await toPalette(picture.bytes, type), contentType };
  }
  if (format === "tif") {
    throw new OwsError("InvalidFormat", "A GeoTIFF is made of one layer.", { locator: "FORMAT" });
  }
  const images = await Promise.all(
    layers.map((each) => renderLayer(context, { ...each, ...shared, format: "png" }, signal)),
  );
  const [r, g, b] = background ?? [0, 0, 0];
  const canvas = sharp({
    create: {
      width: grid.width,
      height: grid.height,
      channels: 4,
      background: { r, g, b, alpha: background === undefined ? 0 : 1 },
    },
  }).composite(images.map(({ bytes }) => ({ input: Buffer.from(bytes) })));
  return {
    // The canvas is drawn before its colours are counted.
    bytes: await encodeAs(palette === undefined ? canvas : sharp(await canvas.png().toBuffer()), type).toBuffer(),
    contentType,
    isEmpty: images.every(({ isEmpty }) => isEmpty),
    width: grid.width,
    height: grid.height,
    bbox: grid.bbox,
    crs: grid.crs,
    versions: Object.assign({}, ...images.map(({ versions }) => versions)) as Picture["versions"],
  };
}

/** What GetMap and GetFeatureInfo have in common. */
export async function parseMapRequest(
  context: DataAccessContext,
  kvp: Kvp,
  version: string,
  caller: Caller,
): Promise<MapRequest> {
  const names = kvp.require("LAYERS").split(",");
  const styles = (kvp.get("STYLES") ?? "").split(",");
  if (names.length > MAX_LAYERS) {
    throw new OwsError("InvalidParameterValue", `LAYERS may have up to ${MAX_LAYERS} names.`, { locator: "LAYERS" });
  }
  const layers = await Promise.all(names.map((name, at) => findStyledLayer(context, name, styles[at] ?? "", caller)));
  const crs = parseSystem(kvp, version);
  const bbox = parseBbox(kvp, crs, version);
  const grid: Grid = {
    crs,
    bbox,
    width: kvp.requireCount("WIDTH", MAX_IMAGE_SIZE),
    height: kvp.requireCount("HEIGHT", MAX_IMAGE_SIZE),
  };
  return { grid, layers, times: parseDimension(kvp), position: parseDimensions(kvp, layers) };
}

export async function findStyledLayer(
  { layers }: DataAccessContext,
  name: string,
  styleName: string,
  caller: Caller,
): Promise<StyledLayer> {
  const layer = await layers.find(name, caller);
  if (layer === undefined) {
    throw new OwsError("LayerNotDefined", `There is no layer "${name.slice(0, 100)}".`, { locator: "LAYERS" });
  }
  const style =
    styleName === "" || styleName === "default" ? layer.styles[0] : layer.styles.find(({ id }) => id === styleName);
  if (style === undefined) {
    const known = layer.styles.map(({ id }) => id).join(", ");
    throw new OwsError("StyleNotDefined", `The layer has no style "${styleName.slice(0, 100)}"; styles: ${known}.`, {
      locator: "STYLES",
    });
  }
  return { layer, style };
}

function parseSystem(kvp: Kvp, version: string): Crs {
  const name = version === "1.3.0" ? "CRS" : "SRS";
  const crs = findCrs(kvp.require(name));
  if (crs === undefined) {
    throw new OwsError(
      version === "1.3.0" ? "InvalidCRS" : "InvalidSRS",
      "The coordinate reference system is not known.",
      { locator: name },
    );
  }
  return crs;
}

/** 1.3.0 has the order of axes of the system, 1.1.1 always x before y. */
function parseBbox(kvp: Kvp, crs: Crs, version: string): Bbox {
  const numbers = kvp.require("BBOX").split(",").map(Number);
  const [a = Number.NaN, b = Number.NaN, c = Number.NaN, d = Number.NaN] = numbers;
  const bbox: Bbox = version === "1.3.0" && crs.isNorthFirst ? [b, a, d, c] : [a, b, c, d];
  if (numbers.length !== 4 || !bbox.every(Number.isFinite) || bbox[0] >= bbox[2] || bbox[1] >= bbox[3]) {
    throw new OwsError("InvalidParameterValue", "BBOX must be four numbers, the lower corner first.", {
      locator: "BBOX",
    });
  }
  return bbox;
}

function parseDimension(kvp: Kvp): readonly TimeRange[] | undefined {
  try {
    return parseTimes(kvp.get("TIME"));
  } catch (error) {
    throw new OwsError("InvalidDimensionValue", (error as Error).message, { locator: "TIME" });
  }
}

/** @throws {OwsError} for values that there are not */
export function parseDimensions(kvp: Pick<Kvp, "get">, layers: readonly StyledLayer[]): Position {
  try {
    return readPosition(
      layers.map(({ layer }) => layer),
      (parameter) => kvp.get(parameter),
    );
  } catch (error) {
    throw error instanceof PositionError
      ? new OwsError("InvalidDimensionValue", error.message, { locator: error.parameter })
      : error;
  }
}

function parseInterpolation(kvp: Kvp): Resampling | undefined {
  const text = kvp.get("INTERPOLATION")?.toLowerCase();
  return RESAMPLINGS.find((each) => each === text);
}

/** @throws {OwsError} `InvalidParameterValue` */
export function parseBackground(text: string | undefined): readonly [number, number, number] {
  try {
    const [red, green, blue] = parseColor(text ?? "#ffffff");
    return [red, green, blue];
  } catch (error) {
    throw error instanceof RasterError
      ? new OwsError("InvalidParameterValue", "BGCOLOR must be 0xRRGGBB.", { locator: "BGCOLOR" })
      : error;
  }
}
