/** The part of a pod that is read here. */
export interface Pod {
  readonly spec?: { readonly containers: readonly { readonly image: string }[]; readonly nodeName?: string };
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly OwnerReference[];
  };
  readonly status?: PodState;
}

export interface PodState {
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  /** Why the pod as a whole ended: `Evicted`. */
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

interface ContainerStatus {
  readonly name: string;
  readonly state?: ContainerState;
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: Terminated;
}

export interface Terminated {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string | null;
  readonly finishedAt?: string | null;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** Labels and annotations by which pods of tools are found again. */
export const podKeys = {
  /** Label of all that belongs to a deployment, by which it is removed with it. */
  deployment: "swath.io/deployment",
  /** Label of every pod of a tool; its value is the id of the run. */
  run: "swath.io/cwl-run",
  /** Label: the processing service's job. */
  job: "swath.io/job",
  /** Label that network policies select: `none` or `open`. */
  network: "swath.io/tool-network",
  /** Label: the queue of Kueue (https://kueue.sigs.k8s.io) that holds the pod back until it is its turn. */
  queue: "kueue.x-k8s.io/queue-name",
  /** Annotation: digest of all that the command depends on. */
  invocation: "swath.io/invocation",
  /** Annotations: numbers of the working and the scratch directory in the volume's file system, whatever they are called. */
  workInode: "swath.io/work-inode",
  scratchInode: "swath.io/scratch-inode",
  /** Annotation: `object-store` where the pod has its files from there and not from the service's volume. */
  files: "swath.io/files",
  /** Annotation: the tool, for people. */
  tool: "swath.io/tool",
} as const;

/** Name of the tool's container. */
export const CONTAINER = "tool";
/** Names of the containers that bring and store files, where the pod does not mount the service's volume. */
export const FETCH = "fetch";
export const COLLECT = "collect";
/** Value of the annotation of such pods. */
export const OBJECT_STORE = "object-store";

/** The state of the tool's container; `undefined` before the node has taken the pod. */
export function containerState({ status }: Pod): ContainerState | undefined {
  return status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state;
}

/** Whether the pod has its files from the object storage. */
export const isSelfContained = ({ metadata }: Pod): boolean => metadata.annotations?.[podKeys.files] === OBJECT_STORE;

/** How the containers that bring and store files ended. */
export const fetchEnd = ({ status }: Pod): Terminated | undefined =>
  status?.initContainerStatuses?.find(({ name }) => name === FETCH)?.state?.terminated;
export const fetchWait = ({ status }: Pod): ContainerState["waiting"] =>
  status?.initContainerStatuses?.find(({ name }) => name === FETCH)?.state?.waiting;
export const collectEnd = ({ status }: Pod): Terminated | undefined =>
  status?.containerStatuses?.find(({ name }) => name === COLLECT)?.state?.terminated;

/** Whether nothing more comes of a pod: its tool has ended, and what it left is stored. */
export function hasEnded(pod: Pod): boolean {
  return isSelfContained(pod)
    ? pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded" || collectEnd(pod) !== undefined
    : containerState(pod)?.terminated !== undefined || pod.status?.phase === "Failed";
}

/** Whether the tool has begun: from then on its directories are in use, whatever becomes of their names. */
export function hasStarted(pod: Pod): boolean {
  const state = containerState(pod);
  return state?.running !== undefined || state?.terminated !== undefined;
}
