import {
  type Bbox,
  type Clip,
  type Crs,
  type DescribedRaster,
  type GridRequest,
  type ImageRequest,
  type PixelsRequest,
  type RasterInfo,
  type SceneAsset,
  type SourceLocation,
  chooseBands,
  defaultExpressions,
  listDataBands,
  parseCrs,
  reprojectBbox,
} from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { type DataAccessContext, signalOf } from "../http/context.ts";
import { toBoxGeometry } from "../http/box-geometry.ts";
import { boundsOf, parseArea, parseFeatures } from "../http/geometry.ts";
import { sendImage } from "../http/send-image.ts";
import { type TileMatrixSet, findTileMatrixSet, tileToGrid } from "../tiles/tile-matrix-sets.ts";
import {
  type Query,
  one,
  parseCount,
  parseCubeSelection,
  parseHistogram,
  parseNodata,
  parsePercentiles,
  parseRender,
  parseUnscale,
} from "./parameters.ts";
import { declareParameters } from "./check-parameters.ts";
import { applyAlgorithm, calculateValues } from "./algorithms.ts";
import { type NamedBand, nameBands, toBandFields, toNamedStatistics } from "./band-names.ts";
import { bandDescriptionsOf, describeCog } from "./describe-cog.ts";
import { locateFile } from "./locate-file.ts";
import { toMapGrid } from "./map-grid.ts";
import { MAX_TILE_SIZE, addBuffer, parseNumbers, parsePathSize, sizeOf, toFormat } from "./request-grid.ts";
import { type Tiled, requireTileMatrixSet, toLimitedTileSet, toTileJson, toTileSetList } from "./tilesets.ts";
import { fromNamedArea, fromNamedBounds, fromNamedPoint } from "./own-pixels.ts";
import type { Operation } from "./parameter-names.ts";
import { zoomsOf } from "./zooms.ts";

