import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

import type { AppsV1Api, AuthorizationV1Api, CoreV1Api, KubeConfig, VersionApi } from "@kubernetes/client-node";

import { loadClient } from "../client/load-client.ts";
import { KubernetesError } from "../kubernetes-error.ts";
import { type ObjectApi, createObjectApi } from "./object-api.ts";

/** Which cluster a deployment is on. */
export interface ClusterAddress {
  /** Context of the kubeconfig; its current one when left out. */
  readonly context?: string;
  /** Value of KUBECONFIG; `~/.kube/config` when left out. */
  readonly kubeconfig?: string;
}

/** Clients of one cluster's API. */
export interface Connection {
  readonly context: string;
  readonly server: string;
  readonly config: KubeConfig;
  readonly objects: ObjectApi;
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly authorization: AuthorizationV1Api;
  readonly version: VersionApi;
}

/**
 * Opens the cluster of a context. Nothing is sent yet.
 * @throws {KubernetesError} when there is no kubeconfig, no such context in it, or no client library
 */
export async function connect({ context, kubeconfig }: ClusterAddress): Promise<Connection> {
  const files = listConfigFiles(kubeconfig);
  const client = await loadClient();
  const config = loadConfig(files, client.KubeConfig);
  const name = context ?? config.getCurrentContext();
  if (!name || config.getContextObject(name) === null) {
    const known = config.getContexts().map((one) => one.name);
    throw new KubernetesError(
      `${name ? `the kubeconfig has no context "${name}"` : "the kubeconfig has no current context"}; it has: ${known.join(", ") || "none"} (kubectl config use-context NAME)`,
    );
  }
  config.setCurrentContext(name);
  return {
    context: name,
    server: config.getCurrentCluster()?.server ?? "",
    config,
    objects: createObjectApi(config),
    core: config.makeApiClient(client.CoreV1Api),
    apps: config.makeApiClient(client.AppsV1Api),
    authorization: config.makeApiClient(client.AuthorizationV1Api),
    version: config.makeApiClient(client.VersionApi),
  };
}

/** At least one. */
function listConfigFiles(kubeconfig: string | undefined): readonly string[] {
  const files = (kubeconfig || join(homedir(), ".kube/config")).split(delimiter).filter((file) => existsSync(file));
  if (files.length === 0) {
    throw new KubernetesError(
      kubeconfig
        ? `the kubeconfig that KUBECONFIG names does not exist: ${kubeconfig}`
        : "there is no kubeconfig (~/.kube/config, or the file that KUBECONFIG names), so no cluster is known",
    );
  }
  return files;
}

function loadConfig([first = "", ...others]: readonly string[], Config: typeof KubeConfig): KubeConfig {
  const config = new Config();
  try {
    config.loadFromFile(first);
    for (const file of others) {
      const more = new Config();
      more.loadFromFile(file);
      config.mergeConfig(more, true);
    }
  } catch (cause) {
    throw new KubernetesError(`the kubeconfig cannot be read: ${(cause as Error).message}`, { cause });
  }
  return config;
}
