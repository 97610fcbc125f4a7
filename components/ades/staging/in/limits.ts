import { StagingError } from "../errors.ts";
import type { OnProgress, StageInLimits } from "../types.ts";

/** Bounds of one input when the caller sets none: a hundred Sentinel-2 scenes in a day. */
export const DEFAULT_LIMITS: StageInLimits = {
  maxBytes: 100 * 2 ** 30,
  maxFileBytes: 50 * 2 ** 30,
  maxFiles: 20_000,
  maxItems: 1000,
  maxDocumentBytes: 32 * 2 ** 20,
  maxRedirects: 10,
  maxSeconds: 24 * 3600,
  stallSeconds: 60,
  retries: 4,
  parallel: 4,
};

/** Counts what arrives against the limits, and tells the caller. */
export interface Budget {
  /** The account of one file. @param where its address for messages */
  readonly file: (key: string, where: string) => FileAccount;
  readonly bytes: () => number;
}

/** Both throw a {@link StagingError} as soon as a limit is passed. */
interface FileAccount {
  /** Says how many bytes are here now; a file that starts again counts from zero. */
  readonly set: (bytes: number) => void;
  /** Says how long the file will be, as its source claims. */
  readonly expect: (bytes: number) => void;
}

export function createBudget(limits: StageInLimits, onProgress: OnProgress | undefined): Budget {
  const arrived = new Map<string, number>();
  const expected = new Map<string, number>();
  let bytes = 0;
  let total = 0;
  const check = (where: string, ofFile: number, ofAll: number) => {
    if (ofFile > limits.maxFileBytes) {
      throw new StagingError("limit", where, `is larger than the ${limits.maxFileBytes} bytes allowed for one file`);
    }
    if (ofAll > limits.maxBytes) {
      throw new StagingError(
        "limit",
        where,
        `the input is larger than the ${limits.maxBytes} bytes allowed; name fewer items, or the assets that are needed`,
      );
    }
  };
  return {
    file: (key, where) => ({
      set: (size) => {
        if (!arrived.has(key) && arrived.size >= limits.maxFiles) {
          throw new StagingError("limit", where, `the input has more than the ${limits.maxFiles} files allowed`);
        }
        bytes += size - (arrived.get(key) ?? 0);
        arrived.set(key, size);
        check(where, size, bytes);
        onProgress?.(bytes, total === 0 ? undefined : Math.max(total, bytes));
      },
      expect: (size) => {
        total += size - (expected.get(key) ?? 0);
        expected.set(key, size);
        check(where, size, total);
      },
    }),
    bytes: () => bytes,
  };
}
