import { type Executors, createContainerExecutor, createProcessExecutor } from "@swath/cwl";

import { homedir } from "node:os";

import type { AdesSettings } from "./storage.ts";

/** What runs tools here: processes of this machine, and containers where there is an engine. */
export function createExecutors({ CONTAINER_ENGINE: command }: AdesSettings): Executors {
  return {
    host: createProcessExecutor(),
    ...(command !== undefined && {
      container: createContainerExecutor({
        command,
        kind: command.endsWith("docker") ? "docker" : "podman",
        // Nothing of this service's environment, which holds secrets.
        env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: homedir() },
      }),
    }),
  };
}
