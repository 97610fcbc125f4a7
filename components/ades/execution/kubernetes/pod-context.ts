import type { Executor } from "@swath/cwl";
import { parseLabels, parseToleration } from "@swath/kubernetes";
import { openAccount } from "@swath/kubernetes/account";
import { type ClusterApi, openClusterApi } from "@swath/kubernetes/api";
import { lookup } from "node:dns/promises";
import { hostname } from "node:os";

import { openStepFiles, usesObjectStore } from "../../step-files/open-step-files.ts";
import type { AdesSettings } from "../storage.ts";
import { createPodExecutor } from "./pod-executor.ts";
import type { FileTransfer, PodContext, PodPlacement } from "./pod-spec.ts";
import { type OwnerReference, type Pod, podKeys } from "./pod-types.ts";
import { pullSecretOf } from "./pull-secret.ts";
import { podsPath } from "./watch-pod.ts";

/** Seconds after which a registry that does not give an image, or a node that cannot start a container, is believed. */
const START_TIMEOUT = 90;

/** The cluster that this service runs in. */
export const openPodsApi = (settings: AdesSettings): ClusterApi =>
  openClusterApi(openAccount(settings.KUBERNETES_ACCOUNT, settings.KUBERNETES_API));

/** The executor for tools of one job, as pods beside this service. */
export function createPods(api: ClusterApi, settings: AdesSettings, job: string): Executor {
  return createPodExecutor({
    api,
    timeouts: { room: settings.POD_PATIENCE, start: START_TIMEOUT },
    podContext: () => findPodContext(api, settings, job),
  });
}

async function findPodContext(api: ClusterApi, settings: AdesSettings, job: string): Promise<PodContext> {
  const own = await api.get<Pod>(`${podsPath(api.namespace)}/${hostname()}`);
  const owner = own?.metadata.ownerReferences?.find(({ controller }) => controller === true);
  const workload = own?.metadata.labels?.["app.kubernetes.io/name"];
  const deployment = own?.metadata.labels?.[podKeys.deployment];
  return {
    namespace: api.namespace,
    claim: settings.POD_VOLUME_CLAIM,
    volumeRoot: settings.DATA_DIR,
    ...(usesObjectStore(settings) && { transfer: await openTransfer(api, settings, job, own) }),
    ...(settings.POD_PLACEMENT === "beside" &&
      !usesObjectStore(settings) &&
      workload !== undefined && { beside: { "app.kubernetes.io/name": workload } }),
    user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    placement: findPlacement(settings),
    pullSecrets: [
      ...settings.POD_PULL_SECRETS.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()])),
      ...(settings.REGISTRY_HOST === undefined ? [] : [pullSecretOf(job)]),
    ],
    ...(settings.REGISTRY_HOST !== undefined && { platformRegistry: settings.REGISTRY_HOST.toLowerCase() }),
    ...(settings.POD_DEFAULT_IMAGE !== undefined && { defaultImage: settings.POD_DEFAULT_IMAGE }),
    cpuPercent: settings.POD_CPU_PERCENT,
    maxRamMiB: settings.MAX_RAM_MIB,
    labels: { [podKeys.job]: job, ...(deployment !== undefined && { [podKeys.deployment]: deployment }) },
    ...(owner && { owner: toOwner(owner) }),
  };
}

function findPlacement(settings: AdesSettings): PodPlacement {
  const {
    POD_NODE_SELECTOR: nodes,
    POD_TOLERATIONS: taints,
    POD_PRIORITY_CLASS: priority,
    POD_QUEUE: queue,
  } = settings;
  return {
    ...(nodes !== undefined && { nodeSelector: parseLabels(nodes) }),
    ...(taints !== undefined && { tolerations: taints.split(",").map(parseToleration) }),
    ...(priority !== undefined && { priorityClass: priority }),
    ...(queue !== undefined && { queue }),
  };
}

async function openTransfer(
  api: ClusterApi,
  settings: AdesSettings,
  job: string,
  own: Pod | undefined,
): Promise<FileTransfer> {
  // The containers beside the tools are this program's own, in this version.
  const image = own?.spec?.containers[0]?.image ?? settings.POD_DEFAULT_IMAGE;
  if (settings.STEP_FILES_URL === undefined || image === undefined) {
    throw new Error("files of steps go through the object storage (POD_FILES), which needs STEP_FILES_URL");
  }
  return {
    files: openStepFiles(settings, api, job),
    image,
    agentUrl: await resolveHost(settings.STEP_FILES_URL),
    job,
    maxDiskMiB: settings.MAX_DISK_MIB,
  };
}

/** The URL by address: pods without network cannot resolve names, and their containers for files share their network. */
async function resolveHost(text: string): Promise<string> {
  const url = new URL(text);
  const { address, family } = await lookup(url.hostname);
  url.hostname = family === 6 ? `[${address}]` : address;
  return url.origin;
}

/** With the service's controller, not with its pod: tools go on while the pod is replaced. */
const toOwner = ({ apiVersion, kind, name, uid }: OwnerReference): OwnerReference => ({ apiVersion, kind, name, uid });
