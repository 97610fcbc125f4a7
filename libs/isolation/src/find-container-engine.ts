import { SYSTEM_PATH, findProgram } from "./find-program.ts";

/** A program that runs containers. */
export interface ContainerEngine {
  readonly command: string;
  /** Whose options and formats it takes. */
  readonly kind: "podman" | "docker";
}

/** What `CONTAINER_ENGINE` means on this machine. */
export type EngineReport =
  | { readonly outcome: "unwanted" }
  | { readonly outcome: "missing"; readonly reason: string; readonly wasRequested: boolean }
  | { readonly outcome: "found"; readonly engine: ContainerEngine };

/** In the order in which `auto` takes them. */
export const CONTAINER_ENGINES = ["podman", "docker"] as const;

/**
 * Finds the engine that a value of `CONTAINER_ENGINE` names. An engine that is installed counts, also when it does not work: services
 * and accounts are decided by it before it is ever called.
 * @param requested auto, none, podman, docker, or the path of one
 */
export function findContainerEngine(requested: string, path = SYSTEM_PATH): EngineReport {
  if (requested === "none") {
    return { outcome: "unwanted" };
  }
  const wasRequested = requested !== "auto";
  const command = findProgram(wasRequested ? [requested] : CONTAINER_ENGINES, path);
  if (command === undefined) {
    const reason = wasRequested
      ? `CONTAINER_ENGINE is ${requested}, which is not installed; install it, or set auto, none, podman, docker or the path of one`
      : `none of ${CONTAINER_ENGINES.join(", ")} is installed`;
    return { outcome: "missing", reason, wasRequested };
  }
  return { outcome: "found", engine: { command, kind: /docker[^/]*$/.test(command) ? "docker" : "podman" } };
}
