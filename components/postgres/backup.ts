// Writes the volume as a tar stream to standard output while the server runs: a base backup and the log that it needs.
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { ArchiveWriter } from "@swath/archive";
import { packBaseBackup } from "@swath/postgres/server";
import { defineSettings, loadSettings } from "@swath/service";

const { DATA_DIR, DATABASE_URL } = loadSettings(
  defineSettings({
    DATA_DIR: { kind: "string", description: "Folder that holds the data directory; a volume." },
    DATABASE_URL: { kind: "string", secret: true, description: "The running server, as its superuser." },
  }),
  process.env,
);

const archive = new ArchiveWriter();
const written = pipeline(archive.stream, process.stdout);
await packBaseBackup({ url: DATABASE_URL, data: join(DATA_DIR, "data"), archive, prefix: "data/" });
// What was set up once is known from this; the programs beside it are installed anew.
await archive.addFile(join(DATA_DIR, "set-up.json"), "set-up.json");
archive.end();
await written;
