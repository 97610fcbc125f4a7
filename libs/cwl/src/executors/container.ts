import { rmSync, writeFileSync } from "node:fs";
import { CwlError, messageOf } from "../errors.ts";
import { EngineCommand } from "./engine-command.ts";
import { csvField } from "./csv-field.ts";
import type { ContainerRequest, Executor, JobResult, JobSpec, RunControls } from "./executor.ts";
import { Images } from "./images.ts";
import { inheritedLimits } from "./inherited-limits.ts";
import { createProcessExecutor } from "./process.ts";

/** Removing goes on when a run is cancelled. */
const NEVER = new AbortController().signal;

export interface ContainerOptions {
  /** Path of podman or docker. */
  readonly command: string;
  readonly kind: "podman" | "docker";
  /** Further options for each `run`, for machines that need some (`--runtime`, `--ulimit`). */
  readonly runOptions?: readonly string[] | undefined;
  /** Environment of the engine's own command: its configuration is found through it. Nothing of it reaches the tool. */
  readonly env: { readonly [name: string]: string | undefined };
  /** File with registry credentials (containers-auth.json) for pulls. */
  readonly authFile?: string | undefined;
  /** Processors that one container may use; all when left out. */
  readonly cpus?: number | undefined;
  /** Whether a container gets the processors that its tool asks for, and no more. */
  readonly strictCpus?: boolean | undefined;
  /** Whether images that are not there are pulled (default true). */
  readonly pull?: boolean | undefined;
  /** Whose images are built, loaded and imported: those of two scopes are never shared. Default: the user of this process. */
  readonly imageScope?: string | undefined;
  readonly builds?: BuildOptions | undefined;
}

/** What the build of a `dockerFile` may do and cost. */
export interface BuildOptions {
  /** Whether tools may bring a `dockerFile` at all (default true). */
  readonly allowed?: boolean | undefined;
  /** Default 1800. */
  readonly seconds?: number | undefined;
  /** Default 4096. */
  readonly memoryMiB?: number | undefined;
  /** Network of the build, as the engine calls it (`none`); its own default when left out. */
  readonly network?: string | undefined;
  /** Further options of the engine's `build`. */
  readonly options?: readonly string[] | undefined;
}

/** Exit codes by which both engines say that they, not the tool, failed. */
const engineFailure = 125;

/** Exit code of a container whose command was killed: by its memory limit, as nobody else has a reason to. */
const killed = 137;

/** By which both engines say that the command is not in the image. */
const notFound = 127;
const nowhere = "/nowhere/swath-cwl";

/** How long an image that could not be had is not asked for again by tools that can do without. */
const missingMs = 60_000;

/** Containers carry the id of their run, by which those of a dead attempt are found. */
const runLabel = "swath.cwl.run";

/** Runs tools in containers through the command of podman or docker. */
export function createContainerExecutor(options: ContainerOptions): Executor {
  const engine = new ContainerEngine(options);
  return {
    kind: options.kind,
    sharesFileSystem: false,
    run: (job, controls) => engine.run(job, controls),
    noImageReason: (request, signal) => engine.noImageReason(request, signal),
    cleanUp: (jobIds) => engine.cleanUp(jobIds),
    removeOrphans: (runId) => engine.removeOrphans(runId),
  };
}

class ContainerEngine {
  private readonly options: ContainerOptions;
  private readonly processes = createProcessExecutor();
  private readonly engine: EngineCommand;
  private readonly images: Images;
  private readonly alive = new Set<string>();
  private works: Promise<void> | undefined;
  private readonly missing = new Map<string, { readonly why: string; readonly until: number }>();

  constructor(options: ContainerOptions) {
    this.options = options;
    this.engine = new EngineCommand(options.command, options.env);
    this.images = new Images(options, this.engine);
  }

  async run(job: JobSpec, controls: RunControls): Promise<JobResult> {
    if (job.container === undefined) {
      throw new CwlError("unsupported", `${job.name} names no container`);
    }
    const image = await this.images.get(job.container, controls.signal);
    const variables = writeVariables(job);
    this.alive.add(job.id);
    const remove = (): void => {
      // Killing the engine's command would leave the container running; its name finds it.
      void this.remove(job.id);
    };
    controls.signal.addEventListener("abort", remove, { once: true });
    const timer = job.timeLimitSeconds > 0 ? setTimeout(remove, job.timeLimitSeconds * 1000) : undefined;
    try {
      const result = await this.processes.run(
        {
          ...job,
          command: [this.options.command, ...this.runArguments(job, job.container, image, variables)],
          environment: this.engine.environment,
          mounts: [],
          // The engine's command has nothing of the job in its working directory to be found by.
          timeLimitSeconds: job.timeLimitSeconds,
        },
        controls,
      );
      if (result.exitCode === engineFailure && !result.timedOut) {
        throw new CwlError(
          "infrastructure",
          `${job.name}: ${this.options.kind} could not run the container: ${result.logTail.trim()}`,
          { exitCode: engineFailure },
        );
      }
      const wasKilled = result.exitCode === killed && !result.timedOut && !controls.signal.aborted;
      return wasKilled && job.ramLimitMiB > 0 ? { ...result, outOfMemory: true } : result;
    } finally {
      clearTimeout(timer);
      controls.signal.removeEventListener("abort", remove);
      if (controls.signal.aborted) {
        await this.remove(job.id);
      }
      rmSync(variables.file, { force: true });
      this.alive.delete(job.id);
    }
  }

