import type { LiveObject } from "../api/objects.ts";

/** How far a Deployment, StatefulSet, DaemonSet or Job has come to what its definition says. */
export type Rollout =
  | { readonly state: "done" }
  | { readonly state: "underway"; readonly reason?: string }
  | { readonly state: "failed"; readonly reason: string };

interface Status {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly availableReplicas?: number;
  readonly readyReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  /** Of a DaemonSet. */
  readonly desiredNumberScheduled?: number;
  readonly updatedNumberScheduled?: number;
  readonly numberAvailable?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
}

export function assessRollout(object: LiveObject): Rollout {
  const status = (object["status"] ?? {}) as Status;
  const { replicas: requested = 1 } = (object["spec"] ?? {}) as { replicas?: number };
  if (object.kind === "Job") {
    return assessJob(status);
  }
  if ((status.observedGeneration ?? 0) < (object.metadata.generation ?? 1)) {
    return { state: "underway" };
  }
  if (object.kind === "DaemonSet") {
    const { desiredNumberScheduled: desired = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = status;
    return { state: updatedNumberScheduled === desired && numberAvailable === desired ? "done" : "underway" };
  }
  const refused = find(status, "ReplicaFailure");
  if (refused !== undefined) {
    return { state: "underway", reason: refused };
  }
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0, readyReplicas = 0 } = status;
  const isDone =
    object.kind === "StatefulSet"
      ? status.currentRevision === status.updateRevision && readyReplicas === requested
      : updatedReplicas === requested && availableReplicas === requested && replicas === requested;
  return { state: isDone ? "done" : "underway" };
}

function assessJob(status: Status): Rollout {
  const failure = find(status, "Failed");
  if (failure !== undefined) {
    return { state: "failed", reason: failure };
  }
  return { state: find(status, "Complete") === undefined ? "underway" : "done" };
}

/** The message of a condition that holds, empty where it has none. */
function find({ conditions = [] }: Status, type: string): string | undefined {
  const found = conditions.find((condition) => condition.type === type && condition.status === "True");
  return found === undefined ? undefined : (found.message ?? "");
}
