import { existsSync } from "node:fs";
import { basename } from "node:path";
import { CwlError } from "../errors.ts";
import type { ContainerOptions } from "../executors/container.ts";
import type { Executor } from "../executors/executor.ts";

/**
 * An executor with the engine that was asked for by name or path, or with the first one that is installed; undefined
 * when there is none. Its code is loaded when the first tool wants a container.
 */
export function findContainerExecutor(
  engine: string | undefined,
  options: Pick<ContainerOptions, "runOptions" | "authFile" | "env">,
): Executor | undefined {
  const names = engine === undefined ? ["podman", "docker"] : [engine];
  const folders = (options.env["PATH"] ?? "").split(":");
  const found = names
    .map((name) =>
      name.includes("/") ? name : folders.map((folder) => `${folder}/${name}`).find((path) => existsSync(path)),
    )
    .find((path) => path !== undefined);
  if (found === undefined) {
    if (engine !== undefined) {
      throw new CwlError("unsupported", `the container engine ${engine} is not installed`);
    }
    return undefined;
  }
  const kind = basename(found).includes("docker") ? "docker" : "podman";
  let loaded: Promise<Executor> | undefined;
  const load = (): Promise<Executor> => {
    loaded ??= import("../executors/container.ts").then(({ createContainerExecutor }) =>
      createContainerExecutor({ command: found, kind, ...options }),
    );
    return loaded;
  };
  return {
    kind,
    sharesFileSystem: false,
    run: async (job, controls) => await (await load()).run(job, controls),
    cleanUp: async (jobIds) => await (await loaded)?.cleanUp?.(jobIds),
    removeOrphans: async (runId) => await (await load()).removeOrphans?.(runId),
  };
}
