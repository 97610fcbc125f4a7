import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Gives the work a folder that its user alone can read, and removes it when the work or this process ends, by Ctrl-C too.
 * @param name of the command that needs it, for those who look into /tmp
 */
export async function withTemporaryFolder<T>(name: string, work: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `swath-${name}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const stop = () => process.exit(130);
  process.once("exit", remove);
  process.once("SIGINT", stop).once("SIGTERM", stop).once("SIGHUP", stop);
  try {
    return await work(folder);
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop).off("SIGHUP", stop);
    process.off("exit", remove);
    remove();
  }
}
