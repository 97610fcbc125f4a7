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
