import { openAccount } from "@swath/kubernetes/account";
import { openClusterApi } from "@swath/kubernetes/api";
import { runService } from "@swath/service";
import { hostname } from "node:os";
import { Counter, Gauge } from "prom-client";

import { toCredentials } from "../bucket-keys/access-key.ts";
import { podsPath } from "../execution/kubernetes/watch-pod.ts";
import { createBlobStore } from "../step-files/blob-store.ts";
import { createAgentServer } from "./agent-server.ts";
import { BlobCache } from "./blob-cache.ts";
import { settings as definitions } from "./config.ts";
import { EndedTools } from "./ended-tools.ts";

await runService({
  name: "ades-blobs",
  settings: definitions,
  build: async ({ settings, logger, metrics }) => {
    const registers = [metrics];
    const fetched = new Counter({
      name: "processing_blobs_fetched_total",
      help: "Files of steps that were fetched from the object storage",
      registers,
    });
    const fetchedBytes = new Counter({
      name: "processing_blob_fetched_bytes_total",
      help: "Bytes of them",
      registers,
    });
    const hits = new Counter({
      name: "processing_blob_cache_hits_total",
      help: "Files of steps that were on the node already",
      registers,
    });
    const storedBytes = new Counter({
      name: "processing_blob_stored_bytes_total",
      help: "Bytes of outputs of steps that were stored",
      registers,
    });
    const store = createBlobStore(
      {
        endpoint: settings.S3_ENDPOINT,
        region: settings.S3_REGION,
        bucket: settings.STEP_FILES_BUCKET,
        credentials: toCredentials(settings.S3_ACCESS_KEY, settings.S3_SECRET_KEY),
      },
      { connections: 32, stallSeconds: 60 },
    );
    const cache = new BlobCache(settings.CACHE_DIR, settings.CACHE_MIB * 2 ** 20, store, {
      onFetch: (bytes) => {
        fetched.inc();
        fetchedBytes.inc(bytes);
      },
      onHit: () => hits.inc(),
    });
    await cache.open();
    new Gauge({
      name: "processing_blob_cache_bytes",
      help: "Bytes that the node's cache holds",
      registers,
      collect() {
        this.set(cache.bytes);
      },
    });
    const api = openClusterApi(openAccount(settings.KUBERNETES_ACCOUNT, settings.KUBERNETES_API));
    const own = await api.get<{ readonly spec: { readonly nodeName: string } }>(
      `${podsPath(api.namespace)}/${hostname()}`,
    );
    if (own === undefined) {
      throw new Error(`this pod (${hostname()}) is not in the namespace ${api.namespace}`);
    }
    const tools = new EndedTools(api, own.spec.nodeName, logger);
    tools.start();
    const server = createAgentServer({
      store,
      cache,
      tools,
      secrets: [settings.STEP_FILES_SECRET, settings.STEP_FILES_SECRET_ALSO],
      logger,
      onStored: (bytes) => storedBytes.inc(bytes),
    });
    return {
      servers: { http: server },
      ready: async () => {
        if (!tools.isWatching) {
          throw new Error("the tools' pods are not watched yet");
        }
      },
      close: async () => {
        tools.stop();
        await store.close();
        await api.close();
      },
    };
  },
});
