import type { FastifyInstance, FastifyRequest } from "fastify";

import type { CatalogueContext } from "../http/context.ts";
import { badParameter, notFound } from "../http/errors.ts";
import { requireObject } from "../http/json-body.ts";
import { toText as requireText } from "../http/parameters.ts";
import { type Aggregation, type AggregationResult, type Interval, aggregate } from "../store/aggregate.ts";
import { findCollection } from "../store/collections.ts";
import { JSON_TYPE, selfOf, stacRoot } from "./links.ts";
import { sendJson } from "./respond.ts";
import { type RawParameters, parseSearch, readQueryString } from "./search-parameters.ts";

interface NamedAggregation {
  readonly dataType: string;
  readonly frequency?: string;
  readonly aggregation: Aggregation;
}

/** The aggregations of the catalogue (aggregation extension 0.3.0). */
const AGGREGATIONS: Readonly<Record<string, NamedAggregation>> = {
  total_count: { dataType: "integer", aggregation: { kind: "count" } },
  datetime_min: { dataType: "datetime", aggregation: { kind: "minimum" } },
  datetime_max: { dataType: "datetime", aggregation: { kind: "maximum" } },
  collection_frequency: { dataType: "string", aggregation: { kind: "terms", property: "collection" } },
  platform_frequency: { dataType: "string", aggregation: { kind: "terms", property: "platform" } },
  cloud_cover_frequency: {
    dataType: "numeric",
    aggregation: { kind: "histogram", property: "eo:cloud_cover", width: 10 },
  },
  datetime_frequency: { dataType: "datetime", frequency: "month", aggregation: { kind: "times", interval: "month" } },
};
const INTERVALS = new Set(["day", "month", "year"]);
const PARAMETERS = new Set([
  "aggregations",
  "datetime_frequency_interval",
  "bbox",
  "datetime",
  "ids",
  "collections",
  "intersects",
  "filter",
  "filter-lang",
  "filter-crs",
  "query",
  "q",
]);

/** `/aggregations` lists what there is, `/aggregate` computes it for the records that a search matches. */
export function addAggregationRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  const list = (request: FastifyRequest): string =>
    JSON.stringify({
      type: "AggregationCollection",
      aggregations: Object.entries(AGGREGATIONS).map(([name, { dataType }]) => ({ name, data_type: dataType })),
      links: [
        { rel: "self", type: JSON_TYPE, href: selfOf(request) },
        { rel: "root", type: JSON_TYPE, href: stacRoot(request) },
      ],
    });
  const compute = async (request: FastifyRequest, isBody: boolean, collection?: string): Promise<string> => {
    const reader = await context.readerOf(request);
    if (collection !== undefined && (await findCollection(context.pool, reader, collection)) === undefined) {
      throw notFound(`Collection ${JSON.stringify(collection)}`);
    }
    const raw = isBody ? requireObject(request.body).value : readQueryString(request, PARAMETERS);
    const { aggregations, datetime_frequency_interval: interval, ...search } = raw;
    const names = readNames(aggregations, isBody);
    const frequency = readInterval(interval);
    const parsed = parseSearch(search as RawParameters, isBody).search;
    const results: Record<string, unknown>[] = [];
    for (const name of names) {
      const named = AGGREGATIONS[name] as NamedAggregation;
      const requested: Aggregation =
        named.aggregation.kind === "times" ? { kind: "times", interval: frequency } : named.aggregation;
      const result = await aggregate(
        context,
        {
          ...parsed,
          reader,
          kinds: ["i", "r"],
          countUpTo: 0,
          ...(collection !== undefined && { collections: [collection] }),
        },
        requested,
      );
      results.push(toAggregation(name, named, frequency, result));
    }
    return JSON.stringify({
      type: "AggregationCollection",
      aggregations: results,
      links: [
        { rel: "self", type: JSON_TYPE, href: selfOf(request) },
        { rel: "root", type: JSON_TYPE, href: stacRoot(request) },
      ],
    });
  };
  type Params = { Params: { collection: string } };
  scope.get("/aggregations", (request, reply) => sendJson(reply, list(request)));
  scope.get<Params>("/collections/:collection/aggregations", (request, reply) => sendJson(reply, list(request)));
  scope.get("/aggregate", async (request, reply) => sendJson(reply, await compute(request, false)));
  scope.post("/aggregate", async (request, reply) => sendJson(reply, await compute(request, true)));
  scope.get<Params>("/collections/:collection/aggregate", async (request, reply) =>
    sendJson(reply, await compute(request, false, request.params.collection)),
  );
}

function toAggregation(
  name: string,
  { dataType, frequency }: NamedAggregation,
  interval: Interval,
  { value, buckets, isPartial }: AggregationResult,
): Record<string, unknown> {
  return {
    name,
    data_type: buckets === undefined ? dataType : "frequency_distribution",
    ...(frequency !== undefined && { datetime_frequency_interval: interval }),
    ...(buckets === undefined
      ? { value }
      : {
          buckets: buckets.map(({ key, count, from, to }) => ({
            key,
            data_type: dataType,
            frequency: count,
            ...(from !== undefined && { from, to }),
          })),
          overflow: 0,
        }),
    ...(isPartial && { is_partial: true }),
  };
}

function readNames(value: unknown, isBody: boolean): readonly string[] {
  const names: readonly unknown[] =
    value === undefined
      ? ["total_count"]
      : isBody && Array.isArray(value)
        ? value
        : requireText(value, "aggregations").split(",");
  for (const name of names) {
    if (typeof name !== "string" || !Object.hasOwn(AGGREGATIONS, name)) {
      throw badParameter("aggregations", `must be some of ${Object.keys(AGGREGATIONS).join(", ")}`);
    }
  }
  return [...new Set(names as readonly string[])];
}

function readInterval(value: unknown): Interval {
  if (value !== undefined && (typeof value !== "string" || !INTERVALS.has(value))) {
    throw badParameter("datetime_frequency_interval", "must be day, month or year");
  }
  return (value as Interval | undefined) ?? "month";
}
