import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";

import type { KubernetesObject, PodTemplate } from "@swath/kubernetes";
import type { PlatformSettings, Workload } from "@swath/manifest";

import type { Connection } from "../api/connection.ts";
import { type LiveObject, applyObject, listObjects, readObject } from "../api/objects.ts";
import type { LivePod } from "../pods/live-pod.ts";
import { selectorOf } from "../render/labels.ts";
import { pullImage, removePullPod } from "./pull-image.ts";

const INTERVAL = 300;
/** Reasons for which a container that is well waits. */
const STARTING = ["ContainerCreating", "PodInitializing"];
/** Label by which a StatefulSet knows which of its definitions a pod has. */
const REVISION = "controller-revision-hash";

interface ReplaceOptions {
  readonly settings: PlatformSettings;
  readonly workload: Workload;
  readonly controller: KubernetesObject;
  readonly signal: AbortSignal;
}

interface StatefulSetStatus {
  readonly observedGeneration?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
}

/**
 * Gives the pods of a StatefulSet another image, before the StatefulSet itself is applied. The image is pulled first. Where it is
 * all that changes, and the environment's Secrets with it, the pod stays and its container alone is started again: whoever owns a
 * volume is away for two or three seconds, rather than for as long as a cluster takes to unmount the volume, make a pod and mount
 * it again. Everything else is left to the StatefulSet.
 */
export async function replaceImage(connection: Connection, options: ReplaceOptions): Promise<void> {
  const { controller, workload, signal } = options;
  const live = await readObject(connection, controller);
  if (live === undefined) {
    return;
  }
  await removePullPod(connection, workload, signal);
  const desired = await applyObject(connection, controller, { dryRun: true });
  const [before, after] = [templateOf(live), templateOf(desired)];
  const image = after.spec.containers[0]?.image;
  if (image === undefined || image === before.spec.containers[0]?.image) {
    return;
  }
  const pods = await listPods(connection, workload);
  for (const node of new Set(pods.map(({ spec }) => spec?.nodeName ?? "").filter(Boolean))) {
    await pullImage(connection, { ...options, image, node, owner: live });
  }
  const { currentRevision, updateRevision } = statusOf(live);
  const isSettled = currentRevision === updateRevision && pods.every((pod) => isServing(pod, currentRevision));
  if (pods.length === 0 || !isSettled || !differInImageOnly(before, after)) {
    return;
  }
  const revision = await announceRevision(connection, controller, pods.length, signal);
  for (const pod of pods) {
    await restartWith(connection, pod, after, revision, signal);
  }
}

/** The new definition, which the StatefulSet gives to no pod yet. @returns its revision */
async function announceRevision(
  connection: Connection,
  controller: KubernetesObject,
  partition: number,
  signal: AbortSignal,
): Promise<string> {
  const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition } };
  const { metadata } = await applyObject(connection, {
    ...controller,
    spec: { ...(controller["spec"] as object), updateStrategy },
  });
  for (;;) {
    const live = await readObject(connection, controller);
    const { observedGeneration = 0, updateRevision = "" } = live === undefined ? {} : statusOf(live);
    if (observedGeneration >= (metadata.generation ?? 1) && updateRevision !== "") {
      return updateRevision;
    }
    await sleep(INTERVAL, undefined, { signal });
  }
}

/** Resolves when the container has been started again and serves, or cannot: then whoever watches the roll-out says why. */
async function restartWith(
  connection: Connection,
  pod: LivePod,
  template: PodTemplate,
  revision: string,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace, uid = "" } = pod.metadata;
  const reference = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace } };
  const { labels, annotations } = template.metadata;
  await applyObject(connection, {
    ...reference,
    // With the identity: a pod that has been replaced meanwhile has the new image already.
    metadata: { ...reference.metadata, uid, labels: { ...labels, [REVISION]: revision }, annotations },
    spec: {
      containers: template.spec.containers.map((container) => ({ name: container.name, image: container.image })),
    },
  } as KubernetesObject);
  const former = pod.status?.containerStatuses?.[0]?.containerID;
  for (;;) {
    const live = (await readObject(connection, reference)) as unknown as LivePod | undefined;
    const container = live?.status?.containerStatuses?.[0];
    const isNew = live?.metadata.uid !== uid || (container !== undefined && container.containerID !== former);
    const { running, waiting } = container?.state ?? {};
    if (isNew && (container?.ready === true || running === undefined)) {
      return;
    }
    if (waiting?.reason !== undefined && !STARTING.includes(waiting.reason)) {
      return;
    }
    await sleep(INTERVAL, undefined, { signal });
  }
}

/** Whether a container that is started again with its new image is all that the new definition asks for. */
export function differInImageOnly(before: PodTemplate, after: PodTemplate): boolean {
  const isSame = isDeepStrictEqual(withoutImages(before), withoutImages(after));
  const names = (labels: Readonly<Record<string, string>> = {}) => Object.keys(labels).toSorted();
  // Labels and annotations can be changed on a pod; what selects pods must not be left behind.
  return isSame && isDeepStrictEqual(names(before.metadata.labels), names(after.metadata.labels));
}

function withoutImages({ spec }: PodTemplate): object {
  return { ...spec, containers: spec.containers.map((container) => ({ ...container, image: "" })) };
}

async function listPods(connection: Connection, { name, namespace }: Workload): Promise<readonly LivePod[]> {
  const labels = Object.entries(selectorOf(name))
    .map((pair) => pair.join("="))
    .join(",");
  const pods = await listObjects(connection, { apiVersion: "v1", kind: "Pod" }, { namespace, labels });
  return pods as unknown as LivePod[];
}

function isServing({ metadata, status }: LivePod, revision: string | undefined): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    metadata.labels?.[REVISION] === revision &&
    status?.containerStatuses?.[0]?.ready === true
  );
}

const templateOf = (object: LiveObject): PodTemplate => (object["spec"] as { readonly template: PodTemplate }).template;

const statusOf = (object: LiveObject): StatefulSetStatus => (object["status"] ?? {}) as StatefulSetStatus;
