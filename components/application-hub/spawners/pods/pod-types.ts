/** What of a pod is looked at. */
export interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: object;
    readonly terminated?: Terminated;
  };
  readonly lastState?: { readonly terminated?: Terminated };
}

interface Terminated {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
}

/** The container with what the profile names, and the one that leads to the hub. */
export const SERVER = "server";
export const BESIDE = "swath";

/** Name of the volume that all servers of a user have as their home. */
export const HOME_CLAIM = "jupyter-home";
