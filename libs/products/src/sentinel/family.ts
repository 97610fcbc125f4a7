import { ProductError } from "../errors.ts";
import type { ProductFamily, ProductPlace } from "../product-family.ts";
import { convertSentinel1 } from "./sentinel1.ts";
import { convertSentinel2 } from "./sentinel2.ts";
import { convertSentinel3 } from "./sentinel3.ts";

/** A folder as the agency names it, with its suffix or without, and a file in it that describes the product. */
const FOLDER =
  /^((?:.*\/)?((?!manifest\.safe$)[^/]+\.(?:SAFE|SEN3)|S[123][A-D]_[A-Z0-9]{2}\w{40,}))(?:\/(?:manifest\.safe|xfdumanifest\.xml|MTD_MSIL\w+\.xml)?)?$/i;
/** These say themselves which product they describe, in a folder of any name. */
const DESCRIPTION = /^(.*?([^/]*))\/(xfdumanifest\.xml|MTD_MSIL(?:1C|2A)\.xml)$/;

/** SAFE of Sentinel-1 and 2, SEN3 of Sentinel-3. */
export const sentinelFamily: ProductFamily = {
  title: "Sentinel-1, 2 and 3 (folders as SAFE or SEN3)",
  find: (address) => {
    const [, folder, name] = FOLDER.exec(address) ?? [];
    if (folder !== undefined && name !== undefined) {
      return { folder, name, describedBy: describedBy(name) };
    }
    const [, place, own = "", file] = DESCRIPTION.exec(address) ?? [];
    return place === undefined || file === undefined ? undefined : { folder: place, name: own, describedBy: file };
  },
  convert: (files, { name, describedBy: file }: ProductPlace) => {
    switch (file.startsWith("MTD_") ? "S2" : file.startsWith("xfdu") ? "S3" : /S[123]/.exec(name)?.[0]) {
      case "S1":
        return convertSentinel1(files);
      case "S2":
        return convertSentinel2(files, file);
      case "S3":
        return convertSentinel3(files);
      default:
        throw new ProductError(`${name} is not of Sentinel-1, 2 or 3; only those are read from SAFE.`);
    }
  },
};

function describedBy(name: string): string {
  const level = /MSIL(1C|2A)/.exec(name)?.[1];
  return level !== undefined
    ? `MTD_MSIL${level}.xml`
    : /^S3|\.SEN3$/i.test(name)
      ? "xfdumanifest.xml"
      : "manifest.safe";
}
