import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** Where programs of the system are installed; nothing else of this service's environment is used for them. */
export const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The first program of one of these names; a name with a slash is a path. */
export function findProgram(names: readonly string[], path = SYSTEM_PATH): string | undefined {
  return names
    .flatMap((name) => (name.includes("/") ? [name] : path.split(":").map((folder) => join(folder, name))))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
