import { findProgram } from "@swath/isolation";
import type { AdesSettings } from "./storage.ts";

/** A program that runs containers. */
export interface ContainerEngine {
  readonly command: string;
  readonly kind: "podman" | "docker";
}

/**
 * The container engine in use; `undefined` where there is none or none is wanted.
 * @throws {Error} for one that was asked for and is not installed
 */
export function findEngine({ CONTAINER_ENGINE: requested }: AdesSettings): ContainerEngine | undefined {
  if (requested === "none") {
    return undefined;
  }
  const command = findProgram(requested === "auto" ? ["podman", "docker"] : [requested]);
  if (command === undefined) {
    if (requested === "auto") {
      return undefined;
    }
    throw new Error(
      `CONTAINER_ENGINE is ${requested}, which is not installed; install it, or set auto, none, podman, docker or the path of one`,
    );
  }
  return { command, kind: /docker[^/]*$/.test(command) ? "docker" : "podman" };
}
