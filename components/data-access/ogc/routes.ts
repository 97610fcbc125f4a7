import {
  type Bbox,
  type Grid,
  type GridRequest,
  type OutputFormat,
  type Resampling,
  RESAMPLINGS,
  parseColor,
  parseCrs,
  reprojectBbox,
} from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import sharp from "sharp";

import { type DataAccessContext, baseUrlOf, callerOf, signalOf } from "../http/context.ts";
import { sendImage } from "../http/send-image.ts";
import type { Layer } from "../layers/layer.ts";
import { parseTimes } from "../layers/parse-time.ts";
import { parsePosition } from "../layers/position.ts";
import { renderLayer } from "../layers/render-layer.ts";
import { requireStyle } from "../styles/routes.ts";
import { TILE_MATRIX_SETS, findTileMatrixSet, tileToGrid, toTileMatrixSetDocument } from "../tiles/tile-matrix-sets.ts";
import { type Query, listOf, one, parseCount } from "../tiler/parameters.ts";
import { describeCoverage } from "../coverages/coverage.ts";
import { parametersOf } from "../coverages/coverage-json.ts";
import { CONFORMANCE, toCollection, toLandingPage, toTileset, toTilesets } from "./documents.ts";

const MAX_MAP_SIZE = 4096;
const DEFAULT_MAP_SIZE = 1024;
const MAX_TILE_SIZE = 2048;
const FORMATS: ReadonlyMap<string, OutputFormat> = new Map(
  Object.entries<OutputFormat>({
    png: "png",
    "image/png": "png",
    jpg: "jpeg",
    jpeg: "jpeg",
    "image/jpeg": "jpeg",
    webp: "webp",
    "image/webp": "webp",
    tiff: "tif",
    "image/tiff": "tif",
  }),
);
const tagged = { schema: { tags: ["ogc"] } as object };

type Params = Readonly<Record<string, string>>;

