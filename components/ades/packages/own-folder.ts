import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

/** A folder of this process for a moment, below the folder of jobs' data. Remove it. */
export async function makeOwnFolder(dataFolder: string): Promise<string> {
  const folder = join(dataFolder, "packages");
  await mkdir(folder, { recursive: true });
  return mkdtemp(join(folder, `${hostname()}.${process.pid}.`));
}

/** Removes folders of processes of this machine that have ended, or that had the number of this one. */
export async function removeFormerFolders(dataFolder: string): Promise<void> {
  const folder = join(dataFolder, "packages");
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(`${hostname()}.`))) {
    const pid = Number(name.slice(hostname().length + 1).split(".", 1)[0]);
    if (pid === process.pid || !isAlive(pid)) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
