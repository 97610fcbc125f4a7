import { CwlError, type JobSpec, type Mount } from "@swath/cwl";
import type { Toleration } from "@swath/kubernetes";
import { realpathSync } from "node:fs";
import { relative } from "node:path";

import type { StepFiles, StepFolder } from "../../step-files/step-files.ts";
import { CONTAINER, OBJECT_STORE, type OwnerReference, podKeys } from "./pod-types.ts";
import { createStepContainers, stepVolumes } from "./step-containers.ts";

/** What all pods of one service have in common. */
export interface PodContext {
  readonly namespace: string;
  /** Volume claim with the jobs' files, and the folder at which it is mounted here. */
  readonly claim: string;
  /** How files reach the pods where they do not mount the claim. */
  readonly transfer?: FileTransfer;
  readonly volumeRoot: string;
  /** Labels of a pod on whose node the pods have to be; left out where every node can mount the volume. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Who the tools are: the owner of the jobs' files. */
  readonly user: { readonly uid: number; readonly gid: number };
  readonly placement: PodPlacement;
  readonly pullSecrets: readonly string[];
  /** Host of the platform's registry, whose images are for those who may pull them. */
  readonly platformRegistry?: string;
  readonly defaultImage?: string;
  readonly cpuPercent: number;
  /** Memory limit of tools that neither they nor the run gives one. */
  readonly maxRamMiB: number;
  /** Further labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** What the pods go away with. */
  readonly owner?: OwnerReference;
}

/** Which nodes the pods run on, and when it is their turn. */
export interface PodPlacement {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
  readonly priorityClass?: string;
  /** LocalQueue of Kueue that the pods wait in; without Kueue in the cluster it is a label that nobody reads. */
  readonly queue?: string;
}

/** Files go through the object storage: each pod has volumes of its own, and containers that fill and empty them. */
export interface FileTransfer {
  readonly files: StepFiles;
  /** Image of the containers beside the tool. */
  readonly image: string;
  /** The node's blob agent. */
  readonly agentUrl: string;
  readonly job: string;
  /** Most that one volume of a pod holds, where the tool asks for no less. */
  readonly maxDiskMiB: number;
}

/** Memory that the cluster keeps free for a tool that asks for none: what CWL says it gets. */
const USUAL_RAM_MIB = 256;
/** Below this no container starts. */
const MIN_LIMIT_MIB = 16;
const RUN_OF_JOB = /^(.*)-\d+$/;

/** The run that a job of the engine belongs to. */
export const runOf = (jobId: string): string => RUN_OF_JOB.exec(jobId)?.[1] ?? jobId;

/** The image that a tool runs in. */
export function imageOf({ name, container }: JobSpec, defaultImage: string | undefined): string {
  if (container === undefined) {
    if (defaultImage === undefined) {
      throw new CwlError(
        "unsupported",
        `${name} names no container image (DockerRequirement), and there is no default one`,
      );
    }
    return defaultImage;
  }
  const image = container.pull ?? container.image;
  if (
    container.dockerfile !== undefined ||
    container.load !== undefined ||
    container.import !== undefined ||
    image === ""
  ) {
    throw new CwlError(
      "unsupported",
      `${name}: images are not built or loaded here; push the image to a registry and name it by dockerPull`,
    );
  }
  return image;
}

/** The pod that runs one command: as the tool asks, and under the restricted pod security standard. */
export function createPodManifest(
  job: JobSpec,
  podContext: PodContext,
  { name, annotations }: { readonly name: string; readonly annotations: Readonly<Record<string, string>> },
): object {
  const { namespace, claim, user, placement, pullSecrets, labels, owner, beside, platformRegistry, transfer } =
    podContext;
  const folders = foldersOf(job, podContext.volumeRoot);
  const helpers = transfer && createStepContainers(transfer, name, folders);
  const image = imageOf(job, podContext.defaultImage);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels: {
        "app.kubernetes.io/name": "ades-tool",
        "app.kubernetes.io/managed-by": "swath-ades",
        ...labels,
        [podKeys.run]: runOf(job.id),
        [podKeys.network]: job.network ? "open" : "none",
        ...(placement.queue !== undefined && { [podKeys.queue]: placement.queue }),
      },
      annotations: {
        ...annotations,
        [podKeys.tool]: job.name,
        ...(transfer && { [podKeys.files]: OBJECT_STORE }),
      },
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      ...(pullSecrets.length > 0 && { imagePullSecrets: pullSecrets.map((secret) => ({ name: secret })) }),
      ...toPlacement(placement, transfer === undefined ? [] : LEAVE_LOST_NODES),
      ...(beside && {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { labelSelector: { matchLabels: beside }, topologyKey: "kubernetes.io/hostname" },
            ],
          },
        },
      }),
      securityContext: {
        runAsNonRoot: user.uid !== 0,
        runAsUser: user.uid,
        runAsGroup: user.gid,
        seccompProfile: { type: "RuntimeDefault" },
      },
      volumes: transfer ? stepVolumes(transfer, job) : [{ name: "job", persistentVolumeClaim: { claimName: claim } }],
      ...(helpers && { initContainers: [helpers.fetch] }),
      containers: [
        {
          name: CONTAINER,
          image,
          // A node that has an image of the platform's registry from another's pod gives it to nobody else.
          imagePullPolicy:
            platformRegistry !== undefined && image.startsWith(`${platformRegistry}/`) ? "Always" : "IfNotPresent",
          // Arguments, so that the image's own entry point stays in force, as with a container engine.
          args: toArguments(job).map(escapeReferences),
          workingDir: job.outdir.seen,
          env: Object.entries(job.environment).map(([variable, value]) => ({
            name: variable,
            value: escapeReferences(value),
          })),
          resources: toResources(job, podContext),
          volumeMounts: transfer ? folders.map(toOwnMount) : toMounts(folders, podContext.volumeRoot),
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
        ...(helpers ? [helpers.collect] : []),
      ],
    },
  };
}

