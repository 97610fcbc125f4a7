import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { CwlError } from "../errors.ts";
import type { ContainerOptions } from "../executors/container.ts";
import type { Executor } from "../executors/executor.ts";

/** How long the daemon of an engine may take to say that it is there. */
const DAEMON_MS = 5000;

type EngineOptions = Pick<ContainerOptions, "runOptions" | "authFile" | "env" | "pull" | "strictCpus"> & {
  /** What the engine works like, where its name does not say so. */
  readonly kind?: EngineKind;
};
type EngineKind = ContainerOptions["kind"] | "singularity" | "udocker";

export interface FoundEngine {
  readonly executor: Executor;
  /** Why it cannot run anything at the moment; undefined when it can. */
  readonly whyAway: () => Promise<string | undefined>;
}

/**
 * An executor with the engine that was asked for by name or path, or with the first one that is installed; undefined
 * when there is none. Its code is loaded when the first tool wants a container.
 */
export function findContainerExecutor(engine: string | undefined, options: EngineOptions): FoundEngine | undefined {
  const names = engine === undefined ? ["podman", "docker", "apptainer", "singularity"] : [engine];
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
  const kind = options.kind ?? kindOf(basename(found));
  if (kind === "udocker" && options.authFile !== undefined) {
    throw new CwlError("unsupported", "--auth-file: udocker keeps logins itself; use `udocker login`");
  }
  let loaded: Promise<Executor> | undefined;
  const load = (): Promise<Executor> => {
    loaded ??= loadExecutor(found, kind, options);
    return loaded;
  };
  const executor: Executor = {
    kind,
    sharesFileSystem: false,
    run: async (job, controls) => await (await load()).run(job, controls),
    cleanUp: async (jobIds, workDir) => await (await loaded)?.cleanUp?.(jobIds, workDir),
    removeOrphans: async (runId, workDir) => await (await load()).removeOrphans?.(runId, workDir),
  };
  return { executor, whyAway: () => whyAway(found, kind, options.env) };
}

function kindOf(name: string): EngineKind {
  return name.includes("udocker")
    ? "udocker"
    : /singularity|apptainer/.test(name)
      ? "singularity"
      : name.includes("docker")
        ? "docker"
        : "podman";
}

async function loadExecutor(command: string, kind: EngineKind, options: EngineOptions): Promise<Executor> {
  const { env } = options;
  if (kind === "singularity") {
    const { createSingularityExecutor } = await import("../executors/singularity.ts");
    const cache = env["XDG_CACHE_HOME"] ?? join(env["HOME"] ?? ".", ".cache");
    const imageDir =
      env["CWL_SINGULARITY_CACHE"] ?? env["CWL_SINGULARITY_IMAGES"] ?? join(cache, "swath-cwl", "images");
    return createSingularityExecutor({ ...options, command, imageDir });
  }
  if (kind === "udocker") {
    const { createUdockerExecutor } = await import("../executors/udocker.ts");
    return createUdockerExecutor({ ...options, command });
  }
  const { createContainerExecutor } = await import("../executors/container.ts");
  return createContainerExecutor({ ...options, command, kind });
}

/** Docker's command is of no use without its daemon, which a laptop often has not running. Podman needs none. */
async function whyAway(command: string, kind: string, env: ContainerOptions["env"]): Promise<string | undefined> {
  if (kind !== "docker") {
    return undefined;
  }
  const { EngineCommand } = await import("../executors/engine-command.ts");
  const engine = new EngineCommand(command, env);
  const responses = await engine.succeeds(
    ["version", "--format", "{{.Server.Version}}"],
    AbortSignal.timeout(DAEMON_MS),
  );
  return responses ? undefined : `${command} is installed, but its daemon does not answer`;
}
