import { deflateRawSync, inflateRawSync } from "node:zlib";

import type { Bbox } from "@swath/raster";
import { Problem } from "@swath/service";

import type { LayerSearch } from "../layers/layer.ts";
import { parseTimes } from "../layers/parse-time.ts";

/** Ids are parts of addresses. */
const MAX_ID_CHARACTERS = 1900;
const MAX_SEARCH_BYTES = 64 * 1024;
const HANDED_ON = ["filter", "filter-lang", "query", "intersects"] as const;

/** The body of a search as today's tilers register it: members of a STAC search. @throws {Problem} 400 */
export function parseSavedSearch(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Problem(400, "The body must be a STAC search as a JSON object.");
  }
  const { collections, ids, bbox, datetime } = body as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries({ collections, ids })) {
    if (
      value !== undefined &&
      value !== null &&
      !(Array.isArray(value) && value.every((id) => typeof id === "string"))
    ) {
      throw new Problem(400, `${name} must be a list of texts.`);
    }
  }
  if (
    bbox !== undefined &&
    bbox !== null &&
    !(Array.isArray(bbox) && bbox.length === 4 && bbox.every(Number.isFinite))
  ) {
    throw new Problem(400, "bbox must be four numbers.");
  }
  if (datetime !== undefined && datetime !== null && typeof datetime !== "string") {
    throw new Problem(400, "datetime must be a text.");
  }
  parseTimes(typeof datetime === "string" ? datetime : undefined);
  const members = ["collections", "ids", "bbox", "datetime", ...HANDED_ON];
  return Object.fromEntries(
    Object.entries(body as Readonly<Record<string, unknown>>).filter(
      ([name, value]) => members.includes(name) && value !== null,
    ),
  );
}

/**
 * The search is its own id: nothing has to be kept, and each replica knows it. What it finds is decided when it is asked, for who asks.
 * @throws {Problem} 400 for a search that is too long for an address
 */
export function writeSavedSearch(search: Readonly<Record<string, unknown>>): string {
  const id = deflateRawSync(JSON.stringify(search)).toString("base64url");
  if (id.length > MAX_ID_CHARACTERS) {
    throw new Problem(400, "The search is too long; use fewer ids or a simpler filter.");
  }
  return id;
}

/** @throws {Problem} 404 for an id that is none */
export function readSavedSearch(id: string): LayerSearch {
  let search: Readonly<Record<string, unknown>>;
  try {
    const text = inflateRawSync(Buffer.from(id, "base64url"), { maxOutputLength: MAX_SEARCH_BYTES }).toString("utf8");
    search = parseSavedSearch(JSON.parse(text));
  } catch (cause) {
    throw new Problem(404, "There is no such search; register it at /searches/register.", { cause });
  }
  const { collections, ids, bbox, datetime } = search as {
    collections?: readonly string[];
    ids?: readonly string[];
    bbox?: Bbox;
    datetime?: string;
  };
  const times = parseTimes(datetime);
  const conditions = Object.fromEntries(
    HANDED_ON.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])),
  );
  return {
    ...(collections !== undefined && { collections }),
    ...(ids !== undefined && { ids }),
    ...(bbox !== undefined && { bbox }),
    ...(times !== undefined && { times }),
    ...(Object.keys(conditions).length > 0 && { conditions }),
  };
}
