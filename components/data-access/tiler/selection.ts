import { PIXEL_SELECTIONS, type PixelSelection } from "@swath/raster";
import { Problem } from "@swath/service";

import { ITEM_ORDERS, type ItemOrder } from "../layers/layer.ts";

/** Names of today's tilers beside our own. */
const ALIASES: ReadonlyMap<string, PixelSelection> = new Map(
  Object.entries<PixelSelection>({ highest: "max", lowest: "min" }),
);

export interface Selection {
  readonly selection: PixelSelection;
  readonly order: ItemOrder;
}

/** `pixel_selection`: which scene a pixel is taken from, or what is calculated of those that have it. @throws {Problem} 400 */
export function parseSelection(text: string | undefined): Selection | undefined {
  if (text === undefined) {
    return undefined;
  }
  const order = ITEM_ORDERS.find((each) => each === text);
  const selection =
    order === undefined ? (ALIASES.get(text) ?? PIXEL_SELECTIONS.find((each) => each === text)) : "first";
  if (selection === undefined) {
    throw new Problem(
      400,
      `pixel_selection must be one of ${[...PIXEL_SELECTIONS, ...ALIASES.keys(), ...ITEM_ORDERS].join(", ")}.`,
    );
  }
  return { selection, order: order ?? "newest" };
}
