import { RasterError } from "../errors.ts";
import { openSource } from "../sources/open-source.ts";
import type { Source, SourceLocation } from "../sources/source.ts";
import { openGeotiff } from "./geotiff/open-geotiff.ts";
import { isHdf5, openHdf5 } from "./hdf5/open-hdf5.ts";
import { isJpeg2000, openJpeg2000 } from "./jpeg2000/open-jpeg2000.ts";
import { isClassicNetcdf, openNetcdf } from "./netcdf/open-netcdf.ts";
import type { Raster } from "./raster.ts";
import { isZarrLocation } from "./zarr/location-path.ts";

/** Opens a raster of any format there is a reader for, told by its first bytes; Zarr has many files, and is told by its address. */
export async function openRaster(location: SourceLocation, signal?: AbortSignal): Promise<Raster> {
  if (isZarrLocation(location)) {
    // Few services ever need it.
    const { openZarr } = await import("./zarr/open-zarr.ts");
    return openZarr(location, signal);
  }
  const source = await openSource(location);
  try {
    return await openSourceRaster(source, location, signal);
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function openSourceRaster(
  source: Source,
  location: SourceLocation,
  signal: AbortSignal | undefined,
): Promise<Raster> {
  const { source: buffered, head } = await readHead(source, signal);
  if (head[0] === head[1] && (head[0] === 0x49 || head[0] === 0x4d)) {
    return openGeotiff(buffered, signal);
  }
  if (isJpeg2000(head)) {
    return openJpeg2000(buffered, signal);
  }
  if (isHdf5(head)) {
    return openHdf5(buffered, signal);
  }
  if (isClassicNetcdf(head)) {
    return openNetcdf(buffered, signal);
  }
  if (isReferences(head)) {
    const { openReferences } = await import("./zarr/open-zarr.ts");
    return openReferences(buffered, location, signal);
  }
  throw new RasterError(
    "unsupported",
    "The format of the raster is not supported; GeoTIFF, JPEG 2000, NetCDF, HDF5 and Zarr are.",
  );
}

/** Zarr data by references to parts of other files, as kerchunk writes it, is JSON. */
const isReferences = (head: Uint8Array) => /^\s*\{/.test(Buffer.from(head.subarray(0, 64)).toString("latin1"));

const HEAD_BYTES = 32 * 1024;

/** The format is told by bytes that its reader asks for again: they are read once. */
async function readHead(
  source: Source,
  signal: AbortSignal | undefined,
): Promise<{ source: Source; head: Uint8Array }> {
  const head = await source.read(0, HEAD_BYTES, signal);
  return {
    head,
    source: {
      get key() {
        return source.key;
      },
      get size() {
        return source.size;
      },
      isCurrent: source.isCurrent,
      close: source.close,
      read: async (offset, length, readSignal) => {
        const end = Math.min(offset + length, source.size ?? Infinity);
        return offset < head.length && end <= head.length
          ? head.subarray(offset, end)
          : source.read(offset, length, readSignal);
      },
    },
  };
}
