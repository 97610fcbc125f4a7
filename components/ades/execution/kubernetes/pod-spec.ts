import { CwlError, type JobSpec, type Mount } from "@swath/cwl";
import { realpathSync } from "node:fs";
import { relative } from "node:path";

import { CONTAINER, type OwnerReference, marks } from "./pod-types.ts";

/** What all pods of one service have in common. */
export interface PodSurroundings {
  readonly namespace: string;
  /** Volume claim with the jobs' files, and the folder at which it is mounted here. */
  readonly claim: string;
  readonly volumeRoot: string;
  /** Labels of a pod on whose node the pods have to be; left out where every node can mount the volume. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Who the tools are: the owner of the jobs' files. */
  readonly user: { readonly uid: number; readonly gid: number };
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

/** Memory that the cluster keeps free for a tool that asks for none: what CWL says it gets. */
const USUAL_RAM_MIB = 256;
/** Below this no container starts. */
const SMALLEST_LIMIT_MIB = 16;
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
  surroundings: PodSurroundings,
  { name, annotations }: { readonly name: string; readonly annotations: Readonly<Record<string, string>> },
): object {
  const { namespace, claim, user, pullSecrets, labels, owner, beside, platformRegistry } = surroundings;
  const image = imageOf(job, surroundings.defaultImage);
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
        [marks.run]: runOf(job.id),
        [marks.network]: job.network ? "open" : "none",
      },
      annotations: { ...annotations, [marks.tool]: job.name },
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      ...(pullSecrets.length > 0 && { imagePullSecrets: pullSecrets.map((secret) => ({ name: secret })) }),
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
      volumes: [{ name: "job", persistentVolumeClaim: { claimName: claim } }],
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
          resources: toResources(job, surroundings),
          volumeMounts: toMounts(job, surroundings.volumeRoot),
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      ],
    },
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

function toResources(job: JobSpec, { cpuPercent, maxRamMiB }: PodSurroundings): object {
  const { cores, ramMiB, ramLimitMiB, container } = job;
  const gpus = container !== undefined && container.gpus > 0 ? { "nvidia.com/gpu": String(container.gpus) } : {};
  const limit = Math.max(ramLimitMiB > 0 ? ramLimitMiB : maxRamMiB, SMALLEST_LIMIT_MIB);
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

/** Parts of the volume, outer ones first, so that inner ones lie on top. */
function toMounts(job: JobSpec, volumeRoot: string): readonly VolumeMount[] {
  const root = realpathSync(volumeRoot);
  const all: readonly Mount[] = [
    { source: job.outdir.host, target: job.outdir.seen, writable: true },
    { source: job.tmpdir.host, target: job.tmpdir.seen, writable: true },
    ...job.mounts.toSorted((a, b) => a.target.length - b.target.length),
  ];
  const byTarget = new Map<string, VolumeMount>();
  for (const { source, target, writable } of all) {
    const subPath = relative(root, realpathSync(source));
    if (subPath === "" || subPath.startsWith("..")) {
      throw new CwlError("unsupported", `${job.name}: ${source} is not in the volume that tools can mount`);
    }
    byTarget.set(target, { name: "job", mountPath: target, subPath, readOnly: !writable });
  }
  return [...byTarget.values()];
}
