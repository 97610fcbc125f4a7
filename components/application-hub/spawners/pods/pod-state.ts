import type { Liveness } from "../spawner.ts";
import { BESIDE, type ContainerStatus, type Pod, SERVER } from "./pod-types.ts";

/** How far the start of a pod is. */
export type PodStart =
  | { readonly kind: "waiting"; readonly message: string; readonly isTrouble: boolean }
  | { readonly kind: "running"; readonly address: string }
  | { readonly kind: "ended"; readonly reason: string };

/** A kubelet repeats what leads to these; a registry that is away for a moment does so too. */
const TROUBLE =
  /^(ErrImagePull|ImagePullBackOff|InvalidImageName|CreateContainerConfigError|CreateContainerError|RunContainerError)$/;

export function readStart(pod: Pod | undefined): PodStart {
  const life = readLife(pod);
  if (!life.alive) {
    return { kind: "ended", reason: life.reason };
  }
  const status = pod?.status;
  const own = find(pod, SERVER);
  if (own?.state?.running !== undefined && status?.podIP !== undefined) {
    return { kind: "running", address: status.podIP };
  }
  const waiting = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(
    ({ state }) =>
      state?.waiting !== undefined && !/^(ContainerCreating|PodInitializing)$/.test(state.waiting.reason ?? ""),
  )?.state?.waiting;
  if (waiting !== undefined) {
    const message = `${waiting.reason ?? "waiting"}${waiting.message === undefined ? "" : `: ${waiting.message}`}`;
    return { kind: "waiting", message: shorten(message), isTrouble: TROUBLE.test(waiting.reason ?? "") };
  }
  const unscheduled = status?.conditions?.find(({ type, status: is }) => type === "PodScheduled" && is === "False");
  const initializing = status?.initContainerStatuses?.find(({ state }) => state?.running !== undefined);
  return {
    kind: "waiting",
    message:
      unscheduled !== undefined
        ? shorten(`waiting for room in the cluster: ${unscheduled.message ?? "no node fits"}`)
        : initializing === undefined
          ? "the cluster prepares its container and volumes"
          : `${initializing.name} runs`,
    isTrouble: false,
  };
}

/** Whether a server's pod is there, and how it ended. */
export function readLife(pod: Pod | undefined): Liveness {
  if (pod === undefined) {
    return { alive: false, reason: "Its pod is gone: it was deleted, or its node was lost." };
  }
  const { status } = pod;
  const failed = status?.initContainerStatuses?.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (failed !== undefined) {
    return { alive: false, reason: `What prepares it (${failed.name}) failed. ${explain(failed)}` };
  }
  const own = find(pod, SERVER);
  if (own?.state?.terminated !== undefined) {
    return { alive: false, reason: explain(own) };
  }
  if (find(pod, BESIDE)?.state?.terminated !== undefined) {
    return { alive: false, reason: "The program that connects it with the hub ended." };
  }
  return status?.phase === "Failed"
    ? {
        alive: false,
        reason: shorten(`The cluster ended it: ${status.message ?? status.reason ?? "it does not say why"}.`),
      }
    : { alive: true };
}

function explain({ state }: ContainerStatus): string {
  const ended = state?.terminated;
  if (ended?.reason === "OOMKilled") {
    return "It used more memory than it may; start a larger one.";
  }
  return ended === undefined || ended.exitCode === 0
    ? "It ended by itself."
    : ended.exitCode === 137
      ? "It was killed."
      : shorten(`It ended with status ${ended.exitCode}.${ended.message === undefined ? "" : ` ${ended.message}`}`);
}

const find = (pod: Pod | undefined, name: string): ContainerStatus | undefined =>
  pod?.status?.containerStatuses?.find((each) => each.name === name);

const shorten = (text: string): string => (text.length <= 400 ? text : `${text.slice(0, 399)}…`);
