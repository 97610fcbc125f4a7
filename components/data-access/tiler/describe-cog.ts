import type { DescribedRaster } from "@swath/raster";

import { toNamedBounds } from "./own-pixels.ts";
import { crsUri } from "../tiles/tile-matrix-sets.ts";

const DTYPES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ GeoTIFF: "GTiff", "JPEG 2000": "JP2OpenJPEG", NetCDF: "netCDF" }),
);

/** What `info` of a tiler says. */
export function describeCog({ info, bounds, crs }: DescribedRaster) {
  const [first] = info.bands;
  return {
    bounds: toNamedBounds(bounds, crs),
    crs: crs.local === undefined ? crsUri(crs) : null,
    // How well positions in WGS 84 are known, without grids of datum shifts; null where nobody says.
    crs_accuracy_metres: crs.accuracy ?? null,
    band_metadata: info.bands.map(({ unit }, band) => [`b${band + 1}`, unit === undefined ? {} : { unit }]),
    band_descriptions: bandDescriptionsOf(info),
    dtype: first?.type,
    nodata_type:
      first?.nodata !== undefined
        ? "Nodata"
        : info.bands.some(({ color }) => color === "alpha")
          ? "Alpha"
          : info.hasMask
            ? "Mask"
            : "None",
    ...(first?.nodata !== undefined && {
      nodata_value: Number.isFinite(first.nodata) ? first.nodata : String(first.nodata),
    }),
    colorinterp: info.bands.map(({ color }) => color),
    scales: info.bands.map(({ scale = 1 }) => scale),
    offsets: info.bands.map(({ offset = 0 }) => offset),
    driver: DTYPES.get(info.format) ?? info.format,
    count: info.bands.length,
    width: info.width,
    height: info.height,
    overviews: info.levels.slice(1).map(({ width }) => Math.round(info.width / width)),
    compression: info.compression,
    interleave: info.interleave,
    ...(info.palette !== undefined && { colormap: toColormap(info.palette) }),
  };
}

/** Names of bands with the descriptions that their file has. */
export const bandDescriptionsOf = ({ bands }: DescribedRaster["info"]): readonly (readonly [string, string])[] =>
  bands.map(({ description }, band) => [`b${band + 1}`, description ?? `b${band + 1}`]);

function toColormap(palette: Uint8Array): Readonly<Record<string, readonly number[]>> {
  return Object.fromEntries(
    Array.from({ length: palette.length / 4 }, (_, entry) => [entry, [...palette.subarray(entry * 4, entry * 4 + 4)]]),
  );
}
