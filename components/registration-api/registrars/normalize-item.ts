import { type StacAsset, type StacItem, type StacLink, resolveHref } from "@swath/stac";
import { repairGeometry } from "@swath/stac/repair-geometry";

/** Links that a catalogue makes itself. */
const STRUCTURAL = new Set([
  "self",
  "root",
  "parent",
  "collection",
  "item",
  "items",
  "child",
  "next",
  "prev",
  "previous",
  "first",
  "last",
  "search",
  "data",
  "conformance",
  "service-desc",
  "service-doc",
]);

/** Versions before 1.0 whose items differ in nothing that cannot be put right here. */
const OLD_VERSION = /^0\.|^1\.0\.0-/;

/**
 * An item as the catalogue takes it: addresses complete, without links to the place that it comes from in its own catalogue, and with polygons that do not
 * cross themselves.
 * @param href the address that its relative addresses start from
 */
export function normalizeItem(item: StacItem, href: string, links: readonly StacLink[] = []): StacItem {
  const { collection: _collection, ...rest } = item;
  const own = item.links
    .filter(({ rel }) => !STRUCTURAL.has(rel))
    .map((link) => ({ ...link, href: resolveHref(link.href, href) }));
  const known = new Set(own.map(({ rel, href: target }) => `${rel} ${target}`));
  const extensions = item["stac_extensions"];
  return {
    ...rest,
    geometry: repairGeometry(item.geometry) as StacItem["geometry"],
    stac_version: OLD_VERSION.test(item.stac_version) ? "1.0.0" : item.stac_version,
    ...(Array.isArray(extensions) && {
      stac_extensions: extensions.filter((entry) => typeof entry === "string" && /^https?:/.test(entry)),
    }),
    links: [...own, ...links.filter(({ rel, href: target }) => !known.has(`${rel} ${target}`))],
    assets: resolveAssets(item.assets, href),
  };
}

/** Links of a collection, without those to its place in its own catalogue. */
export const normalizeLinks = (links: readonly StacLink[], href: string): readonly StacLink[] =>
  links.filter(({ rel }) => !STRUCTURAL.has(rel)).map((link) => ({ ...link, href: resolveHref(link.href, href) }));

export function resolveAssets(
  assets: Readonly<Record<string, StacAsset>>,
  href: string,
): Readonly<Record<string, StacAsset>> {
  return Object.fromEntries(
    Object.entries(assets).map(([key, asset]) => [key, { ...asset, href: resolveHref(asset.href, href) }]),
  );
}
