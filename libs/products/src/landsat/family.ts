import type { ProductFamily } from "../product-family.ts";
import { convertLandsat } from "./landsat.ts";

/** Landsat 1 to 9 by their MTL. */
export const landsatFamily: ProductFamily = {
  title: "Landsat 1 to 9 (by their MTL as text, XML or JSON)",
  find: (address) => {
    const [, folder, file] = /^(.*)\/([^/]+_MTL\.(?:txt|xml|json))$/i.exec(address) ?? [];
    return folder === undefined || file === undefined
      ? undefined
      : { folder, name: folder.slice(folder.lastIndexOf("/") + 1), describedBy: file };
  },
  convert: (files, { describedBy }) => convertLandsat(files, describedBy),
};
