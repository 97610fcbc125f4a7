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
export function findEngine({ CONTAINER_ENGINE: wanted }: AdesSettings): ContainerEngine | undefined {
  if (wanted === "none") {
    return undefined;
  }
  const command = findProgram(wanted === "auto" ? ["podman", "docker"] : [wanted]);
  if (command === undefined) {
    if (wanted === "auto") {
      return undefined;
    }
    throw new Error(
      `CONTAINER_ENGINE is ${wanted}, which is not installed; install it, or set auto, none, podman, docker or the path of one`,
    );
  }
  return { command, kind: /docker[^/]*$/.test(command) ? "docker" : "podman" };
}
