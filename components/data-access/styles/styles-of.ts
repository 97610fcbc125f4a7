import type { StacItem } from "@swath/stac";

import type { LayerStyle } from "../layers/layer.ts";
import { makeStyles } from "./make-styles.ts";
import { readStyles } from "./render-document.ts";

/** Styles of an item: kept ones come first, and replace those made from the bands. */
export function stylesOf(
  item: StacItem,
  collection: { readonly renders?: unknown } | undefined,
): readonly LayerStyle[] {
  const kept = [...readStyles(item.properties["renders"]), ...readStyles(collection?.renders)];
  return [...kept, ...makeStyles(item)].filter(({ id }, at, all) => all.findIndex((other) => other.id === id) === at);
}
