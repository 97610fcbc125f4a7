import { ProductError } from "@swath/products";
import { RasterError } from "@swath/raster";

import { RegistrationError } from "../queue/errors.ts";

const TRANSIENT = new Set(["unavailable", "timeout", "changed", "busy"]);

/** What a failure of reading a raster means for its task. */
export function toRegistrationError(error: unknown, url: string): unknown {
  if (error instanceof ProductError) {
    return new RegistrationError(`${url}: ${error.message}`, { cause: error });
  }
  return error instanceof RasterError
    ? new RegistrationError(`${url} cannot be read as a raster: ${error.message}`, {
        isTransient: TRANSIENT.has(error.code),
        cause: error,
      })
    : error;
}
