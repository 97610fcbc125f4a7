import { existsSync, lstatSync, realpathSync } from "node:fs";
import { isInside } from "../files/inside.ts";
import type { LoadedDocument } from "../load/load.ts";
import { filePath } from "../load/uri.ts";
import { isObject } from "../model/values.ts";

/**
 * Which files an output may replace: those that lie where it goes, as those of an earlier run do, but neither inputs of this
 * run nor documents that it is made of. Directories are never replaced.
 */
export function replaceable(inputs: unknown, document: LoadedDocument): (path: string) => boolean {
  const kept = new Set<string>();
  collectPaths(inputs, kept);
  for (const uri of document.store?.read() ?? []) {
    addPath(uri, kept);
  }
  return (path) => {
    const stats = lstatSync(path);
    return (stats.isFile() || stats.isSymbolicLink()) && ![...kept].some((item) => isInside(path, item));
  };
}

function collectPaths(value: unknown, kept: Set<string>): void {
  if (Array.isArray(value)) {
    value.forEach((item) => collectPaths(item, kept));
  } else if (isObject(value)) {
    for (const location of [value["location"], value["path"]]) {
      if (typeof location === "string") {
        addPath(location, kept);
      }
    }
    Object.values(value).forEach((item) => collectPaths(item, kept));
  }
}

/** By its name and, where it is a link, by what that leads to. */
function addPath(location: string, kept: Set<string>): void {
  const path = location.startsWith("/") ? location : filePath(location);
  if (path !== undefined) {
    kept.add(path);
    if (existsSync(path)) {
      kept.add(realpathSync(path));
    }
  }
}
