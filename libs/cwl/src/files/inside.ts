import { posix } from "node:path";

/** Whether a normalized absolute path is a directory or below it. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/** Joins a relative path to a directory; undefined when it would leave it. */
export function joinInside(directory: string, relative: string): string | undefined {
  const path = posix.normalize(posix.join(directory, relative)).replace(/(?<=.)\/$/, "");
  return !relative.includes("\0") && isInside(path, directory) ? path : undefined;
}
