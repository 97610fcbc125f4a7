import { lstatSync, mkdirSync } from "node:fs";

/**
 * Makes a folder that only this process's user can enter, or takes one that is so already. Below `/tmp` another user may have made it
 * first, open to all, or a link to elsewhere.
 * @throws {Error} for one of another user, one that others may write, and anything that is no folder
 */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const info = lstatSync(path);
  const uid = process.getuid?.();
  const fault = !info.isDirectory()
    ? "it is no folder"
    : uid !== undefined && info.uid !== uid
      ? `it belongs to the user with number ${info.uid}`
      : (info.mode & 0o022) !== 0
        ? "other users may write in it"
        : undefined;
  if (fault !== undefined) {
    throw new Error(`${path} cannot be used: ${fault}. Remove it, or ask its owner to, and start again.`);
  }
}
