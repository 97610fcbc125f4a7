import { RasterError, type RasterErrorCode } from "@swath/raster";
import { Problem } from "@swath/service";

const STATUS: Readonly<Record<RasterErrorCode, number>> = {
  "invalid-raster": 422,
  unsupported: 422,
  "not-found": 404,
  forbidden: 403,
  unavailable: 502,
  changed: 503,
  "invalid-request": 400,
  "too-large": 400,
  timeout: 504,
  cancelled: 503,
  busy: 503,
};

/** Errors of rasters as clients are told of them; others as they are. */
export function toHttpError(error: unknown): unknown {
  if (!(error instanceof RasterError)) {
    return error;
  }
  const status = STATUS[error.code];
  return new Problem(status, error.message, {
    cause: error,
    ...(status === 503 && { headers: { "retry-after": "1" } }),
  });
}
