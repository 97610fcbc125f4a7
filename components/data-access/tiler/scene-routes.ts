import {
  type Bbox,
  type Clip,
  type Grid,
  type GridRequest,
  type ImageRequest,
  parseCrs,
  reprojectBbox,
} from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { type DataAccessContext, signalOf } from "../http/context.ts";
import { toBoxGeometry } from "../http/box-geometry.ts";
import { boundsOf, parseArea, parseFeatures } from "../http/geometry.ts";
import type { LayerItem } from "../layers/layer.ts";
import { sendImage } from "../http/send-image.ts";
import { type TileMatrixSet, findTileMatrixSet, tileToGrid } from "../tiles/tile-matrix-sets.ts";
import { expandAssets, parseAssetNames } from "./asset-bands.ts";
import { nameAssetBands, nameBands, toBandFields, toNamedStatistics } from "./band-names.ts";
import { declareParameters } from "./check-parameters.ts";
import { describeItem, describeTarget } from "./describe-target.ts";
import { type Query, listOf, one, parseCount, parseHistogram, parsePercentiles } from "./parameters.ts";
import type { Kind, Operation } from "./parameter-names.ts";
import {
  MAX_TILE_SIZE,
  PREVIEW_SIZE,
  addBuffer,
  parseNumbers,
  parsePathSize,
  sizeOf,
  toFormat,
} from "./request-grid.ts";
import { type Tiled, requireTileMatrixSet, toLimitedTileSet, toTileJson, toTileSetList } from "./tilesets.ts";
import { findMaxZoom } from "./zooms.ts";
import { type OpenTarget, type SceneTarget, requireScenes, scenesFor, toLook, withNodata } from "./scene-target.ts";

