import type { ProductFamily } from "../product-family.ts";
import { convertGranule } from "./granule.ts";

/** A file as NASA's archives name it, or its metadata beside it. */
const GRANULE = /^(.*)\/((?:M[OYC]D|V(?:NP|J1|J2)|AST_)[^/]*\.(?:hdf|h5))(?:\.xml)?$/i;

/** What NASA's archives deliver with metadata of ECS: MODIS and VIIRS in HDF, ASTER. */
export const earthdataFamily: ProductFamily = {
  title: "MODIS, VIIRS and ASTER (HDF files with their .xml beside them)",
  find: (address) => {
    const [, folder, file] = GRANULE.exec(address) ?? [];
    return folder === undefined || file === undefined ? undefined : { folder, name: file, describedBy: `${file}.xml` };
  },
  convert: convertGranule,
};
