// Writes the volume as a tar stream to standard output while the service runs.
import { rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

import { ArchiveWriter } from "@swath/archive";
import { defineSettings, loadSettings } from "@swath/service";

import { makeBackupCopy } from "./store/snapshots/backup-copy.ts";

const { DATA_DIR } = loadSettings(
  defineSettings({ DATA_DIR: { kind: "string", description: "Directory of the volume that holds index and content" } }),
  process.env,
);

const { copy, missing } = await makeBackupCopy(DATA_DIR);
try {
  for (const id of missing) {
    process.stderr.write(`content file ${id} is lost on the disk and not in the copy; objects of it cannot be read\n`);
  }
  const archive = new ArchiveWriter();
  const written = pipeline(archive.stream, process.stdout);
  await archive.addFolder(copy);
  archive.end();
  await written;
} finally {
  await rm(copy, { recursive: true, force: true });
}
