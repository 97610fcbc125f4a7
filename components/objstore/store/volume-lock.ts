import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;

/** How long a process that is ending may still hold the volume, in milliseconds. */
const TIMEOUT = 1000;

export interface VolumeLock {
  readonly release: () => void;
}

/**
 * Makes this process the only one that writes to a volume. The lock is the system's (a record lock on `lock.db`), so it ends with the
 * process, however that ends, and holds between containers of one machine.
 * @throws {Error} when another process holds it
 */
export function lockVolume(directory: string, timeout = TIMEOUT): VolumeLock {
  const database = new DatabaseSync(join(directory, "lock.db"), { timeout: timeout });
  try {
    database.exec("pragma journal_mode = delete; begin exclusive");
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY) {
      throw new Error(
        `Another process has the volume ${directory} open. Two would destroy each other's objects: end the other one, then start again.`,
        { cause: error },
      );
    }
    throw error;
  }
  return { release: () => database.close() };
}
