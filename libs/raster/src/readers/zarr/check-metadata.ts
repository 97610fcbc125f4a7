import { JsonLimitError, checkJson } from "@swath/service/parse-json";

import { RasterError } from "../../errors.ts";

/** References to 100,000 chunks; built, they take some 200 MB. */
const LIMITS = { maxDepth: 100, maxValues: 500_000 };

/** @throws {RasterError} `too-large` for metadata with more values, or deeper, than any product has: they take a hundred times their bytes */
export async function checkMetadata(bytes: Uint8Array): Promise<void> {
  try {
    await checkJson(bytes, LIMITS);
  } catch (error) {
    throw error instanceof JsonLimitError
      ? new RasterError(
          "too-large",
          `The metadata of the Zarr data is larger than what is read: ${error.message}.`,
          error,
        )
      : error;
  }
}
