// Removes kept pictures from the object storage: see `swath data-access purge`.
import { defineSettings, loadSettings } from "@swath/service";

import { createAddressedStore } from "./tiles/purge-pictures.ts";
import { showProgress } from "./tiles/show-progress.ts";

const settings = loadSettings(
  defineSettings({
    PURGE_URL: { kind: "url", description: "The object storage" },
    PURGE_ADDRESS: { kind: "string", optional: true, description: "IP address of its host, where no DNS knows it" },
    PURGE_REGION: { kind: "string", default: "us-east-1", description: "Its region" },
    PURGE_ACCESS_KEY: { kind: "string", description: "Key that may delete there" },
    PURGE_SECRET_KEY: { kind: "string", secret: true, description: "Its secret" },
    PURGE_BUCKET: { kind: "string", default: "data-access-tiles", description: "Bucket of the pictures" },
    PURGE_LAYER: { kind: "string", optional: true, description: "Pictures of this layer alone" },
  }),
  process.env,
);

const store = createAddressedStore({
  url: settings.PURGE_URL,
  address: settings.PURGE_ADDRESS,
  region: settings.PURGE_REGION,
  accessKeyId: settings.PURGE_ACCESS_KEY,
  secretAccessKey: settings.PURGE_SECRET_KEY,
  bucket: settings.PURGE_BUCKET,
});
const names = await store.list(settings.PURGE_LAYER);
const progress = showProgress("pictures removed", names.length);
for (const name of names) {
  await store.remove(name);
  progress.step();
}
progress.finish("");
await store.close();
