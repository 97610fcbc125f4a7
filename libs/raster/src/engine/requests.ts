import type { ImageFormat } from "../encode/image.ts";
import type { PixelSelection } from "../mosaic/select-pixels.ts";
import type { RasterInfo } from "../readers/raster.ts";
import type { ColorOperation } from "../render/color-operations.ts";
import type { ColormapSpec } from "../render/colormaps.ts";
import type { Plane } from "../render/plane.ts";
import type { Range } from "../render/render-image.ts";
import type { TerrainAlgorithm, TerrainOptions } from "../render/terrain.ts";
import type { SourceLocation } from "../sources/source.ts";
import type { Crs } from "../warp/crs.ts";
import type { Clip } from "../warp/clip-planes.ts";
import type { Bbox, Grid } from "../warp/grid.ts";
import type { Resampling } from "../warp/resample.ts";
import type { GridRequest } from "./resolve-grid.ts";
import type { Scene, SceneAsset } from "./scene.ts";

export type OutputFormat = ImageFormat | "npy" | "tif";

export interface PixelsRequest {
  /** In the order in which they cover each other. */
  readonly scenes: readonly Scene[];
  readonly grid: GridRequest;
  /** One a band; the file's colours or first band when left out. */
  readonly expressions?: readonly string[];
  readonly resampling?: Resampling;
  readonly selection?: PixelSelection;
  /** Applies scale and offset of the bands; left out, to variables of cubes only. */
  readonly unscale?: boolean;
  /** Only what is in this area. */
  readonly clip?: Clip;
}

/** Values as they are. */
export interface PixelsResult {
  readonly planes: readonly Plane[];
  readonly grid: Grid;
}

export interface ImageRequest extends PixelsRequest {
  readonly terrain?: { readonly algorithm: TerrainAlgorithm } & TerrainOptions;
  /** Ranges, or percentiles of the whole of the first scene: 2 and 98 when nothing is said of bands that are no bytes. */
  readonly rescale?: readonly Range[];
  readonly percentiles?: Range;
  /** Of all bands but a fourth; above 1 brightens. */
  readonly gamma?: number;
  /** Instead of `gamma`. */
  readonly operations?: readonly ColorOperation[];
  readonly colormap?: ColormapSpec;
  readonly background?: readonly [number, number, number];
  /** npy and tif hold bytes as pictures show them (`rescale`, `colormap`, `operations`), not values. */
  readonly rendersData?: boolean;
  /** `false` leaves the mask out of npy and tif. */
  readonly hasMask?: boolean;
  /** JPEG where every pixel is there, else PNG, when left out. */
  readonly format?: OutputFormat;
  readonly quality?: number;
}

export interface ImageResult {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** No scene has a pixel there. */
  readonly isEmpty: boolean;
  readonly width: number;
  readonly height: number;
  readonly bbox: Bbox;
  readonly crs: Crs;
  /** Version of each file that was looked into, by what `describeLocation` says of where it is. */
  readonly versions: Readonly<Record<string, string>>;
}

export interface DescribedRaster {
  readonly info: RasterInfo;
  /** Extent in the raster's own system, and in degrees. */
  readonly bounds: Bbox;
  readonly crs: Crs;
  readonly geographicBounds: Bbox | undefined;
}

export interface PointRequest extends Pick<SceneAsset, "variable" | "position"> {
  readonly location: SourceLocation;
  readonly crs: Crs;
  readonly x: number;
  readonly y: number;
  readonly unscale?: boolean;
}

export interface StatisticsRequest extends PixelsRequest {
  readonly percentiles?: readonly number[];
  readonly bins?: number;
  readonly range?: Range;
  /** Counts pixels of each of these values, of all values where none is named, instead of ranges. */
  readonly categories?: readonly number[];
}

export interface CoverageRequest extends PixelsRequest {
  readonly maxPixels: number;
}
