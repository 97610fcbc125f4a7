import { chmodSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "../files/copy.ts";
import { isInside } from "../files/inside.ts";
import { localPath } from "../inputs/files.ts";
import type { FileOrDirectory, Value } from "../model/values.ts";
import { filesIn } from "../model/values.ts";

/** What follows a job's number in the names of its directories: working directory, staged inputs. */
const suffixes = ["", ".stage"] as const;

/** Others of this machine have no business in it; inside a container the tool has this process's user. */
const scratchMode = 0o700;

/** The directories of a new job. Only the scratch space is there already, and empty. */
export interface JobPaths {
  readonly work: string;
  readonly stage: string;
  readonly scratch: string;
}

/**
 * The directories of a run's jobs. Each stays as long as somebody holds a value that names a file in it: its job, then
 * whoever was given the job's outputs. So a long scatter needs room for what is still used, not for all it ever made.
 */
export class JobDirectories {
  private readonly workDir: string;
  private readonly holders = new Map<number, number>();
  private readonly onFree: ((job: number) => void) | undefined;
  private next: number;
  /** Scratch spaces that nobody uses. Making and removing one for each job is half of what a short job costs on a disk. */
  private readonly scratch: string[] = [];
  private nextScratch = 0;

  /** `onFree` is told just before the directory of a job is removed. */
  constructor(workDir: string, options: { readonly first?: number; readonly onFree?: (job: number) => void } = {}) {
    this.workDir = workDir;
    this.next = options.first ?? 0;
    this.onFree = options.onFree;
  }

  /** The number and the directories of a new job, held once by whoever asked. */
  create(): { readonly job: number; readonly paths: JobPaths } {
    const job = this.next;
    this.next += 1;
    this.holders.set(job, 1);
    const work = this.pathOf(job);
    return { job, paths: { work, stage: `${work}.stage`, scratch: this.takeScratch() } };
  }

  /** Gives back the scratch space of a job that has ended. It is used again when it is as it was. */
  putBackScratch(path: string): void {
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (info?.isDirectory() === true && (info.mode & 0o7777) === scratchMode && readdirSync(path).length === 0) {
      this.scratch.push(path);
    } else {
      removeTree(path);
    }
  }

  private takeScratch(): string {
    const used = this.scratch.pop();
    if (used !== undefined) {
      return used;
    }
    const path = join(this.workDir, `scratch-${this.nextScratch}`);
    this.nextScratch += 1;
    // What an attempt that died left there.
    removeTree(path);
    mkdirSync(path);
    chmodSync(path, scratchMode);
    return path;
  }

  private pathOf(job: number): string {
    return join(this.workDir, String(job));
  }

  /** Keeps every directory that a value names. Each call needs one `release` of an equal value. */
  hold(value: Value): void {
    for (const job of this.jobsIn(value)) {
      this.holders.set(job, (this.holders.get(job) ?? 0) + 1);
    }
  }

  release(value: Value): void {
    for (const job of this.jobsIn(value)) {
      this.drop(job);
    }
  }

  /** Takes one hold off a directory and removes it when that was the last. */
  drop(job: number): void {
    const left = (this.holders.get(job) ?? 1) - 1;
    if (left > 0) {
      this.holders.set(job, left);
      return;
    }
    this.holders.delete(job);
    this.onFree?.(job);
    for (const suffix of suffixes) {
      removeTree(this.pathOf(job) + suffix);
    }
  }

  /** Numbers of the jobs in whose directories files of a value lie. */
  jobsIn(value: Value): Set<number> {
    const jobs = new Set<number>();
    for (const item of filesIn(value)) {
      this.addJobs(item, jobs);
    }
    return jobs;
  }

  private addJobs(item: FileOrDirectory, jobs: Set<number>): void {
    const path = localPath(item);
    if (path !== undefined && isInside(path, this.workDir)) {
      const [, job] = /^(\d+)(?:\.stage)?(?:\/|$)/.exec(path.slice(this.workDir.length + 1)) ?? [];
      if (job !== undefined) {
        jobs.add(Number(job));
      }
    }
    // A listing below a real directory adds nothing; that of a literal is all there is.
    const inner = item.class === "File" ? item.secondaryFiles : path === undefined ? item.listing : undefined;
    for (const entry of inner ?? []) {
      this.addJobs(entry, jobs);
    }
  }
}