/** OGC API Tiles and Maps over the layers, and the tiler's paths of a collection. */
export function addOgcRoutes(app: FastifyInstance, context: DataAccessContext): void {
  const { layers } = context;
  const get = (path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>) =>
    app.get(path, tagged, handler);
  const findLayer = async (request: FastifyRequest, reply: FastifyReply): Promise<Layer> => {
    const { collection = "" } = request.params as Params;
    const layer = await layers.find(collection, callerOf(request), signalOf(reply));
    if (layer === undefined) {
      throw new Problem(404, `There is no collection "${collection.slice(0, 100)}".`);
    }
    return layer;
  };
  const render = async (
    request: FastifyRequest,
    reply: FastifyReply,
    layer: Layer,
    grid: Grid,
    format: OutputFormat | undefined,
  ) => {
    const query = request.query as Query;
    const times = parseTimes(one(query["datetime"]));
    const background = await toBackground(query);
    const position = parsePosition(listOf(query["subset"]), layer, "subset");
    const resampling = RESAMPLINGS.find((each): each is Resampling => each === one(query["resampling"]));
    const image = await renderLayer(
      context,
      {
        layer,
        style: requireStyle(layer, (request.params as Params)["style"] ?? one(query["style"])),
        grid,
        caller: callerOf(request),
        position,
        ...(times !== undefined && { times }),
        ...(format !== undefined && { format }),
        ...(background !== undefined && { background }),
        ...(resampling !== undefined && { resampling }),
      },
      signalOf(reply),
    );
    return sendImage(request, reply, image);
  };

  get("/conformance", async () => ({ conformsTo: CONFORMANCE }));
  get("/tileMatrixSets", async (request) => ({
    tileMatrixSets: TILE_MATRIX_SETS.map(({ id, title, uri }) => ({
      id,
      title,
      uri,
      links: [{ rel: "self", href: `${baseUrlOf(request)}/tileMatrixSets/${id}` }],
    })),
  }));
  get("/tileMatrixSets/:set", async (request) =>
    toTileMatrixSetDocument(requireSet((request.params as Params)["set"])),
  );
  get("/collections", async (request, reply) => {
    const list = await layers.list(callerOf(request), signalOf(reply));
    const base = baseUrlOf(request);
    return {
      collections: list.map((layer) => toCollection(layer, base)),
      links: [{ rel: "self", type: "application/json", href: `${base}/collections` }],
    };
  });
  get("/collections/:collection", async (request, reply) => {
    const layer = await findLayer(request, reply);
    // Files that cannot be read take none of the rest away.
    const coverage = await describeCoverage(context, layer, callerOf(request), signalOf(reply)).catch(() => undefined);
    return toCollection(layer, baseUrlOf(request), coverage && parametersOf(coverage.fields));
  });

  for (const prefix of ["/collections/:collection", "/collections/:collection/styles/:style"]) {
    get(`${prefix}/map`, async (request, reply) => {
      const layer = await findLayer(request, reply);
      return render(request, reply, layer, toMapGrid(request.query as Query, layer), toFormat(request));
    });
    get(`${prefix}/map.:format`, async (request, reply) => {
      const { format: ending = "" } = request.params as Params;
      const format = FORMATS.get(ending.toLowerCase());
      if (format === undefined) {
        throw new Problem(404, "Maps are map.png, map.jpg, map.webp and map.tiff.");
      }
      const layer = await findLayer(request, reply);
      return render(request, reply, layer, toMapGrid(request.query as Query, layer), format);
    });
    get(`${prefix}/map/tiles`, async (request, reply) =>
      toTilesets(await findLayer(request, reply), baseUrlOf(request)),
    );
    get(`${prefix}/map/tiles/:set`, async (request, reply) =>
      toTileset(await findLayer(request, reply), requireSet((request.params as Params)["set"]), baseUrlOf(request)),
    );
    get(`${prefix}/map/tiles/:set/:level/:row/:column`, async (request, reply) => {
      const { set, level, row, column } = request.params as Params;
      return render(
        request,
        reply,
        await findLayer(request, reply),
        { ...requireTile(set, level, column, row), ...toTileSize(request.query as Query) },
        toFormat(request) ?? "png",
      );
    });
  }
  get("/", async (request, reply) => {
    const { f } = request.query as Query;
    const isBrowser = f === "html" || (f === undefined && /\btext\/html\b/.test(request.headers.accept ?? ""));
    return isBrowser
      ? reply.header("vary", "accept").redirect("/explore", 302)
      : toLandingPage(context.title, baseUrlOf(request));
  });
}

function requireSet(id: string | undefined) {
  const set = findTileMatrixSet(id ?? "");
  if (set === undefined) {
    throw new Problem(
      404,
      `There is no tile matrix set "${(id ?? "").slice(0, 50)}"; there are ${TILE_MATRIX_SETS.map((each) => each.id).join(", ")}.`,
    );
  }
  return set;
}

function requireTile(
  set: string | undefined,
  level: string | undefined,
  column: string | undefined,
  row: string | undefined,
): Grid {
  const grid = tileToGrid(requireSet(set), Number(level), Number(column), Number(row));
  if (grid === undefined) {
    throw new Problem(404, "The tile is outside of its matrix.");
  }
  return grid;
}

/** Another size of tiles than that of their set: one side alone keeps them square. @throws {Problem} 400 */
function toTileSize(query: Query): Partial<Pick<Grid, "width" | "height">> {
  const [width, height] = [parseCount(query, "width", MAX_TILE_SIZE), parseCount(query, "height", MAX_TILE_SIZE)];
  const side = width ?? height;
  return side === undefined ? {} : { width: width ?? side, height: height ?? side };
}

