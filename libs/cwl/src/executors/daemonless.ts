import { CwlError } from "../errors.ts";
import type { ContainerRequest, Executor, JobSpec } from "./executor.ts";
import { createProcessExecutor } from "./process.ts";

/** How an engine that runs containers as its own child processes is told to. */
export interface DaemonlessEngine {
  readonly kind: string;
  readonly environment: { readonly [name: string]: string };
  /** Image of a request, which is there when this resolves. */
  readonly provideImage: (request: ContainerRequest, signal: AbortSignal) => Promise<string>;
  readonly commandOf: (
    job: JobSpec,
    request: ContainerRequest,
    image: string,
  ) => { readonly command: readonly string[]; readonly environment?: { readonly [name: string]: string } };
}

/**
 * Runs tools through an engine without a daemon. Its containers are processes below its command, so limits of memory and
 * time, cancelling and what a dead attempt left are the same as for tools on this machine.
 */
export function createDaemonlessExecutor(engine: DaemonlessEngine): Executor {
  const processes = createProcessExecutor({ limitMemory: true });
  const images = new Map<string, Promise<string>>();
  const imageOf = (request: ContainerRequest, signal: AbortSignal): Promise<string> => {
    const key = JSON.stringify([request.image, request.pull, request.load, request.import, request.dockerfile]);
    let image = images.get(key);
    if (image === undefined) {
      image = engine.provideImage(request, signal);
      images.set(key, image);
      // A failure is not remembered: the next job may find the registry back.
      image.catch(() => images.delete(key));
    }
    return image;
  };
  return {
    kind: engine.kind,
    sharesFileSystem: false,
    run: async (job, controls) => {
      if (job.container === undefined) {
        throw new CwlError("unsupported", `${job.name} names no container`);
      }
      const image = await imageOf(job.container, controls.signal);
      const { command, environment } = engine.commandOf(job, job.container, image);
      return await processes.run(
        { ...job, command, environment: { ...engine.environment, ...environment }, mounts: [] },
        controls,
      );
    },
    noImageReason: async (request, signal) => {
      try {
        await imageOf(request, signal);
        return undefined;
      } catch (error) {
        if (signal.aborted || !(error instanceof CwlError)) {
          throw error;
        }
        return error.message;
      }
    },
    cleanUp: async (jobIds, workDir) => await processes.cleanUp?.(jobIds, workDir),
    removeOrphans: async (runId, workDir) => await processes.removeOrphans?.(runId, workDir),
  };
}

/** Refuses what only engines with a store of images can do. */
export function refuseOtherImages(
  request: ContainerRequest,
  kind: string,
  refused: readonly ("load" | "import" | "dockerfile")[],
): void {
  const names = { load: "dockerLoad", import: "dockerImport", dockerfile: "dockerFile" } as const;
  const found = refused.find((field) => request[field] !== undefined);
  if (found !== undefined) {
    throw new CwlError("unsupported", `${kind} does not take ${names[found]}; use dockerPull, or --engine podman`);
  }
}
