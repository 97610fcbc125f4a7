// Writes the homes of users as a tar stream to standard output while the hub runs. Files that change meanwhile are taken as they
// are when their turn comes, as with any copy of a home in use.
import { pipeline } from "node:stream/promises";

import { ArchiveWriter } from "@swath/archive";
import { defineSettings, loadSettings } from "@swath/service";

const { DATA_DIR } = loadSettings(
  defineSettings({ DATA_DIR: { kind: "string", description: "Folder of the users' homes." } }),
  process.env,
);

const archive = new ArchiveWriter();
const written = pipeline(archive.stream, process.stdout);
await archive.addFolder(DATA_DIR);
archive.end();
await written;
