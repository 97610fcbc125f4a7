export type RasterErrorCode =
  /** The file is damaged, lies about itself, or asks for more than the limits allow. */
  | "invalid-raster"
  /** A format, compression or feature that no reader here decodes. */
  | "unsupported"
  /** The source is not there or may not be read. */
  | "not-found"
  | "forbidden"
  /** The source failed or timed out; the same request may succeed later. */
  | "unavailable"
  /** The source changed while it was read. */
  | "changed"
  /** The request itself is wrong: expression, band, coordinate reference system, size. */
  | "invalid-request"
  /** The request needs more pixels, bands or memory than the limits allow. */
  | "too-large"
  | "timeout"
  | "cancelled"
  /** The queue is full. */
  | "busy";

/** Every error that callers are meant to tell apart. The message is fit for clients: it names no path and no secret. */
export class RasterError extends Error {
  override readonly name = "RasterError";
  readonly code: RasterErrorCode;

  constructor(code: RasterErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export const invalidRaster = (message: string, cause?: unknown): RasterError =>
  new RasterError("invalid-raster", message, cause === undefined ? undefined : { cause });

export const invalidRequest = (message: string): RasterError => new RasterError("invalid-request", message);

/** @throws {RasterError} `cancelled` or `timeout` once the signal is aborted */
export function checkCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) {
    throw toCancelled(signal);
  }
}

export const toTimeout = (): RasterError => new RasterError("timeout", "The request took longer than allowed.");

export function toCancelled(signal: AbortSignal): RasterError {
  const { reason } = signal as { reason?: unknown };
  return reason instanceof RasterError
    ? reason
    : reason instanceof Error && reason.name === "TimeoutError"
      ? toTimeout()
      : new RasterError("cancelled", "The request was cancelled.");
}
