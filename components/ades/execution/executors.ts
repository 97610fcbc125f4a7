import { availableParallelism, homedir } from "node:os";

import { type Executors, createContainerExecutor, createProcessExecutor } from "@swath/cwl";

import { readCapacity } from "./capacity.ts";
import { ENGINE_PATH, findEngine } from "./container-engine.ts";
import type { AdesSettings } from "./storage.ts";

/** What this machine's engine knows of images is of use to every job of a process. */
const ofMachine = new WeakMap<AdesSettings, Executors>();

/** What runs the tools of a job: processes of this machine, and containers where there is an engine. */
export function createExecutors(settings: AdesSettings, _job: string): Executors {
  const known = ofMachine.get(settings) ?? createMachineExecutors(settings);
  ofMachine.set(settings, known);
  return known;
}

/** Whether tools that demand a container can run. */
export const runsContainers = (settings: AdesSettings): boolean => findEngine(settings) !== undefined;

function createMachineExecutors(settings: AdesSettings): Executors {
  const engine = findEngine(settings);
  const { ofOneJob } = readCapacity(settings);
  return {
    host: createProcessExecutor({ limitMemory: true }),
    ...(engine !== undefined && {
      container: createContainerExecutor({
        ...engine,
        authFile: settings.CONTAINER_AUTH_FILE,
        ...(ofOneJob.cores < availableParallelism() && { cpus: ofOneJob.cores }),
        // Nothing else of this service's environment, which holds secrets.
        env: { PATH: ENGINE_PATH, HOME: homedir() },
      }),
    }),
  };
}
