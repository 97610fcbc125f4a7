import type { PodPhase, PodStatus } from "../../pod-status.ts";
import type { ContainerStatus, LivePod } from "./live-pod.ts";

interface Described {
  readonly phase: PodPhase;
  readonly message?: string;
  readonly stuck?: true;
}

/** Reasons that nothing but the operator changes; a container that cannot be made may be the fault of a busy node. */
const HOPELESS = [
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "CreateContainerConfigError",
];

/** A pod in the words of `swath pods`. `warning` is the last thing the cluster complained of. */
export function toPodStatus(pod: LivePod, warning?: string): PodStatus {
  const { metadata, status } = pod;
  const container = status?.containerStatuses?.[0];
  const { phase, message, stuck } = describe(pod, warning);
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    workload: metadata.labels?.["app.kubernetes.io/name"] ?? metadata.name,
    component: metadata.labels?.["app.kubernetes.io/component"] ?? "",
    phase,
    ready: phase === "Running" && container?.ready === true,
    restarts: container?.restartCount ?? 0,
    createdAt: new Date(metadata.creationTimestamp ?? 0).toISOString(),
    ...(message !== undefined && message !== "" && { message }),
    ...(stuck && { stuck }),
  };
}

function describe({ metadata, status }: LivePod, warning: string | undefined): Described {
  if (metadata.deletionTimestamp !== undefined) {
    return { phase: "Terminating" };
  }
  if (status?.phase === "Succeeded") {
    return { phase: "Completed" };
  }
  if (status?.phase === "Failed") {
    return {
      phase: "Error",
      ...withMessage(status.message ?? status.reason ?? describeEnd(status.containerStatuses?.[0])),
    };
  }
  const container = status?.containerStatuses?.[0];
  if (container === undefined) {
    const unscheduled = status?.conditions?.find(
      ({ type, status: holds }) => type === "PodScheduled" && holds === "False",
    );
    return { phase: "Pending", ...withMessage(unscheduled?.message ?? warning) };
  }
  const { waiting, running, terminated } = container.state ?? {};
  if (waiting?.reason === "CrashLoopBackOff") {
    return { phase: "CrashLoopBackOff", ...withMessage(describeEnd(container) ?? warning) };
  }
  if (waiting !== undefined) {
    const { reason = "", message } = waiting;
    if (HOPELESS.includes(reason)) {
      // Two names for one thing that a pod goes to and fro between.
      const name = reason === "ImagePullBackOff" ? "ErrImagePull" : reason;
      return { phase: "Pending", message: [name, message ?? warning].filter(Boolean).join(": "), stuck: true };
    }
    return { phase: "Pending", ...withMessage(warning ?? message) };
  }
  if (terminated !== undefined) {
    return { phase: "Error", ...withMessage(describeEnd(container)) };
  }
  return running !== undefined && container.ready
    ? { phase: "Running" }
    : { phase: "Running", message: isStarting(warning) ? "starting" : warning };
}

/** That a program does not answer before it listens is no news. */
function isStarting(warning: string | undefined): warning is undefined {
  return warning === undefined || /^Unhealthy: Startup probe failed: .*(ECONNREFUSED|connection refused)/.test(warning);
}

function describeEnd(container: ContainerStatus | undefined): string | undefined {
  const end = container?.state?.terminated ?? container?.lastState?.terminated;
  if (end === undefined) {
    return undefined;
  }
  const why = end.reason === undefined || end.reason === "Error" ? "" : ` (${end.reason})`;
  return `ended with status ${end.exitCode}${why}${end.message === undefined ? "" : `: ${end.message.trim()}`}`;
}

function withMessage(message: string | undefined): { readonly message?: string } {
  return message === undefined ? {} : { message };
}
