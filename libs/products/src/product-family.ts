import type { StacItem } from "@swath/stac";

import type { ProductFiles } from "./product-files.ts";

/** Where a product is. */
export interface ProductPlace {
  /** Address of its folder, without a slash at the end. */
  readonly folder: string;
  /** The folder's own name, or that of the product where many share a folder. */
  readonly name: string;
  /** Path, from the folder, of the file that describes the product and changes when the product does. */
  readonly describedBy: string;
}

/** Products of one kind: how their addresses are known, and what item they become. */
export interface ProductFamily {
  /** As messages and the guide name it. */
  readonly title: string;
  /** The product that an address without query and fragment leads to. */
  readonly find: (address: string) => ProductPlace | undefined;
  /** @throws {ProductError} naming the file, and what is missing or wrong */
  readonly convert: (files: ProductFiles, place: ProductPlace) => Promise<StacItem>;
}
