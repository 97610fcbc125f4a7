import { Problem } from "@swath/service";
import type { FastifyRequest } from "fastify";

import { type Kind, type Operation, describeParameters } from "./parameter-names.ts";
import { type Query, one, parseBoolean } from "./parameters.ts";

/** Parameters of today's tilers that are known here, with the values that ask for what is done anyway. */
const INERT: ReadonlyMap<string, readonly string[]> = new Map([
  ["reproject", ["nearest"]],
  ["padding", ["0"]],
  ["algorithm_params", ["{}"]],
]);

/** The first has no effect without, or beside, the others. */
const WITHOUT = [
  ["asset_bidx", ["assets"]],
  ["asset_expression", ["assets"]],
  ["asset_as_band", ["assets"]],
  ["c", ["categorical"]],
] as const;
const BESIDE = [
  ["bidx", ["expression"]],
  ["colormap_name", ["colormap"]],
  ["resampling_method", ["resampling"]],
  ["max_size", ["width", "height"]],
] as const;

/**
 * Options of a route of the tilers: its parameters, for its OpenAPI document and for requests. A parameter has an effect or is refused:
 * a picture that looks right and is not what the client asked for misleads.
 */
export function declareParameters(kind: Kind, operation: Operation, path: string) {
  const properties = describeParameters(kind, operation, path);
  return {
    schema: { tags: [kind === "items" ? "collections" : kind], querystring: { type: "object", properties } } as object,
    preValidation: async ({ query }: FastifyRequest) => check(query as Query, properties),
  };
}

function check(query: Query, known: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(query)) {
    if (!Object.hasOwn(known, name)) {
      throw new Problem(
        400,
        `There is no parameter "${name.slice(0, 50)}" here; there are ${Object.keys(known).join(", ") || "none"}.`,
      );
    }
    const inert = INERT.get(name);
    if (inert !== undefined && !(typeof value === "string" && inert.includes(value))) {
      throw new Problem(400, `${name} is not supported, except as ${inert.join(", ")}.`);
    }
  }
  const has = (name: string) => one(query[name]) !== undefined;
  for (const [name, others] of WITHOUT) {
    if (has(name) && !others.some(has)) {
      throw new Problem(400, `${name} has no effect without ${others.join(" or ")}.`);
    }
  }
  for (const [name, others] of BESIDE) {
    const other = others.find(has);
    if (has(name) && other !== undefined) {
      throw new Problem(400, `${name} and ${other} contradict each other: give one of them.`);
    }
  }
  checkHistogram(query);
}

function checkHistogram(query: Query): void {
  const isCategorical = parseBoolean(query, "categorical") === true;
  const bins = ["histogram_bins", "histogram_range"].find((name) => one(query[name]) !== undefined);
  if (isCategorical && bins !== undefined) {
    throw new Problem(400, `${bins} and categorical contradict each other: give one of them.`);
  }
  if (!isCategorical && one(query["c"]) !== undefined) {
    throw new Problem(400, "c has no effect without categorical=true.");
  }
}
