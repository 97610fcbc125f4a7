import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CwlError } from "../errors.ts";
import { isLiteralLocation, localPath } from "../inputs/files.ts";
import type { FileOrDirectory, Value } from "../model/values.ts";
import { mapFiles } from "../model/values.ts";
import type { Workspace } from "./workspace.ts";

/** Gives every File and Directory in the inputs a path that the tool can open. */
export class InputStager {
  private readonly workspace: Workspace;
  /** Paths by location: what InitialWorkDir put into the working directory is used from there. */
  readonly placed = new Map<string, string>();
  private readonly staged = new Map<string, string>();

  constructor(workspace: Workspace) {
    this.workspace = workspace;
  }

  stage(value: Value): Value {
    return mapFiles(value, (item) => this.stageItem(item));
  }

  private stageItem(item: FileOrDirectory): FileOrDirectory {
    const placed = this.placed.get(item.location ?? "");
    if (placed !== undefined) {
      return this.withPaths(item, placed);
    }
    // The same file may be in the inputs many times; what differs is its name and its companions.
    const key = identity(item);
    let path = this.staged.get(key);
    if (path === undefined) {
      path = this.location(item);
      this.staged.set(key, path);
    }
    return this.withPaths(item, path);
  }

  private location(item: FileOrDirectory): string {
    if (this.workspace.sharesFileSystem && isDirect(item)) {
      const path = localPath(item) ?? "";
      this.allow(item);
      return path;
    }
    const stage = this.workspace.newStage(this.workspace.sharesFileSystem || hasLiteral(item));
    this.placeIn(item, stage.host, stage.seen);
    return `${stage.seen}/${item.basename}`;
  }

  /** Remembers the host paths of a file and its companions as inputs. */
  private allow(item: FileOrDirectory): void {
    const path = localPath(item);
    if (path !== undefined) {
      this.workspace.sources.add(path);
      this.workspace.sources.add(realpathSync(path));
    }
    for (const inner of companions(item)) {
      this.allow(inner);
    }
  }

  private placeIn(item: FileOrDirectory, host: string, seen: string): void {
    const name = item.basename ?? "";
    const [target, seenTarget] = [join(host, name), `${seen}/${name}`];
    const source = localPath(item);
    if (source !== undefined) {
      this.allow(item);
      if (this.workspace.sharesFileSystem) {
        symlinkSync(source, target);
      } else {
        this.workspace.mounts.push({ source, target: seenTarget, writable: false });
      }
    } else if (!isLiteralLocation(item.location)) {
      throw new CwlError("reference", `${item.location} was not fetched`);
    } else if (item.class === "File") {
      writeFileSync(target, item.contents ?? "");
      if (!this.workspace.sharesFileSystem) {
        this.workspace.mounts.push({ source: target, target: seenTarget, writable: false });
      }
    } else {
      mkdirSync(target, { recursive: true });
      if (!this.workspace.sharesFileSystem) {
        this.workspace.mounts.push({ source: target, target: seenTarget, writable: false });
      }
      for (const inner of item.listing ?? []) {
        this.placeholder(inner, target);
        this.placeIn(inner, target, seenTarget);
      }
    }
    if (item.class === "File") {
      for (const inner of item.secondaryFiles ?? []) {
        this.placeIn(inner, host, seen);
      }
    }
  }

  /** A mount inside a read-only mount needs something to be mounted on. */
  private placeholder(item: FileOrDirectory, host: string): void {
    if (this.workspace.sharesFileSystem) {
      return;
    }
    const path = join(host, item.basename ?? "");
    if (item.class === "Directory") {
      mkdirSync(path, { recursive: true });
    } else {
      writeFileSync(path, "");
    }
  }

  private withPaths(item: FileOrDirectory, path: string): FileOrDirectory {
    const directory = dirname(path);
    if (item.class === "File") {
      return {
        ...item,
        path,
        dirname: directory,
        ...(item.secondaryFiles === undefined
          ? {}
          : {
              secondaryFiles: item.secondaryFiles.map((inner) =>
                this.withPaths(inner, this.placed.get(inner.location ?? "") ?? `${directory}/${inner.basename}`),
              ),
            }),
      };
    }
    return {
      ...item,
      path,
      ...(item.listing === undefined
        ? {}
        : { listing: item.listing.map((inner) => this.withPaths(inner, `${path}/${inner.basename}`)) }),
    };
  }
}

function companions(item: FileOrDirectory): readonly FileOrDirectory[] {
  return item.class === "File"
    ? (item.secondaryFiles ?? [])
    : isLiteralLocation(item.location)
      ? (item.listing ?? [])
      : [];
}

/** Whether a file can be used from where it lies: its name is its basename and its companions lie beside it. */
function isDirect(item: FileOrDirectory, directory?: string): boolean {
  const path = localPath(item);
  return (
    path !== undefined &&
    basename(path) === item.basename &&
    (directory === undefined || dirname(path) === directory) &&
    (item.class === "Directory" || (item.secondaryFiles ?? []).every((inner) => isDirect(inner, dirname(path))))
  );
}

function hasLiteral(item: FileOrDirectory): boolean {
  return isLiteralLocation(item.location) || companions(item).some(hasLiteral);
}

function identity(item: FileOrDirectory): string {
  return JSON.stringify([item.location, item.basename, ...companions(item).map(identity)]);
}
