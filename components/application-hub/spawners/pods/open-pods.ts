import { openAccount } from "@swath/kubernetes/account";
import { openClusterApi } from "@swath/kubernetes/api";
import type { Settings } from "@swath/service";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { hubSettings } from "../../config.ts";
import type { Spawner } from "../spawner.ts";
import { HUB_PORTS } from "./hub-ports.ts";
import { createPodSpawner } from "./pod-spawner.ts";

/** What pulls images of the workspace's own project (the workspace API makes it), whether it is there or not. */
const WORKSPACE_PULL_SECRET = "container-registry";

/** The cluster that the hub runs in, for its servers; undefined where they run on this machine. */
export function openPods(
  settings: Settings<typeof hubSettings>,
): { readonly spawner: Spawner; readonly close: () => Promise<void> } | undefined {
  if (settings.SPAWNER !== "pods") {
    return undefined;
  }
  const api = openClusterApi(openAccount(settings.KUBERNETES_ACCOUNT, settings.KUBERNETES_API));
  const spawner = createPodSpawner({
    api,
    workspacePrefix: settings.WORKSPACE_PREFIX,
    startTimeoutMs: settings.START_TIMEOUT * 1000,
    files: readFiles(),
    surroundings: {
      deployment: settings.DEPLOYMENT,
      image: settings.POD_IMAGE,
      storageClass: settings.HOME_STORAGE_CLASS,
      homeSize: settings.HOME_STORAGE_SIZE,
      hasStorage: settings.S3_URL !== undefined,
      pullSecrets: [WORKSPACE_PULL_SECRET, ...settings.POD_PULL_SECRETS.split(",").map((name) => name.trim())].filter(
        (name) => name !== "",
      ),
      hub: {
        namespace: api.namespace,
        workload: "application-hub",
        proxyWorkload: "application-hub-proxy",
        ...HUB_PORTS,
      },
    },
  });
  return { spawner, close: api.close };
}

/** The clients and the examples. */
function readFiles(): Readonly<Record<string, string>> {
  const root = join(import.meta.dirname, "../..");
  return Object.fromEntries(
    ["clients/python", "clients/javascript", "notebooks"].flatMap((folder) =>
      readdirSync(join(root, folder))
        .filter((name) => /\.(py|js|ipynb)$/.test(name))
        .map((name) => [name, readFileSync(join(root, folder, name), "utf8")] as const),
    ),
  );
}
