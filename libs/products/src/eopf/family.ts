import type { ProductFamily } from "../product-family.ts";
import { convertEopf } from "./eopf.ts";

const FOLDER = /^(.*?(S[123][A-D]_\w+\.zarr))(?:\/(\.zmetadata|zarr\.json)?)?$/i;

/** Products that ESA reprocesses as Zarr (EOPF). */
export const eopfFamily: ProductFamily = {
  title: "EOPF (Sentinel-1, 2 and 3 as Zarr)",
  find: (address) => {
    const [, folder, name, file] = FOLDER.exec(address) ?? [];
    return folder === undefined || name === undefined ? undefined : { folder, name, describedBy: file ?? ".zmetadata" };
  },
  convert: convertEopf,
};
