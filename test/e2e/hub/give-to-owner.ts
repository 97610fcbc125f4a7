import { chownSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** Gives what a test put below a folder to the account that the folder is of, from its topmost new part on. */
export function giveToOwner(folder: string, path: string): void {
  const { uid, gid } = statSync(folder);
  for (let part = path; part !== folder; part = dirname(part)) {
    chownSync(part, uid, gid);
  }
  for (const name of readdirSync(path)) {
    chownSync(join(path, name), uid, gid);
  }
}
