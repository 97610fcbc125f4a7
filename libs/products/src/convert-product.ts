import type { StacItem } from "@swath/stac";

import { ProductError } from "./errors.ts";
import { convertLandsat } from "./landsat.ts";
import type { ProductFiles } from "./product-files.ts";
import { convertSentinel1 } from "./sentinel1.ts";
import { convertSentinel2 } from "./sentinel2.ts";
import { convertSentinel3 } from "./sentinel3.ts";

/** Where a product is: its folder, and the file that describes it, where the address names one. */
export interface ProductAddress {
  readonly folder: string;
  /** The folder's own name. */
  readonly name: string;
  /** Path of a metadata file that was named. */
  readonly metadata?: string;
}

/** The product that an address leads to: a SAFE or SEN3 folder, a file that describes one, a Landsat MTL. Undefined for anything else. */
export function findProduct(address: string): ProductAddress | undefined {
  const plain = address.replace(/[?#].*$/s, "");
  const safe = /^(.*?([^/]+\.(?:SAFE|SEN3)))(?:\/(?:manifest\.safe|xfdumanifest\.xml|MTD_MSIL\w+\.xml)?)?$/i.exec(
    plain,
  );
  if (safe?.[1] !== undefined && safe[2] !== undefined) {
    return { folder: safe[1], name: safe[2] };
  }
  const [, folder, file] = /^(.*)\/([^/]+_MTL\.(?:txt|xml|json))$/i.exec(plain) ?? [];
  return folder === undefined || file === undefined
    ? undefined
    : { folder, name: folder.slice(folder.lastIndexOf("/") + 1), metadata: file };
}

/** The item of a product. @throws {ProductError} naming what is missing or wrong */
export function convertProduct(files: ProductFiles, { name, metadata }: ProductAddress): Promise<StacItem> {
  if (metadata !== undefined) {
    return convertLandsat(files, metadata);
  }
  const [mission] = /S[123]/.exec(name) ?? [];
  switch (mission) {
    case "S1":
      return convertSentinel1(files);
    case "S2":
      return convertSentinel2(files);
    case "S3":
      return convertSentinel3(files);
    default:
      throw new ProductError(`${name} is not of Sentinel-1, 2 or 3; only those are read from SAFE.`);
  }
}
