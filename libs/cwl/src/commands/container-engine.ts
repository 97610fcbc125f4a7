import { existsSync } from "node:fs";
import { basename } from "node:path";
import { CwlError } from "../errors.ts";
import type { ContainerOptions } from "../executors/container.ts";
import type { Executor } from "../executors/executor.ts";

/** How long the daemon of an engine may take to say that it is there. */
const DAEMON_MS = 5000;

export interface FoundEngine {
  readonly executor: Executor;
  /** Why it cannot run anything at the moment; undefined when it can. */
  readonly whyAway: () => Promise<string | undefined>;
}

/**
 * An executor with the engine that was asked for by name or path, or with the first one that is installed; undefined
 * when there is none. Its code is loaded when the first tool wants a container.
 */
export function findContainerExecutor(
  engine: string | undefined,
  options: Pick<ContainerOptions, "runOptions" | "authFile" | "env" | "pull" | "strictCpus">,
): FoundEngine | undefined {
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
  const executor: Executor = {
    kind,
    sharesFileSystem: false,
    run: async (job, controls) => await (await load()).run(job, controls),
    cleanUp: async (jobIds) => await (await loaded)?.cleanUp?.(jobIds),
    removeOrphans: async (runId) => await (await load()).removeOrphans?.(runId),
  };
  return { executor, whyAway: () => whyAway(found, kind, options.env) };
}

/** Docker's command is of no use without its daemon, which a laptop often has not running. Podman needs none. */
async function whyAway(command: string, kind: string, env: ContainerOptions["env"]): Promise<string | undefined> {
  if (kind !== "docker") {
    return undefined;
  }
  const { EngineCommand } = await import("../executors/engine-command.ts");
  const engine = new EngineCommand(command, env);
  const answers = await engine.succeeds(["version", "--format", "{{.Server.Version}}"], AbortSignal.timeout(DAEMON_MS));
  return answers ? undefined : `${command} is installed, but its daemon does not answer`;
}
