import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

import { ArchiveError, readEntries, unpackEntry } from "@swath/archive";

/** Entry that is the last one: a cluster may not pass the end of standard input on. */
const END = "end.swath";
/** What a fresh file system may hold. */
const FRESH = new Set(["lost+found"]);

/**
 * Unpacks the tar stream of standard input into an empty folder and forces it to the disk. Says how many entries there were.
 * @throws {Error} when the folder is not empty or the stream ends before its last entry
 */
export async function unpackInput(folder: string): Promise<void> {
  const found = readdirSync(folder).filter((name) => !FRESH.has(name));
  if (found.length > 0) {
    throw new Error(`${folder} is not empty: it has ${found.slice(0, 3).join(", ")}`);
  }
  let entries = 0;
  for await (const entry of readEntries(process.stdin)) {
    if (entry.name === END) {
      forceToDisk(folder);
      process.stdout.write(`${entries} entries\n`);
      return;
    }
    await unpackEntry(entry, folder);
    entries += 1;
  }
  throw new ArchiveError("the archive ends before its last entry");
}

function forceToDisk(folder: string): void {
  const { status, stderr, error } = spawnSync("sync", ["--file-system", folder], { encoding: "utf8" });
  if (status !== 0) {
    throw new Error(`the files could not be forced to the disk: ${error?.message ?? stderr}`);
  }
}
