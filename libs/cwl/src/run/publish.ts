import { lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checksumOf } from "../files/checksum.ts";
import { copyOrReflink, copyTree, linkOrCopy } from "../files/copy.ts";
import type { FileGate } from "../files/gate.ts";
import { isInside } from "../files/inside.ts";
import { complete, isLiteralLocation, loadListing, localPath } from "../inputs/files.ts";
import { fileUri } from "../load/uri.ts";
import type { DirectoryValue, FileOrDirectory, Value, ValueObject } from "../model/values.ts";
import { mapFilesAsync } from "../model/values.ts";

/** Puts the files of an output object into a directory and gives the object with their new locations. */
export async function publishOutputs(
  outputs: ValueObject,
  options: {
    readonly outDir: string;
    readonly workDir: string;
    readonly gate: FileGate;
    /** Whether a file that lies where an output goes may be replaced; without it none is. */
    readonly mayReplace?: ((path: string) => Promise<boolean>) | undefined;
    /** Told of every path before something is put there. */
    readonly onTarget?: ((path: string) => void) | undefined;
  },
): Promise<ValueObject> {
  mkdirSync(options.outDir, { recursive: true });
  const publisher = new Publisher(options);
  return (await mapFilesAsync(outputs, (item) => publisher.publish(item))) as ValueObject;
}

class Publisher {
  private readonly outDir: string;
  private readonly workDir: string;
  private readonly gate: FileGate;
  private readonly mayReplace: ((path: string) => Promise<boolean>) | undefined;
  /** What this run has put there. */
  private readonly written = new Set<string>();
  private readonly onTarget: ((path: string) => void) | undefined;
  /** Where each source went: a file that is in two outputs is there once. */
  private readonly targets = new Map<string, string>();
  /** The number that the next output of a name gets. */
  private readonly next = new Map<string, number>();

  constructor(options: Parameters<typeof publishOutputs>[1]) {
    this.outDir = options.outDir;
    this.workDir = options.workDir;
    this.gate = options.gate;
    this.mayReplace = options.mayReplace;
    this.onTarget = options.onTarget;
  }

  async publish(item: FileOrDirectory): Promise<FileOrDirectory> {
    return await this.publishTo(complete(item, { size: false }), this.outDir);
  }

  private async publishTo(item: FileOrDirectory, folder: string): Promise<FileOrDirectory> {
    const source = localPath(item);
    if (source !== undefined) {
      this.gate.admitPath(source, "code");
    }
    if (source === undefined && !isLiteralLocation(item.location)) {
      // Still remote: nobody asked for its bytes.
      return item;
    }
    const name = item.basename ?? "output";
    const key = `${source ?? item.location}\0${name}\0${folder}`;
    let target = this.targets.get(key);
    if (target === undefined && this.mayReplace !== undefined && source === join(folder, name)) {
      // An input that is an output lies where it goes already.
      target = source;
      this.targets.set(key, target);
      this.written.add(target);
    }
    if (target === undefined) {
      target = await this.free(folder, name);
      this.targets.set(key, target);
      this.onTarget?.(target);
      await this.write(item, source, target);
    }
    const { path: _path, dirname: _dirname, ...rest } = item;
    const moved = {
      ...rest,
      location: fileUri(target),
      basename: target.slice(target.lastIndexOf("/") + 1),
    } as FileOrDirectory;
    if (moved.class === "Directory") {
      return await withChecksums(loadListing(moved, "deep_listing"));
    }
    const { contents: _contents, ...file } = moved;
    return {
      ...complete(source === undefined ? file : moved, { size: true }),
      checksum: await checksumOf(target),
      ...(moved.secondaryFiles === undefined
        ? {}
        : { secondaryFiles: await this.publishAll(moved.secondaryFiles, dirname(target)) }),
    } as FileOrDirectory;
  }

  private async publishAll(items: readonly FileOrDirectory[], folder: string): Promise<FileOrDirectory[]> {
    const result: FileOrDirectory[] = [];
    for (const inner of items) {
      result.push(await this.publishTo(complete(inner, { size: false }), folder));
    }
    return result;
  }

  private async write(item: FileOrDirectory, source: string | undefined, target: string): Promise<void> {
    // What lies in our own working directory goes away soon, so both names may share the bytes; other files are copied.
    const copy = source !== undefined && isInside(source, this.workDir) ? linkOrCopy : copyOrReflink;
    if (source !== undefined) {
      if (item.class === "File") {
        await copy(source, target);
      } else {
        await copyTree(source, target, copy);
      }
    } else if (item.class === "File") {
      writeFileSync(target, item.contents ?? "", { flag: "wx" });
    } else {
      mkdirSync(target);
      for (const inner of item.listing ?? []) {
        await this.publishTo(complete(inner, { size: false }), target);
      }
    }
  }

  /** A name that nothing has yet, or that a file has which may be replaced: `a.txt`, then `a_2.txt`. */
  private async free(folder: string, name: string): Promise<string> {
    const dot = name.lastIndexOf(".");
    const [root, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
    const requested = join(folder, name);
    for (let number = this.next.get(requested) ?? 1; ; number += 1) {
      const path = number === 1 ? requested : join(folder, `${root}_${number}${extension}`);
      const isTaken = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
      const isReplaced = isTaken && !this.written.has(path) && (await this.mayReplace?.(path)) === true;
      if (isReplaced) {
        rmSync(path);
      }
      if (!isTaken || isReplaced) {
        this.next.set(requested, number + 1);
        this.written.add(path);
        return path;
      }
    }
  }
}

async function withChecksums(directory: DirectoryValue): Promise<DirectoryValue> {
  return (await mapListing(directory)) as DirectoryValue;
}

async function mapListing(item: FileOrDirectory): Promise<FileOrDirectory> {
  if (item.class === "File") {
    return { ...item, checksum: await checksumOf(localPath(item) ?? "") };
  }
  const listing: Value[] = [];
  for (const inner of item.listing ?? []) {
    listing.push(await mapListing(inner));
  }
  return { ...item, listing: listing as FileOrDirectory[] };
}
