import { availableParallelism, homedir } from "node:os";

import { type Executors, createContainerExecutor, createProcessExecutor } from "@swath/cwl";

import { readCapacity } from "./capacity.ts";
import { findEngine } from "./container-engine.ts";
import { SYSTEM_PATH } from "./find-program.ts";
import { findIsolation, isolate } from "./isolation.ts";
import { createPods, openPodsApi } from "./kubernetes/open-pods.ts";
import { type AdesSettings, jobFolder } from "./storage.ts";

/** What this machine's engine knows of images is of use to every job of a process. */
const ofMachine = new WeakMap<AdesSettings, Executors>();

/** What runs the tools of a job: pods of the cluster; or processes of this machine, and containers where there is an engine. */
export function createExecutors(settings: AdesSettings, job: string): Executors {
  if (settings.EXECUTOR === "pods") {
    const pods = createPods(openPodsApi(settings), settings, job);
    return { host: pods, container: pods };
  }
  const known = ofMachine.get(settings) ?? createMachineExecutors(settings);
  ofMachine.set(settings, known);
  const { host, ...others } = known;
  const isolation = findIsolation(settings);
  if (host === undefined || isolation === undefined) {
    return known;
  }
  return { ...others, host: isolate(host, { ...isolation, folder: jobFolder(settings, job) }) };
}

/** Whether tools that demand a container can run. */
export const runsContainers = (settings: AdesSettings): boolean =>
  settings.EXECUTOR === "pods" || findEngine(settings) !== undefined;

function createMachineExecutors(settings: AdesSettings): Executors {
  const engine = findEngine(settings);
  const { ofOneJob } = readCapacity(settings);
  return {
    ...(settings.HOST_TOOLS !== "refused" && { host: createProcessExecutor({ limitMemory: true }) }),
    ...(engine !== undefined && {
      container: createContainerExecutor({
        ...engine,
        authFile: settings.CONTAINER_AUTH_FILE,
        ...(ofOneJob.cores < availableParallelism() && { cpus: ofOneJob.cores }),
        // Nothing else of this service's environment, which holds secrets.
        env: { PATH: SYSTEM_PATH, HOME: homedir() },
      }),
    }),
  };
}
