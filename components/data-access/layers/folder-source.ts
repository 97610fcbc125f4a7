import { readFile, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";

import type { Bbox } from "@swath/raster";
import { type StacItem, extentOf, isStac, parseStac } from "@swath/stac";

import { type Basis, type Reading, holds } from "./basis.ts";
import { dimensionsOf } from "./cube.ts";
import type { ReadExternalItem } from "./external-items.ts";
import type { ItemQuery, Layer, LayerItem, LayerSource } from "./layer.ts";
import { makeStyles } from "../styles/make-styles.ts";
import { type AssetPlaces, folderOf } from "./locate-asset.ts";
import { ITEM_SEPARATOR, splitItemId, toBbox } from "./names.ts";
import { toLayerItem } from "./to-layer-item.ts";

const MAX_FILES = 20_000;
const MAX_ITEM_BYTES = 4 * 1024 * 1024;
const WITHOUT_COLLECTION = "scenes";

interface Found {
  readonly layers: readonly Layer[];
  readonly items: ReadonlyMap<string, readonly LayerItem[]>;
  readonly documents: ReadonlyMap<LayerItem, StacItem>;
}

/** Layers of the STAC items in a folder, one a collection: for a service without a catalogue. Everybody sees them. */
export function createFolderSource(
  path: string,
  places: Omit<AssetPlaces, "folder">,
  readExternal?: ReadExternalItem,
): LayerSource {
  const folder = resolve(path);
  let last: { readonly reading: Reading; readonly found: Promise<Found> } | undefined;
  const find = (basis?: Basis): Promise<Found> => {
    if (last === undefined || !holds(last.reading)) {
      last = { reading: { askedAt: Date.now() }, found: scan(folder, { ...places, folder }) };
    }
    basis?.note(last.reading);
    return last.found;
  };
  const findItems: LayerSource["findItems"] = async ({ search }, query, { basis }) => {
    const { items } = await find(basis);
    const found = (search.collections ?? [...items.keys()])
      .flatMap((name) => items.get(name) ?? [])
      .filter(
        (item) =>
          search.ids?.includes(item.id) !== false &&
          query.ids?.includes(item.id) !== false &&
          matches(item, query) &&
          matches(item, search),
      );
    return (query.order === "oldest" ? found.toReversed() : found).slice(0, query.limit);
  };
  const findItem = async (id: string, basis: Basis | undefined): Promise<Layer | undefined> => {
    const { items, layers, documents } = await find(basis);
    const named = splitItemId(id);
    const found = [...items].flatMap(([collection, list]) =>
      list
        .filter((item) =>
          named.length === 0
            ? item.id === id
            : named.some((each) => each.collection === collection && each.item === item.id),
        )
        .map((item) => ({ collection, item })),
    );
    const [only] = found;
    const parent = layers.find((layer) => layer.id === only?.collection);
    const document = only && documents.get(only.item);
    return only === undefined || document === undefined || found.length > 1 || parent === undefined
      ? undefined
      : {
          // Items of a collection do not all have the same assets.
          ...toLayer(parent.id, [document]),
          title: only.item.id,
          id: `${only.collection}${ITEM_SEPARATOR}${only.item.id}`,
          description: `Item ${only.item.id} of ${parent.title}`,
          bbox: toBbox(only.item.bbox),
          interval: [only.item.datetime, only.item.datetime],
          search: { collections: [only.collection], ids: [only.item.id] },
          kind: "item",
        };
  };
  return {
    list: async ({ basis }) => (await find(basis)).layers,
    find: async (id, { basis }) => (await find(basis)).layers.find((layer) => layer.id === id) ?? findItem(id, basis),
    findBySearch: async (id, search, caller) => {
      const [item] = await findItems({ search }, { limit: 1 }, caller);
      const parent = (await find(caller.basis)).layers.find((layer) => layer.id === item?.collection);
      return parent === undefined
        ? undefined
        : {
            ...parent,
            id,
            title: "Search",
            description: "A saved search",
            bbox: search.bbox ?? parent.bbox,
            search,
            kind: "search",
          };
    },
    findItems,
    findItemAt: async (url, _caller, signal) => readExternal?.(url, signal),
  };
}

async function scan(folder: string, places: AssetPlaces): Promise<Found> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".json")).sort();
  const documents = new Map<LayerItem, StacItem>();
  const collections = new Map<string, { readonly items: StacItem[]; readonly layerItems: LayerItem[] }>();
  for (const name of names.slice(0, MAX_FILES)) {
    const path = join(folder, name);
    const item = await readItem(path);
    if (item === undefined) {
      continue;
    }
    const id = item.collection ?? WITHOUT_COLLECTION;
    const layerItem = { ...toLayerItem(item, folderOf(path), places), collection: id };
    if (Object.keys(layerItem.scene.assets).length === 0) {
      continue;
    }
    const collection = collections.get(id) ?? { items: [], layerItems: [] };
    collections.set(id, collection);
    collection.items.push(item);
    collection.layerItems.push(layerItem);
    documents.set(layerItem, item);
  }
  return {
    documents,
    layers: [...collections].map(([id, { items }]) => toLayer(id, items)),
    items: new Map(
      [...collections].map(([id, { layerItems }]) => [
        id,
        layerItems.toSorted((a, b) => (b.datetime ?? "").localeCompare(a.datetime ?? "")),
      ]),
    ),
  };
}

async function readItem(path: string): Promise<StacItem | undefined> {
  try {
    const bytes = await readFile(path);
    const value: unknown = bytes.length > MAX_ITEM_BYTES ? undefined : JSON.parse(bytes.toString("utf8"));
    const object = isStac(value) ? parseStac(value, path) : undefined;
    return object?.type === "Feature" ? object : undefined;
  } catch {
    // One file that is no item takes no other one away.
    return undefined;
  }
}

function toLayer(id: string, items: readonly StacItem[]): Layer {
  const { spatial, temporal } = extentOf(items);
  const [first] = items;
  const dimensions = first === undefined ? [] : dimensionsOf(first, undefined);
  return {
    id,
    title: id,
    description: `${items.length} items`,
    keywords: [],
    bbox: spatial.bbox[0] as unknown as Bbox,
    interval: [temporal.interval[0]?.[0] ?? null, temporal.interval[0]?.[1] ?? null],
    styles: first === undefined ? [] : makeStyles(first),
    selection: "first",
    search: { collections: [id] },
    ...(dimensions.length > 0 && { dimensions }),
    kind: "collection",
  };
}

export function matches(
  { bbox, datetime, end }: LayerItem,
  { bbox: area, times }: Pick<ItemQuery, "bbox" | "times">,
): boolean {
  const time = datetime === null ? Number.NaN : Date.parse(datetime);
  const last = end === undefined ? time : Date.parse(end);
  if (times !== undefined && !times.some(([from, to]) => last >= from && time <= to)) {
    return false;
  }
  if (area === undefined || bbox === undefined) {
    return true;
  }
  const [west = -180, south = -90, east = 180, north = 90] =
    bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox;
  if (south > area[3] || north < area[1]) {
    return false;
  }
  // Boxes over the antimeridian have their west in the east.
  return west <= east ? west <= area[2] && east >= area[0] : west <= area[2] || east >= area[0];
}
