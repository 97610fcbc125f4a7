import type { Bbox } from "@swath/raster";

import type { ItemQuery, LayerSearch } from "./layer.ts";

/** Between collection and item in the id of an item's layer: both may have dots, colons and hyphens. */
export const ITEM_SEPARATOR = "__";
const WORLD: Bbox = [-180, -90, 180, 90];
const MAX_PARTS = 8;

/** Each way in which an id may be `<collection>__<item>`. */
export function splitItemId(id: string): readonly { readonly collection: string; readonly item: string }[] {
  const parts = id.split(ITEM_SEPARATOR);
  return parts.length > MAX_PARTS
    ? []
    : parts.slice(1).flatMap((_, at) => {
        const collection = parts.slice(0, at + 1).join(ITEM_SEPARATOR);
        const item = parts.slice(at + 1).join(ITEM_SEPARATOR);
        return collection === "" || item === "" ? [] : [{ collection, item }];
      });
}

export function toBbox(bbox: readonly number[] | undefined): Bbox {
  const flat = bbox?.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox;
  return flat?.length === 4 ? (flat as unknown as Bbox) : WORLD;
}

/** Bodies of STAC searches that together find the items of a layer in an area, at times: one a range of times. */
export function toLayerSearchBody(
  { collections, ids, bbox: own, times: ownTimes, conditions }: LayerSearch,
  { bbox, times, limit, ids: requested }: ItemQuery,
): readonly Readonly<Record<string, unknown>>[] {
  const area = own === undefined ? bbox : bbox === undefined ? own : intersect(own, bbox);
  const names =
    requested === undefined ? ids : ids === undefined ? requested : ids.filter((id) => requested.includes(id));
  if (area === "nowhere" || names?.length === 0) {
    return [];
  }
  const ranges = combineTimes(ownTimes, times);
  return (ranges ?? [undefined]).map((range) => ({
    ...conditions,
    limit,
    ...(collections !== undefined && { collections }),
    ...(names !== undefined && { ids: names }),
    // A search takes one or the other.
    ...(area !== undefined && conditions?.["intersects"] === undefined && { bbox: clampBbox(area) }),
    ...(range !== undefined && { datetime: range.map(toInstant).join("/") }),
  }));
}

type Ranges = NonNullable<ItemQuery["times"]>;

function combineTimes(own: Ranges | undefined, requested: Ranges | undefined): Ranges | undefined {
  return own === undefined || requested === undefined
    ? (own ?? requested)
    : own.flatMap(([from, to]) =>
        requested
          .map(([start, end]) => [Math.max(from, start), Math.min(to, end)] as const)
          .filter(([start, end]) => start <= end),
      );
}

const END_OF_DATES = 8.64e15;
const toInstant = (time: number): string => (Math.abs(time) >= END_OF_DATES ? ".." : new Date(time).toISOString());

function intersect(a: Bbox, b: Bbox): Bbox | "nowhere" {
  // A box over the antimeridian is left to the search as it is asked for.
  if (a[0] > a[2] || b[0] > b[2]) {
    return b;
  }
  const both: Bbox = [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  return both[0] > both[2] || both[1] > both[3] ? "nowhere" : both;
}

function clampBbox([west, south, east, north]: Bbox): Bbox {
  return east - west >= 360
    ? [-180, Math.max(-90, south), 180, Math.min(90, north)]
    : [west < -180 ? west + 360 : west, Math.max(-90, south), east > 180 ? east - 360 : east, Math.min(90, north)];
}
