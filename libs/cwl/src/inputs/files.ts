import { randomUUID } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { CwlError, messageOf } from "../errors.ts";
import { nameInAddress } from "../load/name-in-address.ts";
import { filePath, fileUri } from "../load/uri.ts";
import type { CwlVersion } from "../model/process.ts";
import type { LoadListing } from "../model/types.ts";
import type { DirectoryValue, FileOrDirectory, FileValue } from "../model/values.ts";

export const contentsLimit = 64 * 1024;

/** Location of something that exists only as a value: a literal. Marks it uniquely for the length of a run. */
export function isLiteralLocation(location: string | undefined): boolean {
  return location === undefined || location.startsWith("_:");
}

/** Local path of a File or Directory; undefined for literals and for what is still to be fetched. */
export function localPath(item: FileOrDirectory): string | undefined {
  return item.location === undefined ? undefined : filePath(item.location);
}

/** Fills in what follows from the location: basename, nameroot, nameext, and the size when asked. */
export function completeFile(file: FileValue, options: { size: boolean }): FileValue {
  const path = localPath(file);
  const name = file.basename ?? nameOf(file);
  checkName(name);
  const literal = isLiteralLocation(file.location);
  if (literal && typeof file.contents !== "string") {
    throw new CwlError("invalid-inputs", `the File "${name}" has neither a location nor contents`);
  }
  const { path: _path, dirname: _dirname, ...rest } = file;
  return {
    ...rest,
    class: "File",
    location: literal ? (file.location ?? `_:${randomUUID()}`) : file.location,
    basename: name,
    ...splitName(name),
    ...(literal
      ? { size: Buffer.byteLength(file.contents ?? "") }
      : options.size && path !== undefined
        ? { size: fileSize(path) }
        : {}),
    ...(file.secondaryFiles === undefined
      ? {}
      : { secondaryFiles: file.secondaryFiles.map((item) => complete(item, { size: options.size })) }),
  };
}

export function completeDirectory(directory: DirectoryValue, options: { size: boolean }): DirectoryValue {
  const literal = isLiteralLocation(directory.location);
  const name = directory.basename ?? (literal ? randomUUID() : nameOf(directory));
  checkName(name);
  if (literal && directory.listing === undefined) {
    throw new CwlError("invalid-inputs", `the Directory "${name}" has neither a location nor a listing`);
  }
  const path = localPath(directory);
  if (options.size && path !== undefined && !isDirectoryAt(path)) {
    throw new CwlError("invalid-inputs", `${path} is not a directory that can be read`);
  }
  const { path: _path, dirname: _dirname, ...rest } = directory;
  return {
    ...rest,
    class: "Directory",
    location: literal ? (directory.location ?? `_:${randomUUID()}`) : directory.location,
    basename: name,
    ...(directory.listing === undefined
      ? {}
      : { listing: directory.listing.map((item) => complete(item, { size: options.size })) }),
  };
}

export function complete(item: FileOrDirectory, options: { size: boolean }): FileOrDirectory {
  return item.class === "File" ? completeFile(item, options) : completeDirectory(item, options);
}

export function splitName(name: string): { nameroot: string; nameext: string } {
  const nameext = extname(name);
  return { nameroot: nameext === "" ? name : name.slice(0, -nameext.length), nameext };
}

function nameOf(item: FileOrDirectory): string {
  if (isLiteralLocation(item.location)) {
    return randomUUID();
  }
  const path = localPath(item);
  if (path !== undefined) {
    return basename(path);
  }
  const { pathname } = new URL(item.location ?? "");
  return basename(nameInAddress(pathname.replace(/\/+$/, ""))) || "download";
}

function checkName(name: string): void {
  if (name === "" || name === "." || name === ".." || name.includes("/") || name.includes("\0")) {
    throw new CwlError("unsafe", `${JSON.stringify(name)} cannot be the basename of a File or Directory`);
  }
}

function fileSize(path: string): number {
  let info;
  try {
    info = statSync(path);
  } catch (error) {
    throw new CwlError("invalid-inputs", `the file ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  if (!info.isFile()) {
    throw new CwlError("invalid-inputs", `${path} is not a file`);
  }
  return info.size;
}

function isDirectoryAt(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Text of a File of at most 64 KiB. From v1.2 on a larger one is an error; before, the text was cut.
 */
export async function loadContents(file: FileValue, version: CwlVersion): Promise<string> {
  if (isLiteralLocation(file.location) && file.contents !== undefined) {
    return file.contents;
  }
  const path = localPath(file);
  if (path === undefined) {
    throw new CwlError("reference", `${file.location} has to be fetched before its contents can be loaded`);
  }
  const handle = await open(path);
  try {
    const buffer = Buffer.alloc(contentsLimit + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) {
        break;
      }
      length += bytesRead;
    }
    if (length > contentsLimit && version >= "v1.2") {
      throw new CwlError("process-failed", `loadContents: ${path} is larger than 64 KiB`);
    }
    return buffer.toString("utf8", 0, Math.min(length, contentsLimit));
  } finally {
    await handle.close();
  }
}

const listingLimit = 1_000_000;

/** Fills `listing` from the file system, or takes it away for no_listing. Literal directories keep theirs. */
export function loadListing(directory: DirectoryValue, how: LoadListing): DirectoryValue {
  const path = localPath(directory);
  if (path === undefined) {
    return directory;
  }
  if (how === "no_listing") {
    const { listing: _listing, ...rest } = directory;
    return rest;
  }
  return { ...directory, listing: listDirectory(path, how === "deep_listing", { count: 0 }) };
}

function listDirectory(path: string, deep: boolean, seen: { count: number }): FileOrDirectory[] {
  const names = readdirSync(path).sort();
  return names.flatMap((name): FileOrDirectory[] => {
    seen.count += 1;
    if (seen.count > listingLimit) {
      throw new CwlError("limit", `the directory ${path} holds more than ${listingLimit} entries`);
    }
    const full = join(path, name);
    const info = statSync(full, { throwIfNoEntry: false });
    if (info?.isDirectory() === true) {
      return [
        {
          class: "Directory",
          location: fileUri(full),
          basename: name,
          ...(deep ? { listing: listDirectory(full, true, seen) } : {}),
        },
      ];
    }
    return info?.isFile() === true
      ? [{ class: "File", location: fileUri(full), basename: name, ...splitName(name), size: info.size }]
      : [];
  });
}