  async noImageReason(request: ContainerRequest, signal: AbortSignal): Promise<string | undefined> {
    const key = JSON.stringify(request);
    const known = this.missing.get(key);
    if (known !== undefined && performance.now() < known.until) {
      return known.why;
    }
    try {
      const image = await this.images.get(request, signal);
      this.works ??= this.tryOut(image, signal);
      await this.works;
      this.missing.delete(key);
      return undefined;
    } catch (error) {
      if (signal.aborted) {
        throw error;
      }
      this.works = undefined;
      const why = messageOf(error);
      this.missing.set(key, { why, until: performance.now() + missingMs });
      return why;
    }
  }

  /** Has a container started with a command that no image has: the engine then says that there is none, unless it cannot even do that. */
  private async tryOut(image: string, signal: AbortSignal): Promise<void> {
    const limits = this.options.kind === "podman" ? inheritedLimits() : [];
    const args = [
      "run",
      "--rm",
      "--network=none",
      ...limits,
      ...(this.options.runOptions ?? []),
      `--entrypoint=${nowhere}`,
      image,
    ];
    try {
      await this.engine.execute(args, signal);
    } catch (error) {
      const { code, stderr = "" } = error as { code?: unknown; stderr?: string };
      if (code !== notFound) {
        throw new CwlError(
          "infrastructure",
          `${this.options.kind} cannot run containers here: ${stderr.trim() || messageOf(error)}`,
          {
            cause: error,
          },
        );
      }
    }
  }

  async cleanUp(jobIds: readonly string[]): Promise<void> {
    const left = [...this.alive].filter((id) => jobIds.some((prefix) => id.startsWith(prefix)));
    await Promise.all(left.map((id) => this.remove(id)));
  }

  /** Containers outlive the process that started them; so does the engine's command that waits for each. */
  async removeOrphans(runId: string): Promise<void> {
    await this.processes.removeOrphans?.(runId);
    const filter = `label=${runLabel}=${runId}`;
    const listed = await this.engine.run(
      ["ps", "--all", "--quiet", "--no-trunc", "--filter", filter],
      NEVER,
      "cannot look for containers of an earlier attempt",
    );
    await Promise.all(
      listed
        .split("\n")
        .filter((id) => id !== "")
        .map((id) => this.remove(id)),
    );
  }

  private runArguments(job: JobSpec, request: ContainerRequest, image: string, variables: Variables): string[] {
    const mount = (source: string, target: string, writable: boolean): string =>
      `--mount=type=bind,${csvField(`source=${source}`)},${csvField(`target=${target}`)}${writable ? "" : ",readonly"}`;
    const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    return [
      "run",
      "--rm",
      ...(job.stdin === undefined ? [] : ["--interactive"]),
      `--name=${job.id}`,
      `--label=${runLabel}=${job.id.slice(0, job.id.lastIndexOf("-"))}`,
      "--log-driver=none",
      "--read-only",
      `--workdir=${job.outdir.seen}`,
      ...(this.options.kind === "podman" && uid !== 0 ? ["--userns=keep-id"] : []),
      `--user=${uid}:${gid}`,
      "--cap-drop=all",
      "--security-opt=no-new-privileges",
      ...(job.network ? [] : ["--network=none"]),
      ...(job.ramLimitMiB > 0 ? [`--memory=${Math.max(job.ramLimitMiB, 16)}m`] : []),
      ...(this.options.cpus === undefined
        ? this.options.strictCpus === true
          ? [`--cpus=${job.cores}`]
          : []
        : [`--cpus=${this.options.cpus}`]),
      ...(request.shmSize === undefined ? [] : [`--shm-size=${request.shmSize}`]),
      ...(request.gpus > 0
        ? this.options.kind === "docker"
          ? [`--gpus=${request.gpus}`]
          : ["--device=nvidia.com/gpu=all"]
        : []),
      ...(this.options.kind === "podman" ? inheritedLimits() : []),
      ...(this.options.runOptions ?? []),
      mount(job.outdir.host, job.outdir.seen, true),
      mount(job.tmpdir.host, job.tmpdir.seen, true),
      // Outer mounts first, so that inner ones lie on top.
      ...job.mounts
        .toSorted((a, b) => a.target.length - b.target.length)
        .map((item) => mount(item.source, item.target, item.writable)),
      `--env-file=${variables.file}`,
      ...variables.others.map(([name, value]) => `--env=${name}=${value}`),
      image,
      ...job.command,
    ];
  }

  private async remove(id: string): Promise<void> {
    // It may never have been made, or have removed itself.
    await this.engine.succeeds(["rm", "--force", ...(this.options.kind === "podman" ? ["--time=0"] : []), id], NEVER);
  }
}

interface Variables {
  /** Read by the engine: what stands on a command line can be seen by every user of the machine. */
  readonly file: string;
  /** What such a file cannot hold. */
  readonly others: readonly (readonly [string, string])[];
}

function writeVariables(job: JobSpec): Variables {
  const entries = Object.entries(job.environment);
  const isPlain = ([name, value]: readonly [string, string]): boolean =>
    /^\w+$/.test(name) && !/[\n\r\0"']/.test(value);
  const file = `${job.outdir.host}.env`;
  const lines = entries.filter(isPlain).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  return { file, others: entries.filter((entry) => !isPlain(entry)) };
}
