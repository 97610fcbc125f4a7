import { parseCrs, reprojectBbox } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";

import { distancesOf } from "../coverages/coverage-json.ts";
import { type DataAccessContext, callerOf, signalOf } from "../http/context.ts";
import { parseWkt } from "../http/geometry.ts";
import { type Query, one } from "../tiler/parameters.ts";
import { expandAssets } from "../tiler/asset-bands.ts";
import { scenesFor, toLayerTarget, toLook } from "../tiler/scene-target.ts";
import { alongLine, boundsOfPoints, readAlong, requireLine, toLineCsv } from "./along-line.ts";

const DEGREES = parseCrs("OGC:CRS84");

/**
 * Values along a line of what a picture shows: by `style` or `expression`, on the days of `datetime`, with the parameters of tiles.
 * The viewer's profile.
 */
export function addProfileRoute(app: FastifyInstance, context: DataAccessContext): void {
  const { layers, pool } = context;
  app.get("/collections/:collection/profile", { schema: { tags: ["edr"] } as object }, async (request, reply) => {
    const { collection } = request.params as { collection: string };
    const query = request.query as Query;
    const coords = one(query["coords"]);
    if (coords === undefined) {
      throw new Problem(400, "coords is missing: well-known text such as LINESTRING(15.3 46.3,15.4 46.35).");
    }
    const points = alongLine(requireLine(parseWkt(coords)));
    const crs = parseCrs(one(query["crs"]) ?? "OGC:CRS84");
    const layer = await layers.find(collection, callerOf(request));
    if (layer === undefined) {
      throw new Problem(404, `There is no collection "${collection.slice(0, 100)}".`);
    }
    const target = toLayerTarget(context, layer, request, reply);
    const area = reprojectBbox(boundsOfPoints(points, crs), crs, DEGREES);
    const items = area === undefined ? [] : await target.findItems(area);
    const assets = await expandAssets(query, items, pool, { isPicture: false, signal: signalOf(reply) });
    const { expressions, selection, unscale } = toLook(target, query, assets, { isPicture: false });
    const values = await readAlong(
      pool,
      {
        points,
        crs,
        scenes: scenesFor(items, expressions),
        expressions,
        ...(selection !== undefined && { selection }),
        ...(unscale !== undefined && { unscale }),
      },
      signalOf(reply),
    );
    const kilometres = distancesOf(values, crs);
    return one(query["f"])?.toLowerCase() === "csv"
      ? reply.type("text/csv; charset=utf-8").send(toLineCsv(values, kilometres, expressions))
      : { expressions, points: values.map((value, at) => ({ ...value, kilometres: kilometres[at] })) };
  });
}