/** Seconds that a pod stays with a node that is lost, rather than the five minutes that are usual: its step runs again elsewhere. */
const LOST_NODE_SECONDS = 30;
const LEAVE_LOST_NODES = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].map((key) => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: LOST_NODE_SECONDS,
}));

function toPlacement({ nodeSelector, tolerations = [], priorityClass }: PodPlacement, own: readonly object[]): object {
  const all = [...own, ...tolerations];
  return {
    ...(nodeSelector !== undefined && { nodeSelector }),
    ...(all.length > 0 && { tolerations: all }),
    ...(priorityClass !== undefined && { priorityClassName: priorityClass }),
  };
}

/** The command itself, or where streams are redirected a shell that opens them and becomes the command. */
function toArguments(job: JobSpec): readonly string[] {
  const { command, stdin, stdout, stderr } = job;
  if (stdin === undefined && stdout === undefined && stderr === undefined) {
    return command;
  }
  const seen = (host: string) => quote(toSeen(job, host));
  const streams = [
    ...(stdin === undefined ? [] : [`<${seen(stdin)}`]),
    ...(stdout === undefined ? [] : [`>${seen(stdout)}`]),
    // Two openings of one file would write over each other.
    ...(stderr === undefined ? [] : [stderr === stdout ? "2>&1" : `2>${seen(stderr)}`]),
  ];
  return ["/bin/sh", "-c", `exec "$@" ${streams.join(" ")}`, "sh", ...command];
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The path at which the tool finds a file of ours. */
function toSeen({ name, outdir, tmpdir, mounts }: JobSpec, host: string): string {
  const places = [...mounts.map(({ source, target }) => ({ host: source, seen: target })), outdir, tmpdir];
  for (const place of places) {
    if (host === place.host || host.startsWith(`${place.host}/`)) {
      return place.seen + host.slice(place.host.length);
    }
  }
  throw new CwlError("unsafe", `${name}: ${host} is neither an input nor in the working directory`);
}

/** Kubernetes takes `$(NAME)` for a variable and `$$` for `$`; doubled, every dollar stands for itself. */
const escapeReferences = (text: string): string => text.replaceAll("$", "$$$$");

function toResources(job: JobSpec, { cpuPercent, maxRamMiB }: PodContext): object {
  const { cores, ramMiB, ramLimitMiB, container } = job;
  const gpus = container !== undefined && container.gpus > 0 ? { "nvidia.com/gpu": String(container.gpus) } : {};
  const limit = Math.max(ramLimitMiB > 0 ? ramLimitMiB : maxRamMiB, MIN_LIMIT_MIB);
  return {
    requests: {
      cpu: `${Math.max(1, Math.ceil(cores * 10 * cpuPercent))}m`,
      memory: `${Math.min(ramMiB > 0 ? ramMiB : USUAL_RAM_MIB, limit)}Mi`,
    },
    limits: { cpu: `${Math.ceil(Math.max(cores, 1) * 1000)}m`, memory: `${limit}Mi`, ...gpus },
  };
}

interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath: string;
  readonly readOnly: boolean;
}

/** A directory or file that a tool sees, here and in its pod. */
export interface ToolFolder extends StepFolder {
  readonly target: string;
  readonly writable: boolean;
}

/** What a tool sees, outer ones first, so that inner ones lie on top. */
export function foldersOf(job: JobSpec, volumeRoot: string): readonly ToolFolder[] {
  const root = realpathSync(volumeRoot);
  const all: readonly (Mount & { readonly root: string; readonly isOutput: boolean })[] = [
    { root: "outdir", source: job.outdir.host, target: job.outdir.seen, writable: true, isOutput: true },
    { root: "tmpdir", source: job.tmpdir.host, target: job.tmpdir.seen, writable: true, isOutput: false },
    ...job.mounts
      .toSorted((a, b) => a.target.length - b.target.length)
      .map((mount, index) => ({ ...mount, root: `inputs/${index}`, isOutput: mount.writable })),
  ];
  const byTarget = new Map<string, ToolFolder>();
  for (const { source, target, ...rest } of all) {
    const part = relative(root, realpathSync(source));
    if (part === "" || part.startsWith("..")) {
      throw new CwlError("unsupported", `${job.name}: ${source} is not in the volume that tools can mount`);
    }
    byTarget.set(target, { ...rest, target, host: source });
  }
  return [...byTarget.values()];
}

/** Parts of the service's volume. */
function toMounts(folders: readonly ToolFolder[], volumeRoot: string): readonly VolumeMount[] {
  const root = realpathSync(volumeRoot);
  return folders.map(({ host, target, writable }) => ({
    name: "job",
    mountPath: target,
    subPath: relative(root, realpathSync(host)),
    readOnly: !writable,
  }));
}

/** Parts of the pod's own volumes. */
function toOwnMount({ root, target, writable }: ToolFolder): VolumeMount {
  const [name = "", part = "data"] = root.split("/");
  return { name, mountPath: target, subPath: part, readOnly: !writable };
}
