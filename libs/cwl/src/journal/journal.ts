import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CwlError } from "../errors.ts";
import { removeTree } from "../files/copy.ts";
import type { ValueObject } from "../model/values.ts";
import { isObject } from "../model/values.ts";
import type { FileStamp } from "./file-stamps.ts";
import { isIntact, stampFiles } from "./file-stamps.ts";
import { JournalLog } from "./journal-log.ts";
import { takeOwnership } from "./ownership.ts";

/** What the lines of a journal say. */
type JournalRecord =
  | { readonly run: string; readonly format: 1 }
  | {
      readonly done: string;
      readonly outputs: ValueObject;
      readonly files: readonly FileStamp[];
      readonly jobs: readonly number[];
    }
  | { readonly removed: number }
  | { readonly target: string }
  | { readonly finished: string; readonly outputs: ValueObject; readonly files: readonly FileStamp[] };

type DoneRecord = Extract<JournalRecord, { done: string }>;

/**
 * What a run has done so far, on disk: the outputs of every finished step, with stamps that tell whether their files
 * are untouched. A run that died goes on from there.
 *
 * `DIRECTORY/journal` holds the lines, `DIRECTORY/owner` says which process works on it, `DIRECTORY/work` the files.
 */
export class Journal {
  /** Id of the run, the same for all attempts: what an earlier one left running carries it. */
  readonly runId: string;
  /** Whether an earlier attempt left records. */
  readonly resumed: boolean;
  readonly workDir: string;
  private readonly directory: string;
  private readonly log: JournalLog;
  private readonly known = new Map<string, DoneRecord>();
  private readonly removed = new Set<number>();
  private readonly targets: string[] = [];
  private readonly finished: Extract<JournalRecord, { finished: string }> | undefined;
  private readonly giveUp: () => void;
  private readonly writing = new Set<Promise<void>>();
  private failure: unknown;

  private constructor(
    directory: string,
    opened: { readonly log: JournalLog; readonly records: readonly JournalRecord[]; readonly giveUp: () => void },
  ) {
    this.directory = directory;
    this.log = opened.log;
    this.giveUp = opened.giveUp;
    this.workDir = join(directory, "work");
    let runId: string | undefined;
    let finished: Journal["finished"];
    for (const record of opened.records) {
      if ("run" in record) {
        runId = record.run;
      } else if ("done" in record) {
        this.known.set(record.done, record);
      } else if ("removed" in record) {
        this.removed.add(record.removed);
      } else if ("target" in record) {
        this.targets.push(record.target);
      } else {
        finished = record;
      }
    }
    this.resumed = runId !== undefined;
    this.runId = runId ?? `swath-${randomUUID()}`;
    this.finished = finished;
    if (runId === undefined) {
      this.log.write({ run: this.runId, format: 1 });
    }
  }

  /** Opens the journal in a directory, or begins one. Throws while another living process works on it. */
  static async open(directory: string): Promise<Journal> {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const giveUp = takeOwnership(join(directory, "owner"));
    try {
      const { log, records } = JournalLog.open(join(directory, "journal"));
      const journal = new Journal(directory, { log, records: records.filter(isRecord), giveUp });
      mkdirSync(journal.workDir, { recursive: true, mode: 0o700 });
      return journal;
    } catch (error) {
      giveUp();
      throw error;
    }
  }

  /** Outputs of the whole run, when it had ended and they are still where it put them. `key` says what was asked for. */
  findFinished(key: string): ValueObject | undefined {
    const { finished } = this;
    return finished?.finished === key && finished.files.every(isIntact) ? finished.outputs : undefined;
  }

  /**
   * Outputs of a finished step or job. Files that were removed because nothing needed them any more may be missing;
   * everything else is as it was.
   */
  find(key: string): ValueObject | undefined {
    const record = this.known.get(key);
    const jobs = record?.jobs ?? [];
    return record !== undefined && (jobs.some((job) => this.removed.has(job)) || record.files.every(isIntact))
      ? record.outputs
      : undefined;
  }

  /** Whether an earlier attempt removed the directory of a job after its last use. */
  isRemoved(job: number): boolean {
    return this.removed.has(job);
  }

  /** Makes outputs of a step or job outlive the process; resolves when they do. */
  record(key: string, outputs: ValueObject, jobs: ReadonlySet<number>): Promise<void> {
    const files = stampFiles(outputs);
    const own = files.map(([path]) => path).filter((path) => path.startsWith(`${this.workDir}/`));
    return this.track(this.log.writeDurably({ done: key, outputs, files, jobs: [...jobs] }, own));
  }

  /** Says that a job's directory goes away, before it does. */
  recordRemoved(job: number): void {
    this.log.write({ removed: job });
  }

  /** Says that a file or directory will be put among the outputs, before it is. */
  recordTarget(path: string): void {
    this.log.write({ target: path });
  }

  /** @param keepsWork whether files that nothing needs any more are left to the caller */
  async recordFinished(key: string, outputs: ValueObject, keepsWork = false): Promise<void> {
    const files = stampFiles(outputs);
    await this.log.writeDurably(
      { finished: key, outputs, files },
      files.map(([path]) => path),
    );
    if (!keepsWork) {
      removeTree(this.workDir);
    }
  }

  /** Clears away what an attempt that died had begun: half-made job directories, outputs half put in place. */
  clearUnfinished(): void {
    for (const target of this.targets) {
      rmSync(target, { recursive: true, force: true });
    }
    const used = new Set([...this.known.values()].flatMap((record) => record.jobs.map(String)));
    for (const name of readdirSync(this.workDir)) {
      const [job = ""] = name.split(".");
      if (/^\d+$/.test(job) && !used.has(job)) {
        removeTree(join(this.workDir, name));
      }
    }
  }

  /** A number that no job of an earlier attempt has. */
  firstJob(): number {
    const used = [...this.known.values()].flatMap((record) => record.jobs);
    const present = readdirSync(this.workDir).map((name) => Number.parseInt(name, 10));
    const isJob = (job: number): boolean => Number.isInteger(job);
    return [...used, ...this.removed, ...present.filter(isJob)].reduce((a, b) => Math.max(a, b), -1) + 1;
  }

  /** Waits until everything recorded is on the disk. Throws when it could not be written. */
  async settle(): Promise<void> {
    await Promise.all(this.writing);
    if (this.failure !== undefined) {
      throw new CwlError("infrastructure", `the journal in ${this.directory} cannot be written`, {
        cause: this.failure,
      });
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.writing);
    await this.log.close();
    this.giveUp();
  }

  /** Forgets everything. The journal is closed afterwards. */
  async discard(): Promise<void> {
    await this.close();
    for (const target of this.targets) {
      rmSync(target, { recursive: true, force: true });
    }
    removeTree(this.workDir);
    rmSync(join(this.directory, "journal"), { force: true });
  }

  /** Nobody may be waiting for a record when it fails; the failure is kept for `settle`. */
  private track(promise: Promise<void>): Promise<void> {
    const kept = promise.catch((error: unknown) => {
      this.failure ??= error;
    });
    this.writing.add(kept);
    void kept.then(() => this.writing.delete(kept));
    return kept;
  }
}

/** The log's own remarks, on what is on the disk, are no records. */
function isRecord(value: unknown): value is JournalRecord {
  return isObject(value) && !("boot" in value) && !("synced" in value);
}

/** Whether a directory holds the journal of a run. */
export function hasJournal(directory: string): boolean {
  return lstatSync(join(directory, "journal"), { throwIfNoEntry: false })?.isFile() === true;
}
