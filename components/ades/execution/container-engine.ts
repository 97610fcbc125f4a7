import { accessSync, constants } from "node:fs";
import { join } from "node:path";

import type { AdesSettings } from "./storage.ts";

/** A program that runs containers. */
export interface ContainerEngine {
  readonly command: string;
  readonly kind: "podman" | "docker";
}

/** Where engines are installed; nothing else of this service's environment is used for them. */
export const ENGINE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * The container engine in use; `undefined` where there is none or none is wanted.
 * @throws {Error} for one that was asked for and is not installed
 */
export function findEngine({ CONTAINER_ENGINE: wanted }: AdesSettings): ContainerEngine | undefined {
  if (wanted === "none") {
    return undefined;
  }
  const isPath = wanted.includes("/");
  const names = wanted === "auto" ? ["podman", "docker"] : [wanted];
  const candidates = isPath
    ? [wanted]
    : names.flatMap((name) => ENGINE_PATH.split(":").map((folder) => join(folder, name)));
  const command = candidates.find(isProgram);
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

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
