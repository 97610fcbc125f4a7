import { CwlError, type JobSpec } from "@swath/cwl";

import { type Pod, collectEnd, containerState, fetchEnd, fetchWait, podKeys } from "./pod-types.ts";

/** Why a pod has not begun. `fatal` waits are not worth waiting: they end the job once they last longer than `patience`. */
export interface Wait {
  readonly text: string;
  /** Seconds that this may last. */
  readonly timeouts: number;
  readonly error: (detail: string) => CwlError;
}

/** Seconds that a pod may wait. */
export interface PodTimeouts {
  /** For room in the cluster. */
  readonly room: number;
  /** For a registry that does not give the image, or a node that cannot start the container. */
  readonly start: number;
}

const findUnscheduled = ({ status }: Pod) =>
  status?.conditions?.find(({ type, status: state }) => type === "PodScheduled" && state === "False");

/** Whether a pod is held back until it is its turn. */
export const isGated = (pod: Pod): boolean => findUnscheduled(pod)?.reason === "SchedulingGated";

/**
 * What a pod that has not begun waits for; `undefined` while all goes its way.
 * @param queueReason what its queue says of it while it is held back
 */
export function explainWait(
  pod: Pod,
  job: JobSpec,
  image: string,
  timeouts: PodTimeouts,
  queueReason?: string,
): Wait | undefined {
  const unscheduled = findUnscheduled(pod);
  if (isGated(pod)) {
    // Its turn comes when the operator's quotas say so; a job is not given up for that.
    const queue = pod.metadata.labels?.[podKeys.queue];
    const text = [
      `waiting for its turn in the cluster's queue${queue === undefined ? "" : ` ${queue}`}`,
      ...(queueReason === undefined ? [] : [shorten(queueReason)]),
    ].join(": ");
    return {
      text,
      timeouts: Number.POSITIVE_INFINITY,
      error: () => new CwlError("infrastructure", `${job.name}: ${text}`),
    };
  }
  if (unscheduled !== undefined) {
    const detail = unscheduled.message ?? "";
    return {
      text: `waiting for room in the cluster: ${explainScheduler(detail, job)}`,
      timeouts: timeouts.room,
      error: () =>
        new CwlError(
          "infrastructure",
          `${job.name}: the cluster had no room for it (${explainScheduler(detail, job)}). Ask for less in ResourceRequirement, or have the cluster made larger`,
        ),
    };
  }
  const bringing = fetchWait(pod);
  if (
    bringing?.reason !== undefined &&
    bringing.reason !== "PodInitializing" &&
    bringing.reason !== "ContainerCreating"
  ) {
    const text = `the container that brings its inputs cannot be started (${bringing.reason}): ${shorten(bringing.message ?? "")}`;
    return {
      text: `${text}; trying again`,
      timeouts: timeouts.start,
      error: () => new CwlError("infrastructure", `${job.name}: ${text}`),
    };
  }
  const { reason = "", message = "" } = containerState(pod)?.waiting ?? {};
  switch (reason) {
    case "ErrImagePull":
    case "ImagePullBackOff":
    case "RegistryUnavailable":
      return {
        text: `the image ${image} cannot be pulled; trying again`,
        timeouts: timeouts.start,
        error: (detail) =>
          new CwlError(
            "unsupported",
            `${job.name}: the image ${image} cannot be pulled: ${shorten(detail || message)}. Check its name in DockerRequirement, and that the cluster may pull it`,
          ),
      };
    case "InvalidImageName":
    case "ErrImageNeverPull":
    case "ImageInspectError":
      return {
        text: `the image ${image} cannot be used`,
        timeouts: 0,
        error: () => new CwlError("unsupported", `${job.name}: the image ${image} cannot be used: ${shorten(message)}`),
      };
    case "CreateContainerConfigError":
    case "CreateContainerError":
    case "RunContainerError":
      return {
        text: `the node cannot start the container; trying again: ${shorten(message)}`,
        timeouts: timeouts.start,
        error: () =>
          new CwlError("infrastructure", `${job.name}: the node cannot start the container: ${shorten(message)}`),
      };
    default:
      return undefined;
  }
}

/** `0/3 nodes are available: 1 Insufficient memory, 2 Insufficient cpu.` for people. */
function explainScheduler(message: string, { cores, ramMiB }: JobSpec): string {
  const requested = `it asks for ${cores} cores${ramMiB > 0 ? ` and ${ramMiB} MiB of memory` : ""}`;
  const lacks = [
    ...(/insufficient memory/i.test(message) ? ["memory"] : []),
    ...(/insufficient cpu/i.test(message) ? ["processor cores"] : []),
    ...(/insufficient nvidia\.com\/gpu/i.test(message) ? ["graphics processors"] : []),
    ...(/too many pods/i.test(message) ? ["places for pods"] : []),
  ];
  return lacks.length > 0 ? `no node has enough free ${lacks.join(" and ")}; ${requested}` : shorten(message);
}