/** Larger: values on the sphere are meant for one place. */
const POINT_ITEMS = 50;
const FEATURE_BYTES = 4 * 1024 * 1024;
const DEGREES = parseCrs("OGC:CRS84");

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** The paths of today's tilers for items, collections and searches; they differ in how their target is found. */
export function addSceneRoutes(
  app: FastifyInstance,
  { pool, pictures }: DataAccessContext,
  { kind, open }: { readonly kind: Exclude<Kind, "cog">; readonly open: OpenTarget },
): void {
  const get = (operation: Operation, path: string, handler: Handler) =>
    app.get(path, declareParameters(kind, operation, path), handler);
  const post = (operation: Operation, path: string, handler: Handler) =>
    app.post(path, { ...declareParameters(kind, operation, path), bodyLimit: FEATURE_BYTES }, handler);

  // Files of one scene are shown in their own resolution, as by today's tilers; mosaics are larger than pictures.
  const isScene = kind === "stac" || kind === "items";
  const ownSize = isScene ? 0 : PREVIEW_SIZE;

  /** The box is only for finding scenes, and need not be exact. */
  const toRequest = async (
    target: SceneTarget,
    query: Query,
    grid: GridRequest,
    area: Bbox | undefined,
    options: { readonly isPicture: boolean; readonly signal: AbortSignal },
  ) => {
    const items = await target.findItems(area);
    const look = toLook(target, query, await expandAssets(query, items, pool, options), options);
    const scenes = withNodata(requireScenes(items, look.expressions, target), query);
    return { ...look, scenes, grid } satisfies ImageRequest;
  };
  const sendPicture = async (
    request: FastifyRequest,
    reply: FastifyReply,
    grid: GridRequest,
    format: string | undefined,
    clip?: Clip,
  ) => {
    const query = request.query as Query;
    const target = await open(request, reply);
    const { bbox, bboxCrs = grid.crs ?? DEGREES } = grid;
    const area = bbox && reprojectBbox(bbox, bboxCrs, DEGREES);
    const chosen = toFormat(format ?? one(query["format"]));
    const isPicture = chosen.format !== "npy" && chosen.format !== "tif";
    const signal = signalOf(reply);
    const full = await toRequest(target, query, grid, area, { isPicture, signal });
    if (full.scenes.length === 0 && (grid.width === undefined || grid.height === undefined)) {
      throw new Problem(404, "There is nothing in this area.");
    }
    const image = await pictures.render({ ...full, ...(clip !== undefined && { clip }), ...chosen }, target.id, signal);
    return sendImage(request, reply, image);
  };

  get("info", "/info", async (request, reply) => {
    const target = await open(request, reply);
    const [item] = await target.findItems(undefined, 1);
    return target.layer?.kind === "item" || target.layer === undefined
      ? describeItem(item, pool, signalOf(reply), parseAssetNames(request.query as Query, item))
      : describeTarget(target, request);
  });
  get("scene-info", "/info.geojson", async (request, reply) => {
    const target = await open(request, reply);
    const [item] = await target.findItems(undefined, 1);
    return reply.type("application/geo+json").send({
      type: "Feature",
      ...toBoxGeometry(target.bounds),
      properties: await describeItem(item, pool, signalOf(reply), parseAssetNames(request.query as Query, item)),
    });
  });
  get("scene", "/assets", async (request, reply) => {
    const [item] = await (await open(request, reply)).findItems(undefined, 1);
    return Object.keys(item?.scene.assets ?? {});
  });

  const statistics = async (
    request: FastifyRequest,
    reply: FastifyReply,
    target: SceneTarget,
    grid: GridRequest,
    clip?: Clip,
    /** Instead of those of the request; the bands are named after their own file then. */
    asset?: string,
  ) => {
    const query: Query = { ...(request.query as Query), ...(asset !== undefined && { assets: asset }) };
    const { bbox, bboxCrs = DEGREES } = grid;
    const signal = signalOf(reply);
    const area = bbox && reprojectBbox(bbox, bboxCrs, DEGREES);
    const full = await toRequest(target, query, grid, area, { isPicture: false, signal });
    if (full.scenes.length === 0) {
      throw new Problem(404, "There is nothing in this area.");
    }
    const { expressions, scenes, unscale, resampling, selection, terrain } = full;
    if (terrain !== undefined && one(query["algorithm"]) !== undefined) {
      throw new Problem(400, `${one(query["algorithm"])} is drawn in pictures and tiles only; it has no values here.`);
    }
    const histogram = parseHistogram(query);
    const values = await pool.statistics(
      {
        scenes,
        grid,
        expressions: [...new Set(expressions)],
        ...(resampling !== undefined && { resampling }),
        ...(selection !== undefined && { selection }),
        ...(unscale !== undefined && { unscale }),
        ...parsePercentiles(query),
        ...histogram,
        ...(clip !== undefined && { clip }),
      },
      signal,
    );
    return toNamedStatistics(asset === undefined ? nameBands(expressions) : nameAssetBands(expressions), values);
  };
  get("statistics", "/statistics", async (request, reply) => {
    const target = await open(request, reply);
    const text = one((request.query as Query)["bbox"]);
    const bbox = text === undefined ? target.bounds : (parseNumbers(text, 4) as unknown as Bbox);
    const isWhole = text === undefined && (target.layer === undefined || target.layer.kind === "item");
    const grid = isWhole ? {} : { crs: DEGREES, bbox, bboxCrs: DEGREES };
    return statistics(request, reply, target, { ...grid, ...sizeOf(request.query as Query, undefined) });
  });
  get("asset-statistics", "/asset_statistics", async (request, reply) => {
    const target = await open(request, reply);
    const query = request.query as Query;
    const named = listOf(query["assets"]);
    if (named.length === 0) {
      throw new Problem(400, "Say of which assets: assets=red&assets=nir, or assets=:all:.");
    }
    const [item] = await target.findItems(undefined, 1);
    const names = named.includes(":all:") ? Object.keys(item?.scene.assets ?? {}) : named;
    const grid = sizeOf(query, undefined);
    const entries = names.map(async (asset) => [
      // Their key has the bands as a list.
      asset.replace(/\|(?:bidx|indexes)=([\d,]+)$/, "|indexes=[$1]"),
      await statistics(request, reply, target, grid, undefined, asset),
    ]);
    return Object.fromEntries(await Promise.all(entries)) as object;
  });
  post("area-statistics", "/statistics", async (request, reply) => {
    const target = await open(request, reply);
    const query = request.query as Query;
    const coordCrs = parseCrs(one(query["coord_crs"]) ?? "OGC:CRS84");
    const crs = parseCrs(one(query["dst_crs"]) ?? coordCrs.id);
    const described: unknown[] = [];
    for (const feature of parseFeatures(request.body)) {
      const clip = parseArea(feature, coordCrs);
      const bbox = boundsOf(clip, crs);
      const grid = { crs, bbox, bboxCrs: crs, isAligned: true, ...sizeOf(query, undefined, ownSize) };
      const values = await statistics(request, reply, target, grid, clip);
      described.push({ ...feature, properties: { ...(feature["properties"] as object | null), statistics: values } });
    }
    const isCollection = (request.body as { type?: unknown }).type === "FeatureCollection";
    return reply
      .type("application/geo+json")
      .send(isCollection ? { type: "FeatureCollection", features: described } : described[0]);
  });

  get("point", "/point/:lonlat", async (request, reply) => {
    const query = request.query as Query;
    const target = await open(request, reply);
    const [x = 0, y = 0] = parseNumbers((request.params as { lonlat: string }).lonlat, 2);
    const crs = parseCrs(one(query["coord_crs"]) ?? "OGC:CRS84");
    const half = crs.isGeographic ? 1e-6 : 0.1;
    const bbox: Bbox = [x - half, y - half, x + half, y + half];
    const items = await target.findItems(reprojectBbox(bbox, crs, DEGREES), POINT_ITEMS);
    const own = await expandAssets(query, items, pool, { isPicture: false, signal: signalOf(reply) });
    const { expressions, unscale } = toLook(target, query, own, { isPicture: false });
    const bands = toBandFields(nameBands(expressions));
    requireScenes(items, expressions, target);
    const assets: { name: string; values: readonly (number | null)[]; datetime: LayerItem["datetime"] }[] = [];
    for (const item of items) {
      const scenes = withNodata(scenesFor([item], expressions), query);
      if (scenes.length === 0) {
        continue;
      }
      const { planes } = await pool.pixels(
        {
          scenes,
          grid: { crs, bbox, width: 1, height: 1 },
          expressions,
          resampling: "nearest",
          ...(unscale !== undefined && { unscale }),
        },
        signalOf(reply),
      );
      const found = planes.map(({ samples, mask }) => (mask[0] === 0 ? null : (samples[0] ?? null)));
      if (found.some((value) => value !== null)) {
        assets.push({ name: item.id, values: found, ...bands, datetime: item.datetime });
      }
    }
    if (target.layer === undefined || target.layer.kind === "item") {
      const [only] = assets;
      if (only === undefined) {
        throw new Problem(404, "The point is outside of the raster.");
      }
      return { coordinates: [x, y], values: only.values, ...bands, assets };
    }
    return {
      coordinates: [x, y],
      values: assets.map(({ name, values: found }) => [name, found, bands.band_names]),
      assets,
    };
  });

  const preview: Handler = async (request, reply) => {
    const query = request.query as Query;
    const { size: pathSize, format } = parsePathSize(request.params);
    const named = one(query["dst_crs"]);
    const size = sizeOf(query, pathSize);
    if (isScene) {
      // The whole of the first file, in its own system.
      return sendPicture(request, reply, { ...(named !== undefined && { crs: parseCrs(named) }), ...size }, format);
    }
    const crs = named === undefined ? DEGREES : parseCrs(named);
    const { bounds } = await open(request, reply);
    return sendPicture(request, reply, { crs, bbox: bounds, bboxCrs: DEGREES, ...size }, format);
  };
  get("preview", "/preview", preview);
  get("preview", "/preview.:format", preview);
  get("preview", "/preview/:size.:format", preview);

  const part: Handler = async (request, reply) => {
    const query = request.query as Query;
    const { size, format } = parsePathSize(request.params);
    const bbox = parseNumbers((request.params as { bbox: string }).bbox, 4) as unknown as Bbox;
    const bboxCrs = parseCrs(one(query["coord_crs"]) ?? "OGC:CRS84");
    const crs = parseCrs(one(query["dst_crs"]) ?? bboxCrs.id);
    return sendPicture(request, reply, { crs, bbox, bboxCrs, ...sizeOf(query, size, ownSize) }, format);
  };
  get("part", "/bbox/:bbox.:format", part);
  get("part", "/bbox/:bbox/:size.:format", part);

  const crop: Handler = async (request, reply) => {
    const query = request.query as Query;
    const { size, format } = parsePathSize(request.params);
    const coordCrs = parseCrs(one(query["coord_crs"]) ?? "OGC:CRS84");
    const crs = parseCrs(one(query["dst_crs"]) ?? coordCrs.id);
    const clip = parseArea(request.body, coordCrs);
    return sendPicture(
      request,
      reply,
      { crs, bbox: boundsOf(clip, crs), bboxCrs: crs, ...sizeOf(query, size, ownSize) },
      format,
      { ...clip, isTouched: true },
    );
  };
  for (const path of ["/feature", "/feature.:format", "/feature/:size.:format"]) {
    post("part", path, crop);
  }

  const tile: Handler = async (request, reply) => {
    const { tms, z, x, y, format } = request.params as Record<"tms" | "z" | "x" | "y", string> & { format?: string };
    const [, row = "", scale = "1"] = /^(\d+)(?:@([1-4])x)?$/.exec(y) ?? [];
    const size = parseCount(request.query as Query, "tilesize", MAX_TILE_SIZE) ?? 256 * Number(scale);
    const set = findTileMatrixSet(tms);
    const place: Grid | undefined =
      set && tileToGrid(set, Number(z), Number(x), row === "" ? Number.NaN : Number(row), size);
    if (place === undefined) {
      throw new Problem(404, "The tile does not exist.");
    }
    return sendPicture(request, reply, addBuffer(place, request.query as Query), format);
  };
  get("tile", "/tiles/:tms/:z/:x/:y", tile);
  get("tile", "/tiles/:tms/:z/:x/:y.:format", tile);

  const tiled = async (request: FastifyRequest, reply: FastifyReply, set: TileMatrixSet): Promise<Tiled> => {
    const target = await open(request, reply);
    const { bounds, title } = target;
    const maxzoom = await findMaxZoom(target, set, pool, signalOf(reply));
    return { bounds, zooms: { minzoom: 0, maxzoom }, title, format: "png" };
  };
  const tilejson: Handler = async (request, reply) => {
    const set = requireTileMatrixSet((request.params as { tms: string }).tms);
    return toTileJson(request, set, await tiled(request, reply, set));
  };
  get("tilejson", "/:tms/tilejson.json", tilejson);
  get("tilejson", "/tiles/:tms/tilejson.json", tilejson);
  get("tilesets", "/tiles", async (request, reply) => toTileSetList(request, await open(request, reply)));
  get("tileset", "/tiles/:tms", async (request, reply) => {
    const set = requireTileMatrixSet((request.params as { tms: string }).tms);
    return toLimitedTileSet(request, set, await tiled(request, reply, set));
  });
}
