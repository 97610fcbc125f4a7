export type {
  StacAsset,
  StacAssets,
  StacCatalog,
  StacCollection,
  StacExtent,
  StacItem,
  StacItemCollection,
  StacLink,
  StacObject,
} from "./types.ts";
export { StacError } from "./errors.ts";
export { extentOf } from "./extent.ts";
export { findLink, relativeHref, resolveHref } from "./links.ts";
export { FILE_EXTENSION, MEDIA_TYPES } from "./media-types.ts";
export { type Digest, type HashAlgorithm, parseMultihash, toMultihash } from "./multihash.ts";
export { isStac, parseStac } from "./read.ts";
export { type FoundItem, type WalkOptions, walkItems } from "./walk.ts";