/** Conditions by which Kubernetes and Kueue say that they end a pod. */
const DISRUPTIONS = new Set(["DisruptionTarget", "TerminationTarget"]);

/** Why the cluster ended a pod, or is about to; `undefined` where it says nothing. */
export function explainDisruption({ status }: Pod, { name }: JobSpec): CwlError | undefined {
  const found = status?.conditions?.find(({ type, status: state }) => DISRUPTIONS.has(type) && state === "True");
  if (found === undefined) {
    return undefined;
  }
  const { reason = "no reason given", message = "" } = found;
  const isPreempted = /preempt/i.test(reason);
  return new CwlError(
    "infrastructure",
    `${name}: its pod was ${isPreempted ? "preempted" : "ended by the cluster"} (${reason})${message === "" ? "" : `: ${shorten(message)}`}`,
    { isPreempted },
  );
}

/** Exit codes of what SIGTERM and SIGKILL have ended. */
const KILLED = new Set([143, 137]);

/**
 * Why a pod that has ended did not end by its tool's own exit; `undefined` when it did, and the exit code says all.
 * @param logTail the tool's last words
 */
export function explainEnd(pod: Pod, job: JobSpec, logTail: string): CwlError | undefined {
  const { reason = "", message = "" } = pod.status ?? {};
  const terminated = containerState(pod)?.terminated;
  if (reason === "Evicted") {
    return /ephemeral|emptydir/i.test(message) && /exceed/i.test(message)
      ? new CwlError(
          "process-failed",
          `${job.name}: it wrote more to its temporary disk than it may: ${shorten(message)}`,
        )
      : new CwlError(
          "infrastructure",
          `${job.name}: its node ran short and ended it (evicted): ${shorten(message)}. This is no fault of the tool`,
        );
  }
  const disruption = explainDisruption(pod, job);
  if (disruption !== undefined && terminated?.exitCode !== 0) {
    return disruption;
  }
  const fetched = fetchEnd(pod);
  if (fetched !== undefined && fetched.exitCode !== 0) {
    return new CwlError(
      "infrastructure",
      `${job.name}: its inputs could not be brought to its node: ${shorten(fetched.message ?? `status ${fetched.exitCode}`)}`,
    );
  }
  if (terminated === undefined || terminated.reason === "ContainerStatusUnknown") {
    return new CwlError(
      "infrastructure",
      `${job.name}: its node refused or lost it (${reason || terminated?.reason || "no reason given"})${message === "" ? "" : `: ${shorten(message)}`}`,
    );
  }
  const { exitCode } = terminated;
  if (pod.metadata.deletionTimestamp !== undefined && KILLED.has(exitCode)) {
    return new CwlError(
      "infrastructure",
      `${job.name}: its pod was deleted while it ran, by somebody else or with its node`,
    );
  }
  if (terminated.reason === "OOMKilled") {
    const limit = job.ramLimitMiB > 0 ? `its limit of ${job.ramLimitMiB} MiB` : "the most that a job may have";
    return new CwlError(
      "process-failed",
      `${job.name}: it used more memory than ${limit} and was ended. Ask for more with ramMin in ResourceRequirement, or give it less to do at once`,
      { exitCode, logTail },
    );
  }
  if (["StartError", "ContainerCannotRun"].includes(terminated.reason ?? "")) {
    return explainStart(terminated.message ?? "", job);
  }
  const collected = collectEnd(pod);
  if (collected !== undefined && collected.exitCode !== 0) {
    return new CwlError(
      "infrastructure",
      `${job.name}: its outputs could not be stored: ${shorten(collected.message ?? `status ${collected.exitCode}`)}`,
    );
  }
  return undefined;
}

function explainStart(message: string, { name, command, stdin, stdout, stderr }: JobSpec): CwlError {
  const isRedirected = [stdin, stdout, stderr].some((stream) => stream !== undefined);
  const program = JSON.stringify(command[0] ?? "");
  if (/not found|no such file/i.test(message)) {
    return isRedirected
      ? new CwlError(
          "process-failed",
          `${name}: its image has no /bin/sh, which redirecting stdin, stdout or stderr needs: ${shorten(message)}`,
          { exitCode: 127 },
        )
      : new CwlError("process-failed", `${name}: the command ${program} was not found in its image`, { exitCode: 127 });
  }
  if (/permission denied/i.test(message)) {
    return new CwlError("process-failed", `${name}: the command ${program} may not be executed`, { exitCode: 126 });
  }
  return new CwlError("infrastructure", `${name}: the container did not start: ${shorten(message)}`);
}

export const shorten = (text: string): string => (text.length > 500 ? `${text.slice(0, 500)}…` : text);
