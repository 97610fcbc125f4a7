import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";

import { type DataAccessContext, callerOf, signalOf } from "../http/context.ts";
import { type Query, one } from "../tiler/parameters.ts";
import { parseNumbers } from "../tiler/request-grid.ts";

/** The newest scenes that days are counted of. */
const MAX_SCENES = 500;

/** `/collections/{id}/days`: days that have scenes, in an area: what a slider of time offers. */
export function addDaysRoute(app: FastifyInstance, { layers }: DataAccessContext): void {
  app.get("/collections/:collection/days", { schema: { tags: ["collections"] } as object }, async (request, reply) => {
    const { collection } = request.params as { collection: string };
    const layer = await layers.find(collection, callerOf(request));
    if (layer === undefined) {
      throw new Problem(404, `There is no collection "${collection.slice(0, 100)}".`);
    }
    const text = one((request.query as Query)["bbox"]);
    const bbox =
      text === undefined ? undefined : (parseNumbers(text, 4) as unknown as [number, number, number, number]);
    const items = await layers.findItems(
      layer,
      { limit: MAX_SCENES, ...(bbox !== undefined && { bbox }) },
      callerOf(request),
      signalOf(reply),
    );
    const days = new Map<string, number>();
    for (const { datetime } of items) {
      const day = datetime?.slice(0, 10);
      if (day !== undefined) {
        days.set(day, (days.get(day) ?? 0) + 1);
      }
    }
    return {
      days: [...days].map(([day, count]) => ({ day, items: count })).toSorted((a, b) => a.day.localeCompare(b.day)),
      isComplete: items.length < MAX_SCENES,
    };
  });
}
