import { lstatSync, mkdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { CwlError } from "../errors.ts";
import type { Mount } from "../executors/executor.ts";
import { isInside } from "../files/inside.ts";

/** The directories of one job, here and as the tool sees them, and everything that is made visible in them. */
export class Workspace {
  private readonly stage: string;
  readonly outdir: { readonly host: string; readonly seen: string };
  readonly tmpdir: { readonly host: string; readonly seen: string };
  readonly sharesFileSystem: boolean;
  readonly mounts: Mount[] = [];
  /** Host paths of inputs: a tool may hand them back as outputs. */
  readonly sources = new Set<string>();
  private stages = 0;

  /** `paths.work` does not exist yet, `paths.scratch` does; `paths.stage` is made when it is needed. */
  constructor(
    paths: { readonly work: string; readonly scratch: string; readonly stage: string },
    options: { sharesFileSystem: boolean; seenOutdir: string },
  ) {
    const { work, scratch } = paths;
    this.stage = paths.stage;
    this.sharesFileSystem = options.sharesFileSystem;
    mkdirSync(work);
    this.outdir = { host: work, seen: options.sharesFileSystem ? work : options.seenOutdir };
    this.tmpdir = { host: scratch, seen: options.sharesFileSystem ? scratch : "/tmp" };
  }

  /** A fresh directory for staged inputs, made on this machine when `make` says so. */
  newStage(make: boolean): { readonly host: string; readonly seen: string } {
    const host = join(this.stage, String(this.stages));
    const seen = this.sharesFileSystem ? host : `/var/lib/cwl/${this.stages}`;
    this.stages += 1;
    if (make) {
      mkdirSync(host, { recursive: true });
    }
    return { host, seen };
  }

  /** Host path of what the tool sees at a path; undefined when nothing of ours is there. */
  toHost(seen: string): string | undefined {
    let best: { target: string; source: string } | undefined;
    const places = this.sharesFileSystem
      ? []
      : [
          { target: this.outdir.seen, source: this.outdir.host },
          { target: this.tmpdir.seen, source: this.tmpdir.host },
          ...this.mounts,
        ];
    for (const location of places) {
      if (isInside(seen, location.target) && (best === undefined || location.target.length > best.target.length)) {
        best = location;
      }
    }
    return this.sharesFileSystem ? seen : best === undefined ? undefined : best.source + seen.slice(best.target.length);
  }

  /**
   * Follows symbolic links as the tool would and gives the host path of what is there. Throws `unsafe` when that is
   * neither in the working directory nor an input; undefined when it does not exist.
   */
  resolve(seen: string): string | undefined {
    let { current, pending } = this.beginning(posix.normalize(seen));
    let found = true;
    for (let links = 0; pending.length > 0;) {
      const [name = "", ...rest] = pending;
      const next = posix.join(current, name);
      const host = this.toHost(next);
      const info = host === undefined ? undefined : lstatSync(host, { throwIfNoEntry: false });
      found = info !== undefined;
      if (info?.isSymbolicLink() === true && host !== undefined) {
        links += 1;
        if (links > 40) {
          throw new CwlError("unsafe", `${seen} is a circle of symbolic links`);
        }
        const target = readlinkSync(host);
        pending = [...posix.resolve(current, target).split("/").filter(Boolean), ...rest];
        current = "/";
      } else {
        current = next;
        pending = rest;
      }
    }
    const host = this.toHost(current);
    if (host === undefined || !this.mayTouch(host)) {
      throw new CwlError("unsafe", `${seen} leads to ${current}, which is outside the working directory and no input`);
    }
    return found ? host : undefined;
  }

  /** No link leads on the way to the working directory, so nothing on it has to be looked at. */
  private beginning(path: string): { current: string; pending: string[] } {
    const { seen } = this.outdir;
    return isInside(path, seen)
      ? { current: seen, pending: path.slice(seen.length).split("/").filter(Boolean) }
      : { current: "/", pending: path.split("/").filter(Boolean) };
  }

  private mayTouch(host: string): boolean {
    const places = [this.outdir.host, this.tmpdir.host, ...this.sources];
    const isIn = (location: string) => isInside(host, location);
    return (
      places.some(isIn) ||
      isInside(dirname(host), this.stage) ||
      // Every link on the way was followed, so a place that itself lies behind a link has another name by now.
      places.some((location) => isIn(realPathOf(location))) ||
      isInside(dirname(host), realPathOf(this.stage))
    );
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It is not there, so nothing is in it.
    return path;
  }
}
