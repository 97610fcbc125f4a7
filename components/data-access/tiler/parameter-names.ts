/** Kinds of targets. */
export type Kind = "cog" | "stac" | "items" | "collections" | "searches";

export type Operation =
  | "info"
  | "scene"
  | "scene-info"
  | "statistics"
  | "asset-statistics"
  | "area-statistics"
  | "point"
  | "preview"
  | "part"
  | "map"
  | "tile"
  | "tilesets"
  | "tileset"
  | "tilejson";

const DESCRIPTIONS = {
  url: "Address of the file or item.",
  variable: "Variable of a cube.",
  sel: "Position in a cube: time=2020-01-01. Repeatable.",
  bidx: "Numbers of bands, from 1. Repeatable.",
  expression: "What is calculated of bands: (b1-b2)/(b1+b2).",
  nodata: "Value of missing pixels: a number or nan.",
  unscale: "Apply scale and offset of the bands.",
  assets: "Assets, with their bands: red, or visual|indexes=1,2. Repeatable.",
  asset_bidx: "Bands of an asset: visual|1,2. Repeatable.",
  asset_expression: "Expression over the bands of an asset: visual|b1*2. Repeatable.",
  asset_as_band: "Take the first band of each asset.",
  style: "A style of the layer.",
  datetime: "Instant, day or interval of the scenes.",
  ids: "Items, separated by commas.",
  pixel_selection: "Which scene a pixel is taken from.",
  sortby: "Order of the scenes: newest, oldest, least-cloudy.",
  bbox: "west,south,east,north in degrees.",
  resampling: "How pixels are resampled.",
  resampling_method: "Earlier name of resampling.",
  reproject: "How pixels are reprojected: nearest.",
  rescale: "min,max of what is shown. Repeatable, for each band.",
  colormap: "Colours of values, as JSON.",
  colormap_name: "A colour map of /colorMaps.",
  color_formula: "gamma RGB 1.5, sigmoidal R 10 0.5",
  return_mask: "false: missing pixels are black in pictures, and data have no mask.",
  algorithm: "An algorithm of /algorithms.",
  algorithm_params: "{}",
  width: "Pixels from left to right.",
  height: "Pixels from top to bottom.",
  max_size: "Pixels of the longer side at most; 0: as many as the raster has.",
  tilesize: "Pixels of a tile's sides.",
  buffer: "Pixels around the tile, in steps of 0.5.",
  padding: "Pixels that are read around the tile and not shown: 0.",
  format: "png, jpg, webp, npy or tif.",
  tile_format: "png, jpg, webp, npy or tif.",
  minzoom: "Lowest zoom of the document.",
  maxzoom: "Highest zoom of the document.",
  f: "Format of the map: png, jpg, webp, npy or tif.",
  crs: "System of the map: EPSG:3857, or its URI.",
  "bbox-crs": "System of the box; degrees when left out.",
  coord_crs: "System of the coordinates that are given.",
  dst_crs: "System of the result.",
  p: "A percentile. Repeatable.",
  categorical: "Count each value.",
  c: "A category. Repeatable.",
  histogram_bins: "Number of bins.",
  histogram_range: "min,max of the bins.",
} as const;

type Name = keyof typeof DESCRIPTIONS;

const VALUES = ["bidx", "expression", "nodata", "unscale", "sel"] as const;
const RESAMPLING = ["resampling", "resampling_method", "reproject"] as const;
const COLOURS = ["rescale", "colormap", "colormap_name"] as const;
const PICTURE = [
  ...VALUES,
  ...RESAMPLING,
  ...COLOURS,
  "color_formula",
  "return_mask",
  "algorithm",
  "algorithm_params",
] as const;
const SIZE = ["width", "height", "max_size"] as const;
const STATISTICS = [
  ...VALUES,
  "algorithm",
  "algorithm_params",
  ...RESAMPLING,
  ...SIZE,
  "p",
  "categorical",
  "c",
  "histogram_bins",
  "histogram_range",
] as const;
const TILE = [...PICTURE, "tilesize", "buffer", "padding"] as const;

const OPERATIONS: Readonly<Record<Operation, readonly Name[]>> = {
  info: [],
  scene: [],
  "scene-info": [],
  statistics: STATISTICS,
  "asset-statistics": STATISTICS,
  "area-statistics": [...STATISTICS, "coord_crs", "dst_crs"],
  point: [...VALUES, "coord_crs"],
  preview: [...PICTURE, ...SIZE, "format", "dst_crs"],
  part: [...PICTURE, ...SIZE, "format", "coord_crs", "dst_crs"],
  map: [...PICTURE, "bbox", "bbox-crs", "crs", "width", "height", "f"],
  tile: [...TILE, "format"],
  tilesets: [...TILE],
  tileset: [...TILE, "minzoom", "maxzoom"],
  tilejson: [...TILE, "tile_format", "minzoom", "maxzoom"],
};

/** The parameters of a route with what they mean. Sizes and formats in its path are no parameters. */
export function describeParameters(
  kind: Kind,
  operation: Operation,
  path: string,
): Readonly<Record<string, { readonly description: string }>> {
  const names = [...OPERATIONS[operation], ...namesOfKind(kind, operation)].filter(
    (name) =>
      !(path.includes(":format") && name === "format") &&
      !(path.includes(":size") && (SIZE as readonly string[]).includes(name)),
  );
  return Object.fromEntries(names.map((name) => [name, { description: DESCRIPTIONS[name] }]));
}

function namesOfKind(kind: Kind, operation: Operation): readonly Name[] {
  const isMosaic = kind === "collections" || kind === "searches";
  const address: readonly Name[] = kind === "cog" || kind === "stac" ? ["url"] : [];
  // Of a mosaic, a style says what is shown: its information is that of all of its scenes.
  const choice: readonly Name[] = kind === "stac" || kind === "items" ? ["assets"] : [];
  if (operation === "info") {
    return [...address, ...choice];
  }
  const orders: readonly Name[] = operation === "point" ? ["sortby"] : ["sortby", "pixel_selection"];
  const scenes: readonly Name[] = isMosaic ? ["datetime", "ids", ...orders] : kind === "items" ? ["datetime"] : [];
  if (operation === "scene-info") {
    return [...address, ...scenes, ...choice];
  }
  if (operation === "scene") {
    return [...address, ...scenes];
  }
  if (kind === "cog") {
    return [...address, "variable"];
  }
  const assets: readonly Name[] = ["assets", "asset_bidx", "asset_expression", "asset_as_band", "style"];
  return [...address, ...scenes, ...assets, ...(operation === "statistics" ? (["bbox"] as const) : [])];
}
