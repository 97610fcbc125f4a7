import { type Clip, parseCrs } from "@swath/raster";
import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";

import { type DataAccessContext, callerOf, signalOf } from "../http/context.ts";
import { boundsOf, parseArea } from "../http/geometry.ts";
import { type Query, one } from "../tiler/parameters.ts";
import { expandAssets } from "../tiler/asset-bands.ts";
import { scenesFor, toLayerTarget, toLook } from "../tiler/scene-target.ts";

const DEGREES = parseCrs("OGC:CRS84");
const MAX_SCENES = 100;
const CONCURRENCY = 6;
const MAX_AREA_BYTES = 1024 * 1024;
/** Longer side of the pixels that a mean is made of. */
const SIZE = 256;

interface Row {
  readonly item: string;
  readonly datetime: string | null;
  readonly statistics: Readonly<Record<string, unknown>>;
}

/** `POST /collections/{id}/timeseries`: statistics of an area, scene by scene: what a chart over time shows. */
export function addTimeSeriesRoute(app: FastifyInstance, context: DataAccessContext): void {
  const { layers, pool } = context;
  app.post(
    "/collections/:collection/timeseries",
    { schema: { tags: ["edr"] } as object, bodyLimit: MAX_AREA_BYTES },
    async (request, reply) => {
      const { collection } = request.params as { collection: string };
      const query = request.query as Query;
      const layer = await layers.find(collection, callerOf(request));
      if (layer === undefined) {
        throw new Problem(404, `There is no collection "${collection.slice(0, 100)}".`);
      }
      const clip: Clip = parseArea(request.body);
      const bbox = boundsOf(clip, DEGREES);
      const signal = signalOf(reply);
      const target = toLayerTarget(context, layer, request, reply);
      const items = await target.findItems(bbox, MAX_SCENES);
      const assets = await expandAssets(query, items, pool, { isPicture: false, signal });
      const { expressions, unscale } = toLook(target, query, assets, { isPicture: false });
      const rows: Row[] = [];
      const waiting = items.values();
      await Promise.all(
        Array.from({ length: CONCURRENCY }, async () => {
          for (const item of waiting) {
            const scenes = scenesFor([item], expressions);
            if (scenes.length === 0) {
              continue;
            }
            const statistics = await pool.statistics(
              {
                scenes,
                grid: { crs: DEGREES, bbox, bboxCrs: DEGREES, maxSize: SIZE },
                expressions,
                clip,
                ...(unscale !== undefined && { unscale }),
              },
              signal,
            );
            if (Object.values(statistics).some(({ count }) => count > 0)) {
              rows.push({ item: item.id, datetime: item.datetime, statistics });
            }
          }
        }),
      );
      rows.sort((a, b) => (a.datetime ?? "").localeCompare(b.datetime ?? ""));
      if (one(query["f"])?.toLowerCase() === "csv") {
        const numbers = ["mean", "min", "max", "median", "std", "count"] as const;
        const head = expressions.flatMap((name) => numbers.map((number) => `"${name} ${number}"`)).join(",");
        const lines = rows.map(({ item, datetime, statistics }) =>
          [
            datetime ?? "",
            `"${item.replaceAll('"', '""')}"`,
            ...expressions.flatMap((name) =>
              numbers.map((number) => (statistics[name] as Record<string, number> | undefined)?.[number] ?? ""),
            ),
          ].join(","),
        );
        return reply.type("text/csv; charset=utf-8").send([`datetime,item,${head}`, ...lines, ""].join("\r\n"));
      }
      return { expressions, series: rows };
    },
  );
}
