import type { StacAsset, StacItem } from "@swath/stac";

/** Assets as a collection describes them for its items, without their addresses. */
export type ItemAssets = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * The item that stands for all of a layer: its styles and dimensions are the layer's. Assets are those of `item_assets` (STAC 1.1,
 * Collection) and those that any of the items has, so that one item that lacks some takes no style away. The newest item that has an
 * asset or a property says what it is like, as far as the collection does not.
 * @param items newest first
 * @returns `undefined` without items: then there is nothing to draw
 */
export function findTypicalItem(items: readonly StacItem[], itemAssets: ItemAssets | undefined): StacItem | undefined {
  const [newest] = items;
  if (newest === undefined) {
    return undefined;
  }
  const described = new Map(Object.entries(itemAssets ?? {}));
  const assets = new Map<string, StacAsset>([...described].map(([key, fields]) => [key, { href: "", ...fields }]));
  // In the order of the oldest item: what newer ones add comes last, and the first style stays the first.
  for (const item of items.toReversed()) {
    for (const [key, asset] of Object.entries(item.assets)) {
      assets.set(key, { ...asset, ...described.get(key) });
    }
  }
  const properties: Record<string, unknown> = Object.assign({}, ...items.toReversed().map((item) => item.properties));
  return { ...newest, assets: Object.fromEntries(assets), properties };
}
