import { Tiff, type TiffImage } from "@cogeotiff/core";

import { RasterError, invalidRaster } from "../../errors.ts";
import { MAX_GCPS } from "../../limits.ts";
import type { Crs } from "../../warp/crs.ts";
import { readGeoKeys } from "./geo-keys.ts";
import { type Georeference, toGeoreference } from "./georeference.ts";
import type { MetadataReader } from "./metadata-reader.ts";
import { TAG, readNumbers, readText } from "./tags.ts";

const HEADER_BYTES = 32 * 1024;

/** The directories of a TIFF whose chain was checked. */
export async function parseTiff(reader: MetadataReader, signal?: AbortSignal): Promise<Tiff> {
  const size = reader.size;
  try {
    return await Tiff.create(
      {
        url: new URL("raster:source"),
        metadata: { ...(size !== undefined && { size }) },
        fetch: async (offset, length = HEADER_BYTES) => {
          // A copy: `slice` of a Buffer would be the same memory.
          return new Uint8Array(await reader.read(offset, length, signal)).buffer;
        },
      },
      { defaultReadSize: HEADER_BYTES },
    );
  } catch (error) {
    throw error instanceof RasterError ? error : invalidRaster("The directories of the TIFF are damaged.", error);
  }
}

/** Where an image is, and in which system. */
export async function readGeoreference(
  image: TiffImage,
  reader: MetadataReader,
  signal?: AbortSignal,
): Promise<Georeference & { readonly crs?: Crs; readonly unknownCrs?: string }> {
  const numbers = (id: number) => readNumbers(image, id, reader, signal);
  const { crs, unknownCrs, isPoint } = readGeoKeys(
    await numbers(TAG.geoKeys),
    await numbers(TAG.geoDoubles),
    (await readText(image, TAG.geoAscii, reader, signal)) ?? "",
  );
  return {
    ...(crs !== undefined && { crs }),
    ...(unknownCrs !== undefined && { unknownCrs }),
    ...toGeoreference(
      await numbers(TAG.pixelScale),
      await numbers(TAG.tiePoints),
      await numbers(TAG.transformation),
      isPoint,
      MAX_GCPS,
    ),
  };
}
