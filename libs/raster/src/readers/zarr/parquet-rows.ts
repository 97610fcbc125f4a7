import { Worker } from "node:worker_threads";

import { invalidRaster } from "../../errors.ts";

/** References of one chunk of an array each, by rows. */
export interface ReferenceRows {
  /** Of the file that has it. */
  readonly paths: readonly (string | null)[];
  readonly offsets: ArrayLike<number>;
  /** Bytes. */
  readonly sizes: ArrayLike<number>;
  /** Content that stands in the references. */
  readonly raw: readonly (Uint8Array | null)[];
}

export interface RowsRequest {
  readonly bytes: Uint8Array;
  readonly most: number;
}
export type RowsAnswer = { readonly rows: ReferenceRows } | { readonly error: string };

export const MAX_PARQUET_ROWS = 1_000_000;
const MAX_HEAP_MB = 256;
const TIMEOUT_MS = 10_000;

/**
 * Reads a file of references in a thread of its own: a few bytes can claim values without end, which then meet the limit of its memory.
 * @param most rows
 * @throws {RasterError} `invalid-raster`
 */
export async function readReferenceRows(bytes: Uint8Array, most: number): Promise<ReferenceRows> {
  const worker = new Worker(new URL("parquet-worker.ts", import.meta.url), {
    workerData: { bytes, most } satisfies RowsRequest,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    stderr: true,
    stdout: true,
  });
  const { promise, resolve, reject } = Promise.withResolvers<ReferenceRows>();
  const timer = setTimeout(
    () => reject(invalidRaster(`A file of references takes longer than ${TIMEOUT_MS / 1000} s to read.`)),
    TIMEOUT_MS,
  );
  worker.once("message", (answer: RowsAnswer) => {
    if ("rows" in answer) {
      resolve(answer.rows);
    } else {
      reject(invalidRaster(`A file of references cannot be read: ${answer.error}.`));
    }
  });
  worker.once("error", (error) => reject(invalidRaster("A file of references cannot be read.", error)));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
