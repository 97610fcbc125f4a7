import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../files/copy.ts";
import { FileGate } from "../files/gate.ts";
import type { Journal } from "../journal/journal.ts";
import type { Executors, RunContext } from "./context.ts";
import { JobDirectories } from "./job-directories.ts";
import type { RunOptions } from "./run-options.ts";

/** Where a run keeps its files while it goes on. */
export interface RunDirectory {
  readonly id: string;
  readonly workDir: string;
  readonly directories: JobDirectories;
  readonly gate: FileGate;
  readonly journal: RunContext["journal"];
  /** Ends the use of the place: scratch space is removed, a journal stays. */
  readonly close: () => Promise<void>;
}

export async function openRunDirectory(options: RunOptions, executors: Executors): Promise<RunDirectory> {
  if (options.journal !== undefined) {
    return await openJournal(options, options.journal, executors);
  }
  const parent = options.workDir ?? tmpdir();
  mkdirSync(parent, { recursive: true });
  const workDir = realpathSync(mkdtempSync(join(parent, "cwl-")));
  const gate = makeGate(options, workDir);
  return {
    id: `swath-${randomUUID()}`,
    workDir,
    gate,
    directories: new JobDirectories(workDir, { onFree: (job) => gate.revokeJob(job) }),
    journal: undefined,
    close: async () => {
      await Promise.resolve();
      if (options.keepWorkDir !== true) {
        removeTree(workDir);
      }
    },
  };
}

function makeGate(options: RunOptions, workDir: string): FileGate {
  return new FileGate({
    workDir,
    roots: options.inputRoots,
    // Results of earlier runs are kept there by the engine itself.
    allowed: [...(options.allowedPaths ?? []), ...(options.cacheDir === undefined ? [] : [options.cacheDir])],
  });
}

async function openJournal(options: RunOptions, directory: string, executors: Executors): Promise<RunDirectory> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { Journal: JournalClass } = await import("../journal/journal.ts");
  const { StepKeys } = await import("../journal/step-key.ts");
  const journal = await JournalClass.open(realpathSync(directory));
  try {
    if (journal.resumed) {
      await keepOrphans(journal, executors);
    }
  } catch (error) {
    await journal.close();
    throw error;
  }
  const gate = makeGate(options, journal.workDir);
  return {
    id: journal.runId,
    workDir: journal.workDir,
    gate,
    directories: new JobDirectories(journal.workDir, {
      first: journal.firstJob(),
      onFree: (job) => {
        gate.revokeJob(job);
        journal.recordRemoved(job);
      },
    }),
    journal: { file: journal, keys: new StepKeys(journal.workDir) },
    close: () => journal.close(),
  };
}

/** Ends what the attempt that died left running, but for what an executor keeps to join it again. */
async function keepOrphans({ runId, workDir }: Journal, executors: Executors): Promise<void> {
  for (const executor of new Set([executors.host, executors.container])) {
    await (executor?.keepOrphans === undefined
      ? executor?.removeOrphans?.(runId, workDir)
      : executor.keepOrphans(runId, workDir));
  }
}

async function endOrphans({ runId, workDir }: Journal, executors: Executors): Promise<void> {
  for (const executor of new Set([executors.host, executors.container])) {
    await executor?.removeOrphans?.(runId, workDir);
  }
}

/**
 * Removes the journal of a run that is not wanted any more, with its files, and ends what an attempt that died left
 * running. Throws while a living process works on it.
 */
export async function removeJournal(directory: string, executors: Executors): Promise<void> {
  const { Journal: JournalClass, hasJournal } = await import("../journal/journal.ts");
  if (!existsSync(directory) || !hasJournal(directory)) {
    return;
  }
  const journal = await JournalClass.open(realpathSync(directory));
  try {
    await endOrphans(journal, executors);
  } finally {
    await journal.discard();
  }
  rmSync(directory, { recursive: true, force: true });
}
