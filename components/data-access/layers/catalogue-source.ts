import { Problem } from "@swath/service";
import { type StacItem, isStac, parseStac } from "@swath/stac";

import { createAssetAccess } from "../catalogue/asset-access.ts";
import type { ChangeFeed } from "../catalogue/change-feed.ts";
import type { CatalogueClient } from "../catalogue/client.ts";
import { RENDER_EXTENSION } from "../styles/render-document.ts";
import { stylesOf } from "../styles/styles-of.ts";
import { dimensionsOf } from "./cube.ts";
import type { ReadExternalItem } from "./external-items.ts";
import type { Caller, ItemOrder, ItemQuery, Layer, LayerItem, LayerSearch, LayerSource } from "./layer.ts";
import { createLayerCache, createReading } from "./layer-cache.ts";
import type { AssetPlaces } from "./locate-asset.ts";
import { ITEM_SEPARATOR, splitItemId, toBbox, toLayerSearchBody } from "./names.ts";
import { resolveAsset, toLayerItem } from "./to-layer-item.ts";
import { type ItemAssets, findTypicalItem } from "./typical-item.ts";

const MAX_COLLECTIONS = 1000;
/** Collections that are looked into at the same time, for their styles. */
const CONCURRENCY = 16;
/** Newest items, and as many oldest ones, that are looked at where a collection does not describe the assets of its items. */
const SAMPLED = 8;

interface CollectionFields {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly renders?: unknown;
  readonly item_assets?: ItemAssets;
  readonly stac_extensions?: readonly string[];
  readonly extent?: {
    readonly spatial?: { readonly bbox?: readonly (readonly number[])[] };
    readonly temporal?: { readonly interval?: readonly (readonly (string | null)[])[] };
  };
}

const SORTS: Readonly<Record<ItemOrder, readonly { readonly field: string; readonly direction: "asc" | "desc" }[]>> = {
  newest: [{ field: "properties.datetime", direction: "desc" }],
  oldest: [{ field: "properties.datetime", direction: "asc" }],
  "least-cloudy": [
    { field: "properties.eo:cloud_cover", direction: "asc" },
    { field: "properties.datetime", direction: "desc" },
  ],
};

