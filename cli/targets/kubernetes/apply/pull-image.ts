import { setTimeout as sleep } from "node:timers/promises";

import type { JsonValue } from "@swath/kubernetes";
import type { PlatformSettings, Workload } from "@swath/manifest";

import type { Connection } from "../api/connection.ts";
import { type LiveObject, applyObject, deleteObject, readObject } from "../api/objects.ts";
import type { LivePod } from "../pods/live-pod.ts";
import { metadata } from "../render/labels.ts";
import { renderPlacement } from "../render/placement.ts";
import { containerSecurity, podSecurity } from "../render/pod.ts";

const INTERVAL = 300;

interface PullOptions {
  readonly settings: PlatformSettings;
  readonly workload: Workload;
  readonly image: string;
  readonly node: string;
  /** What the pod goes with, should this process end before it is taken away. */
  readonly owner: LiveObject;
  readonly signal: AbortSignal;
}

/**
 * Brings an image to a node while the old one still serves: a pod of the image that does nothing, shown among the others. One
 * that cannot be pulled is told there, and whoever waits gives up before anything has been stopped.
 */
export async function pullImage(connection: Connection, options: PullOptions): Promise<void> {
  const pod = renderPullPod(options);
  const made = await applyObject(connection, pod);
  try {
    for (;;) {
      const live = (await readObject(connection, pod)) as unknown as LivePod | undefined;
      const phase = live?.status?.phase;
      // A pod that failed had its image, or its node has no room for it and pulls the image later.
      if (live === undefined || phase === "Succeeded" || phase === "Failed") {
        return;
      }
      await sleep(INTERVAL, undefined, { signal: options.signal });
    }
  } finally {
    await deleteObject(connection, made);
  }
}

/** Takes away what an apply left that was killed: it says nothing of the image that is wanted now, and waits for its own for ever. */
export async function removePullPod(
  connection: Connection,
  { name, namespace }: Workload,
  signal: AbortSignal,
): Promise<void> {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: pullPodOf(name), namespace } };
  for (let live = await readObject(connection, pod); live !== undefined; live = await readObject(connection, pod)) {
    await deleteObject(connection, live);
    await sleep(INTERVAL, undefined, { signal });
  }
}

const pullPodOf = (workload: string): string => `${workload}-image`;

function renderPullPod({ settings, workload, image, node, owner }: PullOptions) {
  const { imagePullSecrets, tolerations, priorityClassName } = renderPlacement(settings, workload);
  const { apiVersion, kind, metadata: of } = owner;
  const name = pullPodOf(workload.name);
  const spec: JsonValue = {
    nodeName: node,
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 0,
    securityContext: podSecurity,
    imagePullSecrets,
    tolerations,
    priorityClassName,
    containers: [
      {
        name: "image",
        image,
        imagePullPolicy: "IfNotPresent",
        command: ["/bin/sh", "-c", "exit 0"],
        resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } },
        securityContext: containerSecurity,
      },
    ],
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata(settings, name, workload.namespace, { labels: { "app.kubernetes.io/name": name } }),
      ownerReferences: [{ apiVersion, kind, name: of.name, uid: of.uid ?? "" }],
    },
    spec,
  };
}
