import { realpathSync } from "node:fs";
import { posix } from "node:path";
import { CwlError, messageOf } from "../errors.ts";
import { filePath, fileUri, refuseKeep } from "../load/uri.ts";
import type { FileOrDirectory, Value } from "../model/values.ts";
import { filesIn } from "../model/values.ts";
import { isInside } from "./inside.ts";

export interface GateOptions {
  /** Where the directories of the run's jobs are made. */
  readonly workDir: string;
  /** Directories outside of which nothing may be read, whoever names it; undefined for any. */
  readonly roots: readonly string[] | undefined;
  /** Directories in which expressions and tools may name files beside those of their job. */
  readonly allowed: readonly string[];
}

/**
 * Who named a file: the caller of the run (the job object, or a document that lies on this machine), or code (an
 * expression, a tool, a document from elsewhere).
 */
export type NamedBy = "caller" | "code";

/**
 * The one way from a File or Directory value to a path of this machine. Callers may name what lies in the roots. Code may
 * name what the run was given or has made: inputs, outputs of jobs that have ended, and what lies below those. Symbolic
 * links are followed before the question is put.
 */
export class FileGate {
  private readonly workDir: string;
  private readonly roots: readonly string[] | undefined;
  /** Real paths of inputs and, where no roots are set, their paths as named: links inside the caller's folders are theirs. */
  private readonly inputs = new Set<string>();
  /** Real paths of outputs, by the job that made them. */
  private readonly outputs = new Map<string, Set<string>>();

  constructor({ workDir, roots, allowed }: GateOptions) {
    this.workDir = realOf(workDir) ?? workDir;
    this.roots = roots?.map((root) => realOf(root) ?? root);
    for (const path of allowed) {
      this.grant(path);
    }
  }

  /** Checks an item and all inside it, and gives it with `file:` locations written in one way and no path. */
  admit(item: FileOrDirectory, by: NamedBy): FileOrDirectory {
    const location = locationOf(item);
    refuseKeep(location ?? "");
    const path = location === undefined ? undefined : filePath(location);
    if (path !== undefined) {
      this.admitPath(path, by);
    }
    const inner = (items: readonly FileOrDirectory[]): FileOrDirectory[] => items.map((entry) => this.admit(entry, by));
    const { path: _path, ...rest } = item;
    return {
      ...rest,
      ...(location === undefined ? {} : { location: path === undefined ? location : fileUri(path) }),
      ...(item.class === "File" && item.secondaryFiles !== undefined
        ? { secondaryFiles: inner(item.secondaryFiles) }
        : {}),
      ...(item.class === "Directory" && item.listing !== undefined ? { listing: inner(item.listing) } : {}),
    } as FileOrDirectory;
  }

  /** Checks a path of this machine. Throws `unsafe`, which does not tell whether anything is there. */
  admitPath(path: string, by: NamedBy): void {
    const named = posix.normalize(path);
    const real = realOf(named);
    if (this.isGranted(named, real)) {
      return;
    }
    if (by === "code") {
      throw new CwlError("unsafe", [
        {
          severity: "error",
          message: `${path} is no file of this job: neither an input nor an output of an earlier step`,
          hint: "pass it as an input of type File or Directory",
        },
      ]);
    }
    if (this.roots !== undefined && !this.isInRoots(real ?? named)) {
      throw new CwlError("unsafe", `${path} is outside the directories that inputs may come from`);
    }
    if (real === undefined) {
      throw new CwlError("invalid-inputs", `the file ${path} cannot be read: ${whyNot(named)}`);
    }
    this.grant(named);
  }

  /** Whether code may name a path. */
  mayRead(path: string): boolean {
    const named = posix.normalize(path);
    return this.isGranted(named, realOf(named));
  }

  /** Lets code name a path and what lies below it. */
  grant(path: string): void {
    const real = realOf(path) ?? path;
    const job = this.jobOf(real);
    if (job === undefined) {
      this.inputs.add(real);
      if (this.roots === undefined) {
        this.inputs.add(path);
      }
      return;
    }
    const known = this.outputs.get(job);
    if (known === undefined) {
      this.outputs.set(job, new Set([real]));
    } else {
      known.add(real);
    }
  }

  /** Lets code name every local file of a value that the engine itself has found. */
  grantAll(value: Value): void {
    for (const item of filesIn(value)) {
      this.grantItem(item);
    }
  }

  /** Forgets the outputs of a job whose directory is removed. */
  revokeJob(job: number): void {
    this.outputs.delete(String(job));
  }

  private grantItem(item: FileOrDirectory): void {
    const path = item.location === undefined ? undefined : filePath(item.location);
    if (path !== undefined) {
      this.grant(path);
    }
    const inner = item.class === "File" ? item.secondaryFiles : path === undefined ? item.listing : undefined;
    for (const entry of inner ?? []) {
      this.grantItem(entry);
    }
  }

  private isGranted(named: string, real: string | undefined): boolean {
    if (real === undefined) {
      return false;
    }
    const job = this.jobOf(real);
    if (job !== undefined) {
      return holds(this.outputs.get(job), real);
    }
    return (
      holds(this.inputs, real) ||
      // A folder of the caller's may hold links to elsewhere. Those that a tool made never lie in one.
      (this.roots === undefined && this.jobOf(named) === undefined && holds(this.inputs, named))
    );
  }

  private isInRoots(real: string): boolean {
    return this.roots === undefined || this.roots.some((root) => isInside(real, root));
  }

  /** The job in whose directory a path lies. What else is in the working directory is nobody's. */
  private jobOf(path: string): string | undefined {
    if (!isInside(path, this.workDir)) {
      return undefined;
    }
    const [first = ""] = path.slice(this.workDir.length + 1).split("/", 1);
    return first === "fetched" ? undefined : first.replace(/\.stage$/, "");
  }
}

/** Location of an item in one spelling; undefined for a literal. */
function locationOf(item: FileOrDirectory): string | undefined {
  const { location, path } = item;
  if (typeof location === "string" && !location.startsWith("_:")) {
    return toLocation(location);
  }
  return typeof location !== "string" && typeof path === "string" ? toLocation(path) : location;
}

/** A path or URI as a URI. A relative one has nothing here that it could be relative to. */
function toLocation(reference: string): string {
  if (/^[a-z][\w+.-]+:/i.test(reference)) {
    return /^file:/i.test(reference) ? fileUri(filePath(reference) ?? "") : reference;
  }
  if (!reference.startsWith("/")) {
    throw new CwlError("unsafe", [
      {
        severity: "error",
        message: `${JSON.stringify(reference)} is a relative path, and nothing says what it is relative to`,
        hint: "write an absolute path or a location",
      },
    ]);
  }
  return fileUri(posix.normalize(reference));
}

/** Whether a set has a path or a directory around it. */
function holds(paths: ReadonlySet<string> | undefined, path: string): boolean {
  if (paths === undefined) {
    return false;
  }
  for (let at = path; ; at = posix.dirname(at)) {
    if (paths.has(at)) {
      return true;
    }
    if (at === "/" || at === ".") {
      return false;
    }
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // Not there, or not to be named at all (a NUL, a name that is too long).
    return undefined;
  }
}

function whyNot(path: string): string {
  try {
    realpathSync.native(path);
    return "it was not there a moment ago";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : messageOf(error);
  }
}
