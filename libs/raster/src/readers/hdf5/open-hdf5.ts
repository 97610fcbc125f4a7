import { RasterError, invalidRaster } from "../../errors.ts";
import { MAX_BLOCK_BYTES } from "../../limits.ts";
import type { Source } from "../../sources/source.ts";
import { type Cube, sizeOf } from "../cube/cube.ts";
import { openCube } from "../cube/open-cube.ts";
import { type Raster, bytesOf } from "../raster.ts";
import { Hdf5Thread } from "./hdf5-thread.ts";

const SIGNATURE = "894844460d0a1a0a";

export function isHdf5(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 8)).toString("hex") === SIGNATURE;
}

/** Opens HDF5 and NetCDF-4 files: their variables on a grid are bands. */
export async function openHdf5(source: Source, signal?: AbortSignal): Promise<Raster> {
  const { size } = source;
  if (size === undefined) {
    throw invalidRaster("The source does not say how large the HDF5 data is.");
  }
  const thread = new Hdf5Thread(source, size);
  try {
    const { contents } = await thread.send({ kind: "list" }, "listed", signal);
    const cube: Cube = {
      format: contents.isNetcdf ? "NetCDF" : "HDF5",
      variables: contents.variables.filter(
        ({ chunks, type }) => chunks === undefined || sizeOf(chunks) * bytesOf(type) <= MAX_BLOCK_BYTES,
      ),
      attributes: contents.attributes,
      read: async ({ name, type }, start, count, readSignal) => {
        if (sizeOf(count) * bytesOf(type) > MAX_BLOCK_BYTES) {
          throw new RasterError("too-large", "More of a variable is asked for than is read at once.");
        }
        return (await thread.send({ kind: "read", name, start, count }, "samples", readSignal)).samples;
      },
    };
    if (cube.variables.length === 0 && contents.missingFilters.length > 0) {
      throw new RasterError(
        "unsupported",
        `The HDF5 data is compressed with ${contents.missingFilters.join(", ")}, which is not supported.`,
      );
    }
    return await openCube(
      cube,
      {
        key: source.key,
        isCurrent: source.isCurrent,
        close: async () => {
          await thread.close();
          await source.close();
        },
      },
      signal,
    );
  } catch (error) {
    await thread.close();
    throw error;
  }
}