/** Layers of a STAC API: its collections, items and searches. What the caller may not see, the catalogue does not give. */
export function createCatalogueSource(
  client: CatalogueClient,
  places: AssetPlaces,
  feed: ChangeFeed | undefined,
  readExternal?: ReadExternalItem,
): LayerSource {
  const { publicUrl } = client;
  const cache = createLayerCache(feed);
  const findReadable = places.storage && createAssetAccess(client, places.storage);
  const addressOf = ({ collection = "", id }: StacItem) =>
    `${publicUrl}/stac/collections/${encodeURIComponent(collection)}/items/${encodeURIComponent(id)}`;

  const search = async (
    requested: LayerSearch,
    query: ItemQuery,
    caller: Caller,
    signal: AbortSignal | undefined,
  ): Promise<readonly StacItem[]> => {
    const bodies = toLayerSearchBody(requested, query);
    const pages = await Promise.all(
      bodies.map((body) =>
        client.call("/search", caller, { signal, body: { ...body, sortby: SORTS[query.order ?? "newest"] } }),
      ),
    );
    return pages
      .flatMap((page) => (page as { features?: readonly unknown[] } | undefined)?.features ?? [])
      .flatMap((value) => toItem(value, publicUrl) ?? [])
      .slice(0, query.limit);
  };

  const toLayerItems = async (
    items: readonly StacItem[],
    caller: Caller,
    signal: AbortSignal | undefined,
  ): Promise<readonly LayerItem[]> => {
    const mayRead = await findReadable?.(items, (item, href) => resolveAsset(href, addressOf(item)), caller, signal);
    return items.map((item) =>
      toLayerItem(item, addressOf(item), {
        ...places,
        ...(mayRead && { mayRead: (bucket) => mayRead(item.collection ?? "", bucket) }),
      }),
    );
  };

  const findCollection = async (id: string, caller: Caller) =>
    (await client.call(`/collections/${encodeURIComponent(id)}`, caller)) as CollectionFields | undefined;

  const sample = async (
    requested: LayerSearch,
    caller: Caller,
    signal: AbortSignal | undefined,
  ): Promise<StacItem | undefined> => {
    const newest = await search(requested, { limit: SAMPLED }, caller, signal);
    // Fewer than asked for are all that there are.
    const oldest =
      newest.length < SAMPLED ? [] : await search(requested, { limit: SAMPLED, order: "oldest" }, caller, signal);
    return findTypicalItem([...newest, ...oldest.toReversed()], undefined);
  };
  const describe = async (
    requested: LayerSearch,
    { item_assets: described }: CollectionFields,
    caller: Caller,
    signal: AbortSignal | undefined,
  ): Promise<StacItem | undefined> =>
    described === undefined || Object.keys(described).length === 0
      ? sample(requested, caller, signal)
      : findTypicalItem(await search(requested, { limit: 1 }, caller, signal), described);

  const toLayer = async (
    collection: CollectionFields,
    caller: Caller,
    signal: AbortSignal | undefined,
  ): Promise<Layer | undefined> => {
    const requested = { collections: [collection.id] };
    const typical = await describe(requested, collection, caller, signal);
    const styles = typical === undefined ? [] : stylesOf(typical, collection);
    const [start, end] = collection.extent?.temporal?.interval?.[0] ?? [];
    const dimensions = typical === undefined ? [] : dimensionsOf(typical, collection);
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
          search: requested,
          ...(dimensions.length > 0 && { dimensions }),
          kind: "collection",
        };
  };

  const toItemLayer = async (item: StacItem, caller: Caller): Promise<Layer | undefined> => {
    const { collection = "", properties } = item;
    const parent = await findCollection(collection, caller);
    const styles = stylesOf(item, parent);
    const dimensions = dimensionsOf(item, parent);
    const text = (value: unknown) => (typeof value === "string" ? value : undefined);
    const [start, end] = [
      text(properties["start_datetime"]) ?? text(properties["datetime"]) ?? null,
      text(properties["end_datetime"]) ?? text(properties["datetime"]) ?? null,
    ];
    return styles.length === 0
      ? undefined
      : {
          id: `${collection}${ITEM_SEPARATOR}${item.id}`,
          title: text(properties["title"]) ?? item.id,
          description: text(properties["description"]) ?? `Item ${item.id} of ${parent?.title ?? collection}`,
          keywords: [],
          bbox: toBbox(item.bbox),
          interval: [start, end],
          styles,
          selection: "first",
          search: { collections: [collection], ids: [item.id] },
          ...(dimensions.length > 0 && { dimensions }),
          kind: "item",
        };
  };

  const find = async (
    id: string,
    caller: Caller,
  ): Promise<{ readonly value: Layer | undefined; readonly collections?: readonly string[] }> => {
    const collection = await findCollection(id, caller);
    if (collection !== undefined) {
      return { value: await toLayer(collection, caller, undefined), collections: [id] };
    }
    const named = splitItemId(id);
    const items = await search(
      named.length > 0
        ? { collections: named.map((each) => each.collection), ids: named.map((each) => each.item) }
        : { ids: [id] },
      { limit: 2 },
      caller,
      undefined,
    );
    const item = items.find(
      (each) =>
        named.length === 0 ||
        named.some(({ collection: name, item: key }) => each.collection === name && each.id === key),
    );
    // An id alone says which item only while no other collection has it.
    return {
      value:
        item === undefined || (named.length === 0 && items.length > 1) ? undefined : await toItemLayer(item, caller),
      ...(named.length > 0 && { collections: [id, ...named.map((each) => each.collection)] }),
    };
  };

  return {
    list: (caller, signal) =>
      cache.list(caller, async () => {
        const response = (await client.call(`/collections?limit=${MAX_COLLECTIONS}`, caller, { signal })) as
          | { collections?: readonly CollectionFields[] }
          | undefined;
        const waiting = [...(response?.collections ?? [])].entries();
        const layers: Layer[] = [];
        await Promise.all(
          Array.from({ length: CONCURRENCY }, async () => {
            for (const [at, collection] of waiting) {
              const layer = await toLayer(collection, caller, signal);
              if (layer !== undefined) {
                layers[at] = layer;
              }
            }
          }),
        );
        return { value: layers.filter((layer) => layer !== undefined) };
      }),
    find: (id, caller) => cache.find(id, caller, () => find(id, caller)),
    findBySearch: (id, requested, caller, signal) =>
      cache.find(id, caller, async () => {
        // Of a search over several collections, none describes all of the assets.
        const [only, another] = requested.collections ?? [];
        const one = only !== undefined && another === undefined ? await findCollection(only, caller) : undefined;
        const typical = await (one === undefined
          ? sample(requested, caller, signal)
          : describe(requested, one, caller, signal));
        const collection =
          one ?? (typical?.collection === undefined ? undefined : await findCollection(typical.collection, caller));
        const value: Layer | undefined = typical && {
          id,
          title: `Search ${requested.collections?.join(", ") ?? "of all collections"}`,
          description: "A saved search",
          keywords: [],
          bbox: requested.bbox ?? toBbox(collection?.extent?.spatial?.bbox?.[0]),
          interval: [null, null],
          styles: stylesOf(typical, collection),
          selection: "first",
          search: requested,
          kind: "search",
        };
        return { value, ...(requested.collections !== undefined && { collections: requested.collections }) };
      }),
    findItems: async ({ search: requested }, query, caller, signal) => {
      caller.basis?.note(createReading(feed, caller, () => requested.collections));
      return toLayerItems(await search(requested, query, caller, signal), caller, signal);
    },
    findItemAt: async (url, caller, signal) => {
      const path = client.findItemPath(url);
      if (path === undefined) {
        return readExternal?.(url, signal);
      }
      caller.basis?.note(createReading(feed, caller, () => undefined));
      const document = toItem(await client.call(path, caller, { signal }), publicUrl);
      const [item] = document === undefined ? [] : await toLayerItems([document], caller, signal);
      if (item === undefined) {
        return undefined;
      }
      const id = `${item.collection ?? ""}${ITEM_SEPARATOR}${item.id}`;
      return { item, layer: await cache.find(id, caller, () => find(id, caller)) };
    },
    keepStyle: async (id, style, document, caller) => {
      const collection = await findCollection(id, caller);
      if (collection === undefined) {
        throw new Problem(404, `There is no collection "${id.slice(0, 100)}".`);
      }
      const { stac_extensions: extensions = [] } = collection;
      await client.call(`/collections/${encodeURIComponent(id)}`, caller, {
        method: "PATCH",
        body: {
          renders: { [style]: document },
          stac_extensions: extensions.some((each) => each.includes("/render/"))
            ? extensions
            : [...extensions, RENDER_EXTENSION],
        },
      });
      cache.forget(id);
    },
  };
}

function toItem(value: unknown, publicUrl: string): StacItem | undefined {
  const object = isStac(value) ? parseStac(value, publicUrl) : undefined;
  return object?.type === "Feature" ? object : undefined;
}
