export { PRODUCT_FAMILIES, type ProductAddress, convertProduct, findProduct } from "./convert-product.ts";
export { ProductError } from "./errors.ts";
export type { ProductFiles } from "./product-files.ts";
export { convertRaster } from "./raster-item.ts";
export { type OgcRecord, convertApplication } from "./application.ts";
export { readXmlId } from "./xml-record.ts";
export { nameContent } from "./name-content.ts";
