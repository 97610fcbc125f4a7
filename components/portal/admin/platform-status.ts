/** A pod as administrators see it. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly workload: string;
  readonly component: string;
  readonly phase: string;
  readonly ready: boolean;
  readonly restarts: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly message?: string;
}

/** Looks at what runs; changes nothing. */
export interface PlatformStatus {
  readonly listPods: () => Promise<readonly Pod[]>;
  /** The last lines of a pod's log; `undefined` when the deployment has no such pod. */
  readonly readLog: (namespace: string, pod: string, lines: number) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
}
