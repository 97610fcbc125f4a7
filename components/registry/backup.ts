// Writes the volume as a tar stream to standard output while the service runs.
import { pipeline } from "node:stream/promises";

import { ArchiveWriter } from "@swath/archive";
import { defineSettings, loadSettings } from "@swath/service";

const { DATA_DIR } = loadSettings(
  defineSettings({ DATA_DIR: { kind: "string", description: "Folder of the volume that holds the content." } }),
  process.env,
);

// Content is only ever added and deleted, never changed, so the files are copied as they are. The database was copied before, so
// whatever its rows name has been there; uploads under way are cut to what the database knows of them.
const archive = new ArchiveWriter();
const written = pipeline(archive.stream, process.stdout);
await archive.addFolder(DATA_DIR);
archive.end();
await written;
