import { join } from "node:path";

import { StagingError } from "../staging/errors.ts";
import { displayUrl } from "../staging/display-url.ts";
import { stageIn } from "../staging/stage-in.ts";
import type { StagedInput } from "../staging/types.ts";
import { type JobRecorder, STAGED_IN } from "./job-recorder.ts";
import type { InputSource } from "./read-inputs.ts";
import type { RunOptions } from "./run-job.ts";
import { type UserStorage, internalServices, allowedPrivate } from "./storage.ts";
import { retryWhileUnavailable } from "./retry-while-unavailable.ts";

/** Milliseconds that inputs wait for the platform's own object storage to come back. */
const STORAGE_TIMEOUT = 2 * 60_000;

interface StageOptions {
  readonly folder: string;
  readonly recorder: JobRecorder;
  readonly storage: UserStorage | undefined;
  /** For whom inputs are read. */
  readonly owner: string;
  readonly options: RunOptions;
}

/** Brings the inputs of a job here, one after another; within each, files come side by side. */
export async function stageInputs(
  sources: readonly InputSource[],
  { folder, recorder, storage, owner, options: { settings, clock, signal } }: StageOptions,
): Promise<readonly StagedInput[]> {
  const staged: StagedInput[] = [];
  for (const [index, { assets, ...source }] of sources.entries()) {
    const what = `Fetching input ${index + 1} of ${sources.length}: ${displayUrl(source.href).slice(0, 200)}`;
    const report = (share: number, text: string) =>
      recorder.report({ progress: (STAGED_IN * (index + share)) / sources.length, message: text });
    report(0, what);
    const stage = () =>
      stageIn({
        source,
        target: join(folder, String(index)),
        ...(assets !== undefined && { assets }),
        access: {
          allowPrivate: allowedPrivate(settings),
          internal: internalServices(settings, owner),
          s3: storage?.access ?? [],
        },
        signal,
        onProgress: (bytes, total) => {
          clock.moved();
          const share = total === undefined || total === 0 ? 0 : Math.min(1, bytes / total);
          report(share, `${what} (${toMegabytes(bytes)}${total === undefined ? "" : ` of ${toMegabytes(total)}`} MB)`);
        },
      });
    staged.push(
      await retryWhileUnavailable(stage, {
        signal,
        isTransient: (error) => error instanceof StagingError && error.temporary && error.where.startsWith("s3:"),
        timeout: STORAGE_TIMEOUT,
      }),
    );
  }
  return staged;
}

const toMegabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
