import { setTimeout as sleep } from "node:timers/promises";

import { type ArchiveEntry, ArchiveWriter } from "@swath/archive";

import type { Plan } from "../../../platform/plan.ts";
import type { Connection } from "../api/connection.ts";
import { applyObject, deleteObject, readObject } from "../api/objects.ts";
import { runInPod } from "../exec/run-in-pod.ts";
import { KubernetesError } from "../kubernetes-error.ts";
import type { LivePod } from "../pods/live-pod.ts";
import { toPodStatus } from "../pods/pod-status.ts";
import { createWarningReader } from "../pods/warnings.ts";
import { metadata } from "../render/labels.ts";
import { podSecurity, containerSecurity } from "../render/pod.ts";

/** Milliseconds until a volume has been made and its pod has started. */
const TIMEOUT = 180_000;
/** Name that tells the program in the pod that no more comes. */
const END = "end.swath";
const FOLDER = "/data";

/** A volume that is being filled from a backup. */
export interface VolumeFiller {
  readonly add: (entry: ArchiveEntry, name: string) => Promise<void>;
  /** Resolves when everything is on the volume's disk and the pod that wrote it is gone. */
  readonly finish: () => Promise<void>;
}

/** Starts a pod that unpacks what it is given into an empty volume. */
export async function fillVolume(
  connection: Connection,
  plan: Plan,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<VolumeFiller> {
  const pod = renderPod(plan, namespace, name);
  await applyObject(connection, pod);
  await waitUntilReady(connection, pod);
  const archive = new ArchiveWriter();
  const output = await runInPod(connection, {
    namespace,
    pod: pod.metadata.name,
    container: "restore",
    command: ["swath", "unpack", FOLDER],
    input: archive.stream,
  });
  // A program that gives up says so here; whoever writes would wait for ever.
  output.on("error", (error) => archive.destroy(error));
  return {
    add: async (entry, entryName) => {
      await archive.addEntry(entry, entryName);
    },
    finish: async () => {
      const { entries } = archive;
      await archive.addText(END, "");
      archive.end();
      let said = "";
      for await (const chunk of output) {
        said += String(chunk);
      }
      if (said.trim() !== `${entries} entries`) {
        throw new KubernetesError(
          `the volume ${namespace}/${name} was not restored whole: ${said.trim() || "nothing"} of ${entries} entries`,
        );
      }
      await deleteObject(connection, pod);
      await waitUntilGone(connection, pod);
    },
  };
}

type RestorePod = ReturnType<typeof renderPod>;

function renderPod(plan: Plan, namespace: string, volume: string) {
  const { settings } = plan;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata(settings, `restore-${volume}`, namespace, {
        labels: { "app.kubernetes.io/name": `restore-${volume}` },
      }),
      namespace,
    },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 5,
      securityContext: podSecurity,
      containers: [
        {
          name: "restore",
          image: settings.variables.SWATH_IMAGE,
          imagePullPolicy: "IfNotPresent",
          command: ["swath", "idle"],
          resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } },
          securityContext: containerSecurity,
          volumeMounts: [
            { name: "tmp", mountPath: "/tmp" },
            { name: "data", mountPath: FOLDER },
          ],
        },
      ],
      volumes: [
        { name: "tmp", emptyDir: {} },
        { name: "data", persistentVolumeClaim: { claimName: volume } },
      ],
    },
  } as const;
}

async function waitUntilReady(connection: Connection, pod: RestorePod): Promise<void> {
  const readWarning = createWarningReader(connection);
  const deadline = Date.now() + TIMEOUT;
  for (;;) {
    const live = (await readObject(connection, pod)) as unknown as LivePod | undefined;
    if (live?.status?.containerStatuses?.[0]?.ready === true) {
      return;
    }
    if (Date.now() > deadline) {
      const why = live === undefined ? "it is gone" : toPodStatus(live, await readWarning(live)).message;
      throw new KubernetesError(
        `pod ${pod.metadata.namespace}/${pod.metadata.name} does not start: ${why ?? "no reason is known"}`,
      );
    }
    await sleep(500);
  }
}

async function waitUntilGone(connection: Connection, pod: RestorePod): Promise<void> {
  const deadline = Date.now() + TIMEOUT;
  while ((await readObject(connection, pod)) !== undefined) {
    if (Date.now() > deadline) {
      throw new KubernetesError(
        `pod ${pod.metadata.namespace}/${pod.metadata.name} does not go; kubectl describe says why`,
      );
    }
    await sleep(500);
  }
}
