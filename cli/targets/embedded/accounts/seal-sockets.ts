import { chownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { Account } from "./plan-accounts.ts";

const ROOT = 0;

/**
 * Takes the folder of a pod's sockets away from its account, once it listens on all of them. A service that is taken over later can
 * then neither remove a socket nor put a link in its place, by which another service would connect elsewhere with its own rights.
 * @throws {Error} when something else than the account's own sockets is in the folder
 */
export function sealSockets(directory: string, { uid }: Pick<Account, "uid">): void {
  chownSync(directory, ROOT, ROOT);
  // Looked at afterwards: from here on only root changes it.
  for (const name of readdirSync(directory)) {
    const info = lstatSync(join(directory, name));
    if (!info.isSocket() || info.uid !== uid) {
      throw new Error(`${name} in the folder of its sockets is not a socket that its account made`);
    }
  }
}