const DEGREES = parseCrs("OGC:CRS84");
const WORLD: Bbox = [-180, -85, 180, 85];
const FEATURE_BYTES = 4 * 1024 * 1024;

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Files by their address, at the paths and with the parameters of today's dynamic tilers. */
export function addCogRoutes(app: FastifyInstance, context: DataAccessContext): void {
  const { pool } = context;
  const locations = new WeakMap<FastifyRequest, SourceLocation>();
  /** Where the request's file is, with the rights that its sender has there. */
  const locationOf = (request: FastifyRequest): SourceLocation => {
    const location = locations.get(request);
    if (location === undefined) {
      throw new Error("the file of this request was not looked for");
    }
    return location;
  };
  app.addHook("preHandler", async (request, reply) => {
    locations.set(request, await locateFile(request, context));
    const { position } = parseCubeSelection(request.query as Query);
    if (position !== undefined) {
      checkPosition(position, await describe(request, reply));
    }
  });
  const get = (operation: Operation, path: string, handler: Handler) =>
    app.get(path, declareParameters("cog", operation, path), handler);
  const post = (operation: Operation, path: string, handler: Handler) =>
    app.post(path, { ...declareParameters("cog", operation, path), bodyLimit: FEATURE_BYTES }, handler);
  const sceneOf = (request: FastifyRequest) => {
    const query = request.query as Query;
    const nodata = parseNodata(query);
    return {
      assets: {
        data: {
          location: locationOf(request),
          ...parseCubeSelection(query),
          ...(nodata !== undefined && { nodata }),
        },
      },
    };
  };
  const image = async (
    request: FastifyRequest,
    reply: FastifyReply,
    grid: GridRequest,
    format: string | undefined,
    clip?: Clip,
  ) => {
    const full = {
      ...(await lookOf(request, reply, format)),
      grid,
      // As today's tilers: all of the pixels that the area touches.
      ...(clip !== undefined && { clip: { ...clip, isTouched: true } }),
    };
    return sendImage(request, reply, await pool.image(full, signalOf(reply)));
  };
  /** What is shown of the file, and how. */
  const lookOf = async (
    request: FastifyRequest,
    reply: FastifyReply,
    format: string | undefined,
  ): Promise<Omit<ImageRequest, "grid">> => {
    const query = request.query as Query;
    const scene = sceneOf(request);
    const render = parseRender(query);
    const chosen = toFormat(format ?? one(query["format"]));
    const algorithm = one(query["algorithm"]);
    if (algorithm === undefined) {
      return { scenes: [scene], ...render, ...chosen };
    }
    const bands = render.expressions ?? defaultExpressions((await describe(request, reply)).info);
    const { isBytes, rescale, ...calculated } = applyAlgorithm(algorithm, bands);
    const isData = chosen.format === "npy" || chosen.format === "tif";
    return {
      scenes: [scene],
      ...(rescale !== undefined && (isBytes || !isData) && { rescale, rendersData: isBytes }),
      ...render,
      ...calculated,
      ...chosen,
    };
  };
  const describe = (request: FastifyRequest, reply: FastifyReply): Promise<DescribedRaster> =>
    pool.describe(locationOf(request), signalOf(reply));

  /** What coordinates of a request are in, where it does not say: degrees, or the pixels of a raster that is nowhere. */
  const systemOf = async (request: FastifyRequest, reply: FastifyReply): Promise<Crs> => {
    const named = one((request.query as Query)["coord_crs"]);
    if (named !== undefined) {
      return parseCrs(named);
    }
    const { crs } = await describe(request, reply);
    return crs.local === undefined ? DEGREES : crs;
  };

  get("info", "/info", async (request, reply) => describeCog(await describe(request, reply)));
  get("info", "/info.geojson", async (request, reply) => {
    const described = await describe(request, reply);
    if (described.crs.local !== undefined) {
      return reply
        .type("application/geo+json")
        .send({ type: "Feature", geometry: null, properties: describeCog(described) });
    }
    return reply.type("application/geo+json").send({
      type: "Feature",
      ...toBoxGeometry(described.geographicBounds ?? [-180, -90, 180, 90]),
      properties: describeCog(described),
    });
  });
  const statistics = async (request: FastifyRequest, reply: FastifyReply, grid: GridRequest, clip?: Clip) => {
    const query = request.query as Query;
    const { expressions, unscale, resampling } = parseRender(query);
    const scene = sceneOf(request);
    const { info } = await describe(request, reply);
    const bands = calculateValues(one(query["algorithm"]), expressions ?? listDataBands(info.bands, scene.assets.data));
    const histogram = parseHistogram(query);
    const values = await pool.statistics(
      {
        scenes: [scene],
        grid,
        expressions: [...new Set(bands)],
        ...(unscale !== undefined && { unscale }),
        ...(resampling !== undefined && { resampling }),
        ...parsePercentiles(query),
        ...histogram,
        ...(clip !== undefined && { clip }),
      },
      signalOf(reply),
    );
    return toNamedStatistics(namesOf(query, bands, info, scene.assets.data), values);
  };
  /** Bands of the file, chosen by numbers, keep their own names. */
  const namesOf = (query: Query, bands: readonly string[], info: RasterInfo, asset: SceneAsset) => {
    const chosen = chooseBands(info.bands, asset);
    const isCalculated = ["expression", "algorithm"].some((name) => one(query[name]) !== undefined);
    return nameBands(bands, isCalculated ? undefined : (band) => info.bands[chosen[band] ?? -1]?.description);
  };
  get("statistics", "/statistics", async (request, reply) =>
    statistics(request, reply, sizeOf(request.query as Query, undefined)),
  );
  post("area-statistics", "/statistics", async (request, reply) => {
    const query = request.query as Query;
    const coordCrs = await systemOf(request, reply);
    const named = one(query["dst_crs"]);
    const crs = named === undefined ? coordCrs : parseCrs(named);
    const described: unknown[] = [];
    for (const feature of parseFeatures(request.body)) {
      const clip = fromNamedArea(parseArea(feature, coordCrs));
      const grid = { crs, bbox: boundsOf(clip, crs), bboxCrs: crs, isAligned: true, ...sizeOf(query, undefined, 0) };
      const values = await statistics(request, reply, grid, clip);
      described.push({ ...feature, properties: { ...(feature["properties"] as object | null), statistics: values } });
    }
    const isCollection = (request.body as { type?: unknown }).type === "FeatureCollection";
    return reply
      .type("application/geo+json")
      .send(isCollection ? { type: "FeatureCollection", features: described } : described[0]);
  });
  const crop: Handler = async (request, reply) => {
    const query = request.query as Query;
    const { size, format } = parsePathSize(request.params);
    const coordCrs = await systemOf(request, reply);
    const named = one(query["dst_crs"]);
    const crs = named === undefined ? coordCrs : parseCrs(named);
    const clip = fromNamedArea(parseArea(request.body, coordCrs));
    const bbox = boundsOf(clip, crs);
    return image(request, reply, { crs, bbox, bboxCrs: crs, ...sizeOf(query, size, 0) }, format, clip);
  };
  for (const path of ["/feature", "/feature.:format", "/feature/:size.:format"]) {
    post("part", path, crop);
  }
  const readExpressions = async (
    pixels: Pick<PixelsRequest, "scenes" | "unscale"> & { readonly expressions: readonly string[] },
    names: readonly NamedBand[],
    crs: Crs,
    x: number,
    y: number,
    reply: FastifyReply,
  ) => {
    const { planes } = await pool.pixels({ ...pixels, grid: gridAround(crs, x, y) }, signalOf(reply));
    if (planes.every(({ mask }) => mask[0] === 0) && !(await isInside(pixels.scenes, crs, x, y, reply))) {
      throw new Problem(404, "The point is outside of the raster.");
    }
    const values = planes.map(({ samples, mask }) => (mask[0] === 0 ? null : (samples[0] ?? null)));
    return { coordinates: fromNamedPoint(x, y, crs), values, ...toBandFields(names) };
  };
  const isInside = async (scenes: PixelsRequest["scenes"], crs: Crs, x: number, y: number, reply: FastifyReply) => {
    const { location } = scenes[0]!.assets["data"]!;
    return (await pool.point({ location, crs, x, y }, signalOf(reply))) !== undefined;
  };
  get("point", "/point/:lonlat", async (request, reply) => {
    const query = request.query as Query;
    const [column = 0, row = 0] = parseNumbers((request.params as { lonlat: string }).lonlat, 2);
    const crs = await systemOf(request, reply);
    const [x, y] = fromNamedPoint(column, row, crs);
    const { expressions } = parseRender(query);
    const scene = sceneOf(request);
    const { location, nodata } = scene.assets.data;
    const { info } = await describe(request, reply);
    if (expressions !== undefined || nodata !== undefined) {
      const bands = expressions ?? listDataBands(info.bands, scene.assets.data);
      const names = namesOf(query, bands, info, scene.assets.data);
      return readExpressions({ scenes: [scene], expressions: bands, ...parseUnscale(query) }, names, crs, x, y, reply);
    }
    const values = await pool.point(
      { location, crs, x, y, ...parseUnscale(query), ...parseCubeSelection(query) },
      signalOf(reply),
    );
    if (values === undefined) {
      throw new Problem(404, "The point is outside of the raster.");
    }
    const names = values.map((_, band) => `b${band + 1}`);
    return {
      coordinates: [column, row],
      values,
      ...toBandFields(namesOf(query, names, info, scene.assets.data)),
    };
  });

  const preview: Handler = async (request, reply) => {
    const query = request.query as Query;
    const { size, format } = parsePathSize(request.params);
    const crs = one(query["dst_crs"]);
    return image(request, reply, { ...(crs !== undefined && { crs: parseCrs(crs) }), ...sizeOf(query, size) }, format);
  };
  get("preview", "/preview", preview);
  get("preview", "/preview.:format", preview);
  get("preview", "/preview/:size.:format", preview);

  const part: Handler = async (request, reply) => {
    const query = request.query as Query;
    const { size, format } = parsePathSize(request.params);
    const bboxCrs = await systemOf(request, reply);
    const named = parseNumbers((request.params as { bbox: string }).bbox, 4) as unknown as Bbox;
    const bbox = fromNamedBounds(named, bboxCrs);
    const crs = one(query["dst_crs"]);
    return image(
      request,
      reply,
      { crs: crs === undefined ? bboxCrs : parseCrs(crs), bbox, bboxCrs, ...sizeOf(query, size, 0) },
      format,
    );
  };
  get("part", "/bbox/:bbox.:format", part);
  get("part", "/bbox/:bbox/:size.:format", part);

  get("map", "/map", async (request, reply) => {
    const query = request.query as Query;
    const { crs } = await describe(request, reply);
    const grid = toMapGrid(query, { crs, bboxCrs: crs.local === undefined ? DEGREES : crs });
    const { bbox, bboxCrs } = grid;
    return image(
      request,
      reply,
      bbox && bboxCrs ? { ...grid, bbox: fromNamedBounds(bbox, bboxCrs) } : grid,
      one(query["f"]) ?? /image\/(png|jpeg|webp|tiff)/.exec(request.headers.accept ?? "")?.[1] ?? "png",
    );
  });

  const tile: Handler = async (request, reply) => {
    const { tms, z, x, y, format } = request.params as Record<"tms" | "z" | "x" | "y", string> & { format?: string };
    const query = request.query as Query;
    const [, row, scale = "1"] = /^(\d+)(?:@([1-4])x)?$/.exec(y) ?? [];
    const size = parseCount(query, "tilesize", MAX_TILE_SIZE) ?? 256 * Number(scale);
    const set = findTileMatrixSet(tms);
    const place = set && tileToGrid(set, Number(z), Number(x), row === undefined ? Number.NaN : Number(row), size);
    if (place === undefined) {
      throw new Problem(404, "The tile does not exist.");
    }
    const grid = addBuffer(place, query);
    const result = await pool.image({ ...(await lookOf(request, reply, format)), grid }, signalOf(reply));
    if (result.isEmpty && !(await overlaps(grid, locationOf(request)))) {
      throw new Problem(404, "The tile is outside of the raster.");
    }
    return sendImage(request, reply, result);
  };
  const overlaps = async (grid: GridRequest, location: SourceLocation) => {
    const { geographicBounds } = await pool.describe(location);
    const { bbox, crs } = grid;
    const area = bbox && crs && reprojectBbox(bbox, crs, parseCrs("OGC:CRS84"));
    return (
      area !== undefined &&
      geographicBounds !== undefined &&
      area[0] < geographicBounds[2] &&
      area[2] > geographicBounds[0] &&
      area[1] < geographicBounds[3] &&
      area[3] > geographicBounds[1]
    );
  };
  get("tile", "/tiles/:tms/:z/:x/:y", tile);
  get("tile", "/tiles/:tms/:z/:x/:y.:format", tile);

  const tiled = async (request: FastifyRequest, reply: FastifyReply, set: TileMatrixSet): Promise<Tiled> => {
    const described = await describe(request, reply);
    return {
      bounds: described.geographicBounds ?? WORLD,
      zooms: zoomsOf(described, set),
      bandDescriptions: bandDescriptionsOf(described.info),
      dataType: described.info.bands[0]?.type ?? "float32",
    };
  };
  get("tilejson", "/:tms/tilejson.json", async (request, reply) => {
    const set = requireTileMatrixSet((request.params as { tms: string }).tms);
    return toTileJson(request, set, await tiled(request, reply, set));
  });
  get("tilesets", "/tiles", async (request, reply) =>
    toTileSetList(request, { bounds: (await describe(request, reply)).geographicBounds ?? WORLD }),
  );
  get("tileset", "/tiles/:tms", async (request, reply) => {
    const set = requireTileMatrixSet((request.params as { tms: string }).tms);
    return toLimitedTileSet(request, set, await tiled(request, reply, set));
  });
}

/** Positions of layers may name dimensions that some of their files lack; that of one file names its own. @throws {Problem} 400 */
function checkPosition(position: Readonly<Record<string, string>>, { info }: DescribedRaster): void {
  const dimensions = new Set(info.bands.flatMap((band) => Object.keys(band.position ?? {})));
  const unknown = Object.keys(position).find((name) => !dimensions.has(name));
  if (unknown !== undefined) {
    const known = [...dimensions].join(", ");
    throw new Problem(400, `The file has no dimension "${unknown.slice(0, 50)}"; there are ${known || "none"}.`);
  }
}

/** One pixel, far smaller than those of any file. */
function gridAround(crs: Crs, x: number, y: number): GridRequest {
  const half = crs.isGeographic ? 1e-9 : 1e-4;
  return { crs, bbox: [x - half, y - half, x + half, y + half], width: 1, height: 1 };
}
