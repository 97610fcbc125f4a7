import { type Executors, createContainerExecutor, createProcessExecutor } from "@swath/cwl";

import { homedir } from "node:os";

import { createPods, openPodsApi } from "./kubernetes/open-pods.ts";
import type { AdesSettings } from "./storage.ts";

/** What runs the tools of a job: pods of the cluster; or processes of this machine, and containers where there is an engine. */
export function createExecutors(settings: AdesSettings, job: string): Executors {
  if (settings.EXECUTOR === "pods") {
    const pods = createPods(openPodsApi(settings), settings, job);
    return { host: pods, container: pods };
  }
  const { CONTAINER_ENGINE: command } = settings;
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
