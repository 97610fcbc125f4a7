/** Where a pod is in its life, in the words of the cluster's own tools. */
export type PodPhase = "Pending" | "Running" | "Completed" | "CrashLoopBackOff" | "Error" | "Terminating";

/** One line of `swath pods`. */
export interface PodStatus {
  readonly namespace: string;
  readonly name: string;
  readonly workload: string;
  readonly component: string;
  readonly phase: PodPhase;
  readonly ready: boolean;
  readonly restarts: number;
  /** ISO 8601; when the pod was made. */
  readonly createdAt: string;
  /** Why it is not ready. */
  readonly message?: string;
  /** Waiting will not help: the operator has to do something. */
  readonly stuck?: boolean;
  readonly pid?: number;
}

/** The deployment is ready when this holds for every pod. */
export function isSettled({ phase, ready }: PodStatus): boolean {
  return phase === "Completed" || (phase === "Running" && ready);
}