/** By `f`, or by what the client accepts. */
function toFormat(request: FastifyRequest): OutputFormat | undefined {
  const requested = one((request.query as Query)["f"]);
  if (requested !== undefined) {
    const format = FORMATS.get(requested.toLowerCase());
    if (format === undefined) {
      throw new Problem(400, "f must be png, jpeg, webp or tiff.");
    }
    return format;
  }
  return (request.headers.accept ?? "")
    .split(",")
    .map((each) => FORMATS.get(each.split(";")[0]?.trim() ?? ""))
    .find((each) => each !== undefined);
}

/** `bbox`, `bbox-crs`, `crs`, `width`, `height` (OGC 20-058 sections 8 and 9); boxes have the order of axes of their system. */
function toMapGrid(query: Query, { bbox: whole }: Layer): Grid {
  const degrees = parseCrs("OGC:CRS84");
  const text = one(query["bbox"]);
  const bboxCrs = parseCrs(one(query["bbox-crs"]) ?? "OGC:CRS84");
  const crs = parseCrs(one(query["crs"]) ?? (text === undefined ? "OGC:CRS84" : bboxCrs.id));
  const provided = text === undefined ? whole : parseBbox(text, bboxCrs.isNorthFirst);
  const bbox = reprojectBbox(provided, text === undefined ? degrees : bboxCrs, crs);
  if (bbox === undefined) {
    throw new Problem(400, "The area cannot be shown in this coordinate reference system.");
  }
  const ratio = (bbox[2] - bbox[0]) / (bbox[3] - bbox[1]);
  const [width, height] = [parseCount(query, "width", MAX_MAP_SIZE), parseCount(query, "height", MAX_MAP_SIZE)];
  const clamp = (value: number) => Math.max(1, Math.min(MAX_MAP_SIZE, Math.round(value)));
  const size: Required<Pick<GridRequest, "width" | "height">> =
    width !== undefined
      ? { width, height: height ?? clamp(width / ratio) }
      : height !== undefined
        ? { width: clamp(height * ratio), height }
        : ratio >= 1
          ? { width: DEFAULT_MAP_SIZE, height: clamp(DEFAULT_MAP_SIZE / ratio) }
          : { width: clamp(DEFAULT_MAP_SIZE * ratio), height: DEFAULT_MAP_SIZE };
  return { crs, bbox, ...size };
}

function parseBbox(text: string, isNorthFirst: boolean): Bbox {
  const numbers = text.split(",").map(Number);
  const [a = Number.NaN, b = Number.NaN, c = Number.NaN, d = Number.NaN] =
    numbers.length === 6 ? [numbers[0], numbers[1], numbers[3], numbers[4]] : numbers;
  const bbox: Bbox = isNorthFirst ? [b, a, d, c] : [a, b, c, d];
  if (!bbox.every(Number.isFinite) || bbox[0] >= bbox[2] || bbox[1] >= bbox[3]) {
    throw new Problem(400, "bbox must be four numbers, the lower corner first.");
  }
  return bbox;
}

/** `bgcolor`: 0xRRGGBB, or a name of CSS (OGC 20-058, 8.2). @throws {Problem} 400, {RasterError} */
async function toBackground(query: Query): Promise<readonly [number, number, number] | undefined> {
  const color = one(query["bgcolor"]);
  const transparent = one(query["transparent"]);
  if (transparent === "true" || (transparent === undefined && color === undefined)) {
    return undefined;
  }
  const [red, green, blue] =
    color !== undefined && /^[a-z]{3,30}$/i.test(color) && !/^[0-9a-f]{3,8}$/i.test(color)
      ? await readColorName(color.toLowerCase())
      : parseColor(color ?? "#ffffff");
  return [red, green, blue];
}

async function readColorName(background: string): Promise<readonly [number, number, number]> {
  try {
    const pixel = await sharp({ create: { width: 1, height: 1, channels: 3, background } })
      .raw()
      .toBuffer();
    return [pixel[0] ?? 0, pixel[1] ?? 0, pixel[2] ?? 0];
  } catch {
    throw new Problem(400, `bgcolor must be 0xRRGGBB or a colour name of CSS, not "${background}".`);
  }
}
