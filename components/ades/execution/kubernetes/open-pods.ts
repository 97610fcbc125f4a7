import type { Executor } from "@swath/cwl";
import { openAccount } from "@swath/kubernetes/account";
import { type ClusterApi, openClusterApi } from "@swath/kubernetes/api";
import { hostname } from "node:os";

import type { AdesSettings } from "../storage.ts";
import { createPodExecutor } from "./pod-executor.ts";
import type { PodSurroundings } from "./pod-spec.ts";
import { type OwnerReference, type Pod, marks } from "./pod-types.ts";
import { pullSecretOf } from "./pull-secret.ts";
import { podsPath } from "./watch-pod.ts";

/** Seconds after which a registry that does not give an image, or a node that cannot start a container, is believed. */
const START_PATIENCE = 90;

/** The cluster that this service runs in. */
export const openPodsApi = (settings: AdesSettings): ClusterApi =>
  openClusterApi(openAccount(settings.KUBERNETES_ACCOUNT, settings.KUBERNETES_API));

/** The executor for tools of one job, as pods beside this service. */
export function createPods(api: ClusterApi, settings: AdesSettings, job: string): Executor {
  return createPodExecutor({
    api,
    patience: { room: settings.POD_PATIENCE, start: START_PATIENCE },
    surroundings: () => findSurroundings(api, settings, job),
  });
}

async function findSurroundings(api: ClusterApi, settings: AdesSettings, job: string): Promise<PodSurroundings> {
  const own = await api.get<Pod>(`${podsPath(api.namespace)}/${hostname()}`);
  const owner = own?.metadata.ownerReferences?.find(({ controller }) => controller === true);
  const workload = own?.metadata.labels?.["app.kubernetes.io/name"];
  const deployment = own?.metadata.labels?.[marks.deployment];
  return {
    namespace: api.namespace,
    claim: settings.POD_VOLUME_CLAIM,
    volumeRoot: settings.DATA_DIR,
    ...(settings.POD_PLACEMENT === "beside" &&
      workload !== undefined && { beside: { "app.kubernetes.io/name": workload } }),
    user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    pullSecrets: [
      ...settings.POD_PULL_SECRETS.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()])),
      ...(settings.REGISTRY_HOST === undefined ? [] : [pullSecretOf(job)]),
    ],
    ...(settings.REGISTRY_HOST !== undefined && { platformRegistry: settings.REGISTRY_HOST.toLowerCase() }),
    ...(settings.POD_DEFAULT_IMAGE !== undefined && { defaultImage: settings.POD_DEFAULT_IMAGE }),
    cpuPercent: settings.POD_CPU_PERCENT,
    maxRamMiB: settings.MAX_RAM_MIB,
    labels: { [marks.job]: job, ...(deployment !== undefined && { [marks.deployment]: deployment }) },
    ...(owner && { owner: toOwner(owner) }),
  };
}

/** With the service's controller, not with its pod: tools go on while the pod is replaced. */
const toOwner = ({ apiVersion, kind, name, uid }: OwnerReference): OwnerReference => ({ apiVersion, kind, name, uid });
