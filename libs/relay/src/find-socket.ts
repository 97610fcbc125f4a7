import { closeSync, constants, fstatSync, openSync } from "node:fs";

/** Linux: names a file without opening it (open(2)); Node.js does not know it. */
const O_PATH = 0o10000000;

/** A socket that was looked at: what is connected to is exactly that, whatever its path has become since. */
export interface FoundSocket {
  readonly path: string;
  readonly close: () => void;
}

/**
 * Finds a socket by its path without following a link in its place: connecting to a path follows links, with the rights of the
 * service that connects.
 * @throws {Error} ELOOP for a link, ENOENT, and ENOTSOCK for anything else
 */
export function findSocket(path: string): FoundSocket {
  const descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW);
  const info = fstatSync(descriptor);
  if (!info.isSocket()) {
    closeSync(descriptor);
    const code = info.isSymbolicLink() ? "ELOOP" : "ENOTSOCK";
    throw Object.assign(new Error(`${code}: ${path} is no socket`), { code });
  }
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) };
}
