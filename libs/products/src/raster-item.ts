import type { BandStatistics, DescribedRaster, RasterInfo } from "@swath/raster";
import { createReproject, parseCrs } from "@swath/raster";
import type { StacAsset, StacItem } from "@swath/stac";

import { ProductError } from "./errors.ts";
import { findExtensions } from "./extensions.ts";
import { type Footprint, type Position, centerOf, toFootprint } from "./footprint.ts";
import { findInstant } from "./instants.ts";
import { findKnownRaster } from "./known-rasters.ts";

/** A raster as it was read. */
export interface ReadRaster {
  readonly href: string;
  readonly described: DescribedRaster;
  /** Of its bands, in order. */
  readonly statistics?: readonly BandStatistics[];
  readonly bytes?: number;
}

interface RasterItemOptions {
  /** When nothing in the file or its name tells. */
  readonly fallbackTime: string;
}

/** Points of each edge, so that a footprint follows a projection's curves. */
const EDGE_POINTS = 8;
/** Degrees; two positions that are farther apart are nearer the other way around. */
const HALF_TURN = 180;
const COMMON_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ red: "red", green: "green", blue: "blue" }),
);

/** The item of a raster that comes with nothing but itself. @throws {ProductError} where it has no place on Earth */
export function convertRaster(raster: ReadRaster, { fallbackTime }: RasterItemOptions): StacItem {
  const { href, described } = raster;
  const { info } = described;
  const name = fileNameOf(href);
  const id = name.replace(/\.(?:tiff?|jp2|cog)$/i, "");
  const footprint = toRasterFootprint(described);
  const time =
    findInstant(info.metadata["TIFFTAG_DATETIME"]) ??
    findInstant(info.metadata["ACQUISITIONDATETIME"]) ??
    findInstant(id);
  const known = findKnownRaster(id);
  const properties = {
    datetime: time ?? fallbackTime,
    ...(time === undefined &&
      known === undefined && {
        description: "The file does not tell when it was seen; datetime is when it was registered.",
      }),
    ...known?.properties,
    ...toProjection(described, footprint),
  };
  const assets = { data: describeAsset(raster) };
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: findExtensions(properties, assets),
    id,
    geometry: footprint.geometry,
    bbox: footprint.bbox,
    properties,
    links: [],
    assets,
    ...(known !== undefined && { collection: known.collection }),
  };
}

/** The asset of a raster: bands with types, nodata, scale, offset and statistics. */
export function describeAsset({ href, described, statistics = [] }: ReadRaster): StacAsset {
  const { info } = described;
  const bands = info.bands.map(({ type, nodata, scale, offset, unit, description, color }, index) => {
    const numbers = statistics[index];
    return {
      name: description ?? `b${index + 1}`,
      ...(COMMON_NAMES.get(color) !== undefined && { "eo:common_name": color }),
      data_type: type,
      ...(nodata !== undefined && { nodata: Number.isFinite(nodata) ? nodata : String(nodata).toLowerCase() }),
      ...(unit !== undefined && unit !== "" && { unit }),
      ...(scale !== undefined && scale !== 1 && { "raster:scale": scale }),
      ...(offset !== undefined && offset !== 0 && { "raster:offset": offset }),
      ...(numbers !== undefined &&
        numbers.count > 0 && {
          statistics: {
            minimum: numbers.min,
            maximum: numbers.max,
            mean: numbers.mean,
            stddev: numbers.std,
            valid_percent: numbers.valid_percent,
          },
        }),
    };
  });
  return { href, type: mediaTypeOf(info), roles: ["data"], bands };
}

/** The outline of a raster in longitude and latitude. @throws {ProductError} */
export function toRasterFootprint({ info, crs }: DescribedRaster): Footprint {
  const { width, height, transform, gcps } = info;
  if (crs.local !== undefined) {
    throw new ProductError("The raster has no georeference: it cannot be placed on Earth.");
  }
  const corners: readonly (readonly [number, number])[] = [
    [0, 0],
    [0, height],
    [width, height],
    [width, 0],
  ];
  const edges = corners.flatMap(([x, y], index) => {
    const [nextX, nextY] = corners[(index + 1) % 4] as readonly [number, number];
    const isStraight = transform === undefined || (crs.isGeographic && Math.abs(transform[0]) * width < HALF_TURN);
    const points = isStraight ? 1 : EDGE_POINTS;
    return Array.from({ length: points }, (_, step): [number, number] => [
      x + ((nextX - x) * step) / points,
      y + ((nextY - y) * step) / points,
    ]);
  });
  const placed = edges.map(([column, row]): readonly [number, number] => {
    if (transform !== undefined) {
      const [a, b, c, d, e, f] = transform;
      return [a * column + b * row + c, d * column + e * row + f];
    }
    const nearest = gcps?.toSorted((left, right) => distance(left, column, row) - distance(right, column, row))[0];
    if (nearest === undefined) {
      throw new ProductError("The raster has no georeference: it cannot be placed on Earth.");
    }
    return [nearest.x, nearest.y];
  });
  const [xs, ys] = [Float64Array.from(placed, ([x]) => x), Float64Array.from(placed, ([, y]) => y)];
  createReproject(crs, parseCrs("OGC:CRS84"))(xs, ys);
  const ring = Array.from(xs, (x, index): Position => [x, Math.max(-90, Math.min(90, ys[index] ?? Number.NaN))]);
  if (ring.some((position) => !position.every(Number.isFinite))) {
    throw new ProductError("The corners of the raster cannot be expressed as longitude and latitude.");
  }
  return toFootprint(ring);
}

const distance = ({ column, row }: { column: number; row: number }, x: number, y: number): number =>
  (column - x) ** 2 + (row - y) ** 2;

function toProjection({ info, bounds, crs }: DescribedRaster, { bbox }: Footprint) {
  const isCode = /^(?:EPSG|OGC|IAU[^:]*|ESRI):/.test(crs.id);
  return {
    "proj:code": isCode ? crs.id.replace("OGC:CRS84", "EPSG:4326") : null,
    "proj:shape": [info.height, info.width],
    ...(info.transform !== undefined && { "proj:transform": info.transform, "proj:bbox": bounds }),
    "proj:centroid": centerOf(bbox),
  };
}

function mediaTypeOf({ format, levels, width, height }: RasterInfo): string {
  if (format === "JPEG 2000") {
    return "image/jp2";
  }
  const isTiled = (levels[0]?.blockWidth ?? width) < width || Math.max(width, height) <= 512;
  const isOptimised = isTiled && (levels.length > 1 || Math.max(width, height) <= 512);
  return `image/tiff; application=geotiff${isOptimised ? "; profile=cloud-optimized" : ""}`;
}

export function fileNameOf(href: string): string {
  const path = href.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  const name = path.slice(path.lastIndexOf("/") + 1);
  try {
    return href.startsWith("s3:") ? name : decodeURIComponent(name);
  } catch {
    return name;
  }
}
