import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { RasterError } from "../../errors.ts";
import { type FolderContent, listS3Folder } from "../../sources/s3-source.ts";
import type { SourceLocation } from "../../sources/source.ts";
import { checkCount } from "./check-count.ts";
import { recordOf } from "../cube/record-of.ts";
import { pathOf } from "./location-path.ts";
import { createZarrStore } from "./zarr-store.ts";

/** Groups within groups that are looked into. */
const MAX_DEPTH = 6;
/** Folders of a bucket that are looked into, a request each. */
const MAX_REQUESTS = 200;

/**
 * Paths of arrays below a group whose metadata nothing consolidates: folders of a disk, or of a bucket that may be listed, are looked into.
 * @param path from the root that `location` is of
 * @returns undefined where nothing can be listed
 */
export async function listArrays(
  location: SourceLocation,
  path: string,
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  const waiting = [path];
  for (const [number, folder] of waiting.entries()) {
    const content = await listFolder(location, folder, number, signal);
    if (content === undefined) {
      return undefined;
    }
    const { files, folders } = content;
    const isArray = files.has(".zarray") || (files.has("zarr.json") && (await isArrayOf(location, folder)));
    if (isArray) {
      found.push(folder);
    }
    const isGroup = !isArray && (files.has(".zgroup") || files.has("zarr.json"));
    if (folder === path || (isGroup && folder.split("/").length < MAX_DEPTH)) {
      waiting.push(...folders.map((name) => (folder === "" ? name : `${folder}/${name}`)));
    }
    checkCount(waiting);
  }
  return found;
}

/** Version 3 has the same file for groups and arrays, and a group may be called as the folder of an array's chunks is. */
async function isArrayOf(location: SourceLocation, folder: string): Promise<boolean> {
  const bytes = await createZarrStore(location).get(`/${folder === "" ? "" : `${folder}/`}zarr.json`);
  try {
    return recordOf(JSON.parse(new TextDecoder().decode(bytes)))?.["node_type"] === "array";
  } catch {
    // Not JSON: opening leaves it out.
    return false;
  }
}

async function listFolder(
  location: SourceLocation,
  folder: string,
  number: number,
  signal: AbortSignal | undefined,
): Promise<FolderContent | undefined> {
  switch (location.kind) {
    case "file": {
      const entries = await readdir(join(pathOf(location), folder), { withFileTypes: true });
      const [folders, files] = [true, false].map((isFolder) =>
        entries.filter((entry) => entry.isDirectory() === isFolder).map(({ name }) => name),
      );
      return { files: new Set(files), folders: folders ?? [] };
    }
    case "s3":
      if (number === MAX_REQUESTS) {
        throw new RasterError(
          "too-large",
          `The Zarr data has more than ${MAX_REQUESTS} groups and arrays; consolidate its metadata.`,
        );
      }
      try {
        return await listS3Folder({ ...location, key: [pathOf(location), folder].filter(Boolean).join("/") }, signal);
      } catch (error) {
        if (error instanceof RasterError && (error.code === "forbidden" || error.code === "not-found")) {
          return undefined;
        }
        throw error;
      }
    case "http":
      return undefined;
  }
}
