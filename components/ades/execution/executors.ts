import { availableParallelism, homedir } from "node:os";

import {
  type ContainerRequest,
  CwlError,
  type Executor,
  type Executors,
  createContainerExecutor,
  createProcessExecutor,
} from "@swath/cwl";

import { readCapacity } from "./capacity.ts";
import { findEngine } from "./container-engine.ts";
import { CONTAINER_FILTER, SYSTEM_PATH } from "@swath/isolation";
import { findToolIsolation, isolate, noHostToolsReason } from "./isolation.ts";
import { createPods, openPodsApi } from "./kubernetes/pod-context.ts";
import { createPullSecret } from "./kubernetes/pull-secret.ts";
import { findArchive } from "./platform-images/image-archives.ts";
import { type PulledImage, withPlatformImages } from "./platform-images/platform-images.ts";
import { pulledImagesOnly } from "./pulled-images-only.ts";
import { openPlatformRegistry } from "./platform-images/platform-registry.ts";
import { type AdesSettings, jobFolder } from "./storage.ts";
import { withNetworkOfEngine, withoutNetwork } from "./refuse-network.ts";
import { type ToolNetwork, openToolNetwork } from "./tool-network/tool-network.ts";
import { toolPath } from "./tool-path.ts";
import { limitFolders } from "./watch-disk.ts";

/** What this machine's engine knows of images is of use to every job of a process. */
const ofMachine = new WeakMap<AdesSettings, Executors>();

/** What runs the tools of one job. */
export interface JobExecutors {
  readonly executors: Executors;
  readonly close: () => Promise<void>;
}

/** A job, as far as running its tools goes. */
export interface JobOfTools {
  readonly id: string;
  readonly owner: string;
  /** Digests of images, by the names that the package has for them. */
  readonly images: Readonly<Record<string, string>> | null;
  /** Whether its tools may use the network where they ask for it. */
  readonly mayUseNetwork: boolean;
}

/** What runs the tools of a job, with its limits. */
export async function openJobExecutors(settings: AdesSettings, job: JobOfTools): Promise<JobExecutors> {
  const { mayUseNetwork } = job;
  const network =
    mayUseNetwork && findToolIsolation(settings) !== undefined ? await openToolNetwork(settings) : undefined;
  const { host, container: anyContainer, ...others } = createExecutors(settings, job.id, network);
  const pulls = openPulls(settings, job);
  const container = anyContainer && pulledImagesOnly(withPlatformImages(anyContainer, pulls));
  return {
    executors: {
      ...others,
      ...(host && { host: limitFolders(mayUseNetwork ? host : withoutNetwork(host)) }),
      ...(container && {
        container: limitFolders(mayUseNetwork ? withNetworkOfEngine(container) : withoutNetwork(container)),
      }),
    },
    close: async () => {
      await pulls.close();
      await network?.close();
    },
  };
}

/** How this job's executor gets images of the platform's registry. */
function openPulls(settings: AdesSettings, { id, owner, images }: JobOfTools) {
  const registry = openPlatformRegistry(settings);
  const common = { registry, owner, images: images ?? {} };
  if (settings.EXECUTOR === "pods") {
    const secret = createPullSecret(openPodsApi(settings), id);
    return {
      ...common,
      provide: async ({ login, name }: PulledImage, request: ContainerRequest) => {
        await secret.put(registry?.host ?? "", login);
        return { ...request, image: name, pull: name };
      },
      close: secret.remove,
    };
  }
  return {
    ...common,
    // The engine itself need not reach the registry, nor trust its certificate.
    provide: async ({ client, ...image }: PulledImage, request: ContainerRequest) => ({
      ...request,
      pull: undefined,
      load: await findArchive(settings, client, image),
    }),
    close: async () => {},
  };
}

/** What runs, ends and finds the tools of a job: pods of the cluster; or processes of this machine, and containers where there is an engine. */
export function createExecutors(settings: AdesSettings, job: string, network?: ToolNetwork): Executors {
  if (settings.EXECUTOR === "pods") {
    const pods = createPods(openPodsApi(settings), settings, job);
    return { host: pods, container: pods };
  }
  const known = ofMachine.get(settings) ?? createMachineExecutors(settings);
  ofMachine.set(settings, known);
  const { host, ...others } = known;
  const why = noHostToolsReason(settings);
  const isolation = findToolIsolation(settings);
  if (host === undefined || (why === undefined && isolation === undefined)) {
    return known;
  }
  if (isolation === undefined) {
    return { ...others, host: refusing(host, why ?? "") };
  }
  const limits = {
    processes: settings.MAX_PROCESSES,
    openFiles: settings.MAX_OPEN_FILES,
    fileBytes: settings.MAX_DISK_MIB * 2 ** 20,
  };
  return {
    ...others,
    host: isolate(host, { isolation, path: toolPath(settings), folder: jobFolder(settings, job), limits, network }),
  };
}

/** Whether tools that demand a container can run. */
export const runsContainers = (settings: AdesSettings): boolean =>
  settings.EXECUTOR === "pods" || findEngine(settings) !== undefined;

function createMachineExecutors(settings: AdesSettings): Executors {
  const engine = findEngine(settings);
  const { perJob } = readCapacity(settings);
  return {
    ...(settings.HOST_TOOLS !== "refused" && { host: createProcessExecutor({ limitMemory: true }) }),
    ...(engine !== undefined && {
      container: createContainerExecutor({
        ...engine,
        authFile: settings.CONTAINER_AUTH_FILE,
        runOptions: [CONTAINER_FILTER],
        ...(perJob.cores < availableParallelism() && { cpus: perJob.cores }),
        // Nothing else of this service's environment, which holds secrets.
        env: { PATH: SYSTEM_PATH, HOME: homedir() },
      }),
    }),
  };
}

/** Runs nothing and says why; ends what an earlier attempt left. */
const refusing = (executor: Executor, why: string): Executor => ({
  ...executor,
  run: async ({ name }) => {
    throw new CwlError("unsupported", `${name}: ${why}`);
  },
});
