import type { Bbox } from "@swath/raster";
import { type Peer, Problem } from "@swath/service";
import { type StacItem, isStac, parseStac } from "@swath/stac";

import type { Caller, ItemQuery, Layer, LayerSource } from "./layer.ts";
import type { AssetPlaces } from "./locate-asset.ts";
import { makeStyles } from "./make-styles.ts";
import { toLayerItem } from "./to-layer-item.ts";

/** Below the 2 s within which a registered item is to be seen. */
const MAX_AGE_MS = 1000;
const MAX_CACHED = 1000;
const MAX_COLLECTIONS = 1000;
const WORLD: Bbox = [-180, -90, 180, 90];

interface CollectionFields {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly extent?: {
    readonly spatial?: { readonly bbox?: readonly (readonly number[])[] };
    readonly temporal?: { readonly interval?: readonly (readonly (string | null)[])[] };
  };
}

/** Layers of a STAC API: its collections, and their items by search. What the caller may not see, the catalogue does not give. */
export function createCatalogueSource(peer: Peer, publicUrl: string, places: AssetPlaces): LayerSource {
  const cache = new Map<string, { readonly at: number; readonly layer: Promise<Layer | undefined> }>();

  const call = async (
    path: string,
    { authorization }: Caller,
    signal: AbortSignal | undefined,
    body?: unknown,
  ): Promise<unknown> => {
    const response = await peer.fetch(`/stac${path}`, {
      ...(signal && { signal }),
      headers: {
        accept: "application/json",
        host: new URL(publicUrl).host,
        ...(authorization !== undefined && { authorization }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    if (response.status === 404) {
      await response.body?.cancel();
      return undefined;
    }
    if (!response.ok) {
      await response.body?.cancel();
      throw new Problem(
        response.status === 401 || response.status === 403 ? response.status : 503,
        `The catalogue answered with status ${response.status}.`,
      );
    }
    return response.json();
  };

  const search = async (
    collection: string,
    { bbox, times, limit }: ItemQuery,
    caller: Caller,
    signal: AbortSignal | undefined,
  ): Promise<readonly StacItem[]> => {
    const ranges = times ?? [undefined];
    const pages = await Promise.all(
      ranges.map((range) =>
        call("/search", caller, signal, {
          collections: [collection],
          limit,
          sortby: [{ field: "properties.datetime", direction: "desc" }],
          ...(bbox !== undefined && { bbox: clampBbox(bbox) }),
          ...(range !== undefined && { datetime: range.map((time) => new Date(time).toISOString()).join("/") }),
        }),
      ),
    );
    return pages
      .flatMap((page) => (page as { features?: readonly unknown[] } | undefined)?.features ?? [])
      .flatMap((value) => {
        const object = isStac(value) ? parseStac(value, publicUrl) : undefined;
        return object?.type === "Feature" ? [object] : [];
      })
      .slice(0, limit);
  };

  const toLayer = async (
    collection: CollectionFields,
    caller: Caller,
    signal: AbortSignal | undefined,
  ): Promise<Layer | undefined> => {
    const [sample] = await search(collection.id, { limit: 1 }, caller, signal);
    const styles = sample === undefined ? [] : makeStyles(sample);
    const [start, end] = collection.extent?.temporal?.interval?.[0] ?? [];
    return styles.length === 0
      ? undefined
      : {
          id: collection.id,
          title: collection.title ?? collection.id,
          description: collection.description ?? "",
          keywords: collection.keywords ?? [],
          bbox: toBbox(collection.extent?.spatial?.bbox?.[0]),
          interval: [start ?? null, end ?? null],
          styles,
          selection: "first",
        };
  };

  /** The same caller asks for many tiles of a layer at once. */
  const cached = (key: string, load: () => Promise<Layer | undefined>): Promise<Layer | undefined> => {
    const known = cache.get(key);
    if (known !== undefined && Date.now() - known.at < MAX_AGE_MS) {
      return known.layer;
    }
    if (cache.size >= MAX_CACHED) {
      cache.clear();
    }
    const layer = load();
    cache.set(key, { at: Date.now(), layer });
    layer.catch(() => cache.delete(key));
    return layer;
  };

  return {
    list: async (caller, signal) => {
      const answer = (await call(`/collections?limit=${MAX_COLLECTIONS}`, caller, signal)) as
        | { collections?: readonly CollectionFields[] }
        | undefined;
      const layers = await Promise.all(
        (answer?.collections ?? []).map((collection) => toLayer(collection, caller, signal)),
      );
      return layers.filter((layer) => layer !== undefined);
    },
    find: (id, caller) =>
      cached(`${id} ${caller.authorization ?? ""}`, async () => {
        const collection = (await call(`/collections/${encodeURIComponent(id)}`, caller, undefined)) as
          | CollectionFields
          | undefined;
        return collection === undefined ? undefined : toLayer(collection, caller, undefined);
      }),
    findItems: async ({ id }, query, caller, signal) => {
      const items = await search(id, query, caller, signal);
      return items.map((item) =>
        toLayerItem(
          item,
          `${publicUrl}/stac/collections/${encodeURIComponent(id)}/items/${encodeURIComponent(item.id)}`,
          places,
        ),
      );
    },
  };
}

function toBbox(bbox: readonly number[] | undefined): Bbox {
  const flat = bbox?.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox;
  return flat?.length === 4 ? (flat as unknown as Bbox) : WORLD;
}

function clampBbox([west, south, east, north]: Bbox): Bbox {
  return east - west >= 360
    ? [-180, Math.max(-90, south), 180, Math.min(90, north)]
    : [west < -180 ? west + 360 : west, Math.max(-90, south), east > 180 ? east - 360 : east, Math.min(90, north)];
}
