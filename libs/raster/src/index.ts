export { RasterError, type RasterErrorCode } from "./errors.ts";
export {
  type SourceLocation,
  type HttpLocation,
  type S3Location,
  type FileLocation,
  describeLocation,
} from "./sources/source.ts";
export { readDocument } from "./sources/read-document.ts";
export { type Crs, findCrs, parseCrs } from "./warp/crs.ts";
export { type Clip, boundsOfClip } from "./warp/clip-planes.ts";
export type { Bbox, Grid } from "./warp/grid.ts";
export { createReproject, reprojectBbox } from "./warp/reproject.ts";
export { RESAMPLINGS, type Resampling } from "./warp/resample.ts";
export { PIXEL_SELECTIONS, type PixelSelection } from "./mosaic/select-pixels.ts";
export { type BandInfo, type RasterInfo, type SampleType, type Samples, createSamples } from "./readers/raster.ts";
export { type CogOptions, encodeCog } from "./encode/cog.ts";
export {
  COLORMAP_NAMES,
  type Color,
  type ColormapSpec,
  namedColorTable,
  parseColor,
  parseColormap,
  stopsColorTable,
} from "./render/colormaps.ts";
export type { ColorOperation } from "./render/color-operations.ts";
export { compileExpression } from "./render/expression.ts";
export type { BandStatistics } from "./render/statistics.ts";
export { TERRAIN_ALGORITHMS, type TerrainAlgorithm } from "./render/terrain.ts";
export type { Range } from "./render/render-image.ts";
export { type GridRequest, MAX_OUTPUT_PIXELS, resolutionOf } from "./engine/resolve-grid.ts";
export { chooseBands, listDataBands } from "./engine/choose-bands.ts";
export { type Scene, type SceneAsset, defaultExpressions, toVariable } from "./engine/scene.ts";
export type {
  CoverageRequest,
  DescribedRaster,
  ImageRequest,
  ImageResult,
  OutputFormat,
  PixelsRequest,
  PixelsResult,
  PointRequest,
  StatisticsRequest,
} from "./engine/requests.ts";
export { type EngineOptions, RasterEngine } from "./engine/engine.ts";
export { RasterPool, type PoolOptions } from "./pool/pool.ts";
