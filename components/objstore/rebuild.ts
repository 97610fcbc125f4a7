// Makes a new index for a volume whose index is lost or damaged: DATA_DIR=<volume> node rebuild.ts
import { defineSettings, loadSettings } from "@swath/service";

import { rebuildIndex } from "./store/rebuild/rebuild-index.ts";

const { DATA_DIR } = loadSettings(
  defineSettings({ DATA_DIR: { kind: "string", description: "Directory of the volume that holds index and content" } }),
  process.env,
);

const { journal, salvaged, found, strange, lost, short, setAside } = await rebuildIndex(DATA_DIR);
if (journal !== undefined) {
  const until = journal.until === undefined ? "" : `, the last change of ${new Date(journal.until).toISOString()}`;
  process.stdout.write(`the journal gave back ${journal.versions} versions${until}\n`);
}
if (journal?.isDamaged !== false) {
  process.stdout.write(
    `${journal === undefined ? "there is no journal that can be read" : "the journal is damaged after that"}: ${salvaged} versions were read from the old index, ${found} from content files; what was deleted or moved may be among them\n`,
  );
}
if (lost.length > 0) {
  process.stdout.write(`not whole in the old index: ${lost.join(", ")}\n`);
}
for (const { bucket, objects, bytes } of short) {
  process.stdout.write(
    `bucket ${bucket}: ${objects} objects and ${bytes} bytes fewer than were counted last; objects of up to 32 KiB lived in the lost part of the index: restore them from a backup\n`,
  );
}
if (strange > 0) {
  process.stdout.write(
    `${strange} content files belong to no object that is known; they are in ${DATA_DIR}/lost+found\n`,
  );
}
process.stdout.write(
  `The new index is made${setAside === undefined ? "" : `; the old one is in ${setAside}`}. Start the object store again: swath start\n`,
);
