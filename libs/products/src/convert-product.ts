import type { StacItem } from "@swath/stac";

import { earthdataFamily } from "./earthdata/family.ts";
import { eopfFamily } from "./eopf/family.ts";
import { landsatFamily } from "./landsat/family.ts";
import type { ProductFamily, ProductPlace } from "./product-family.ts";
import type { ProductFiles } from "./product-files.ts";
import { sentinelFamily } from "./sentinel/family.ts";

/** In the order in which they are asked for an address. */
export const PRODUCT_FAMILIES: readonly ProductFamily[] = [sentinelFamily, landsatFamily, earthdataFamily, eopfFamily];

export interface ProductAddress extends ProductPlace {
  readonly family: ProductFamily;
}

/** The product that an address leads to: a folder that is one, or a file that describes one. Undefined for anything else. */
export function findProduct(address: string): ProductAddress | undefined {
  const plain = address.replace(/[?#].*$/s, "");
  for (const family of PRODUCT_FAMILIES) {
    const place = family.find(plain);
    if (place !== undefined) {
      return { ...place, family };
    }
  }
  return undefined;
}

/** The item of a product. @throws {ProductError} naming what is missing or wrong */
export async function convertProduct(files: ProductFiles, { family, ...place }: ProductAddress): Promise<StacItem> {
  return family.convert(files, place);
}
