import { CwlError, messageOf } from "../errors.ts";
import type { ContainerRequest, Executor, JobResult, JobSpec } from "../executors/executor.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import { sortedJson } from "../expressions/evaluate.ts";
import { joinInside } from "../files/inside.ts";
import { environmentOf } from "../load/requirements.ts";
import { formatNumber } from "../model/numbers.ts";
import type { CommandLineTool } from "../model/process.ts";
import type { Value, ValueObject } from "../model/values.ts";
import { buildCommandLine, shellLine } from "../tool/command-line.ts";
import { InputStager } from "../tool/stage-inputs.ts";
import type { Workspace } from "../tool/workspace.ts";
import { imageLabel } from "./container-request.ts";
import type { RunContext } from "./context.ts";
import { fetchItem } from "./context.ts";
import type { Requirements } from "./requirements.ts";
import type { Resources } from "./runtime.ts";

/** Whether a tool may be given files of other steps to write to. */
export function updatesInPlace(requirements: Requirements): boolean {
  return (
    requirements.find("InplaceUpdateRequirement")?.fields["inplaceUpdate"] === true &&
    requirements.has("InitialWorkDirRequirement")
  );
}

/** One job of a tool, from staged inputs to an ended command. */
export class ToolJob {
  private readonly tool: CommandLineTool;
  private readonly requirements: Requirements;
  private readonly evaluator: Evaluator;
  private readonly workspace: Workspace;
  private readonly context: RunContext;
  private readonly step: string;
  private cacheKey: string | undefined;

  constructor(
    tool: CommandLineTool,
    requirements: Requirements,
    evaluator: Evaluator,
    workspace: Workspace,
    context: RunContext,
    step: string,
  ) {
    this.tool = tool;
    this.requirements = requirements;
    this.evaluator = evaluator;
    this.workspace = workspace;
    this.context = context;
    this.step = step;
    this.cacheKey = undefined;
  }

  /** Gives inputs their paths and fills the working directory. */
  async stage(inputs: ValueObject, runtime: ValueObject, request: ContainerRequest | undefined): Promise<ValueObject> {
    const stager = new InputStager(this.workspace);
    const staged = stager.stage(inputs) as ValueObject;
    const workDir = this.requirements.find("InitialWorkDirRequirement");
    if (workDir === undefined) {
      return staged;
    }
    const { prepareWorkDir } = await import("../tool/initial-work-dir.ts");
    await prepareWorkDir(workDir, {
      evaluator: this.evaluator,
      context: { inputs: staged, self: null, runtime },
      workspace: this.workspace,
      stager,
      absoluteNames: request?.required === true && !this.workspace.sharesFileSystem,
      inPlace: updatesInPlace(this.requirements),
      fetch: (item, by) => fetchItem(item, this.context, by),
    });
    return stager.placed.size === 0 ? staged : (stager.stage(staged) as ValueObject);
  }

  async specify(
    id: string,
    inputs: ValueObject,
    runtime: ValueObject,
    resources: Resources,
    container: ContainerRequest | undefined,
  ): Promise<JobSpec> {
    const { tool, requirements, workspace, evaluator } = this;
    const where = { inputs, runtime };
    const words = await buildCommandLine(tool, evaluator, where);
    const plain = requirements.has("ShellCommandRequirement")
      ? ["/bin/sh", "-c", shellLine(words)]
      : words.map((word) => word.text);
    const command = [...(await this.mpiLauncher(inputs, runtime, container)), ...plain];
    if (plain.length === 0) {
      throw new CwlError("invalid-document", `${tool.name} has an empty command line`);
    }
    return {
      id,
      name: tool.name,
      command,
      environment: await this.environment(inputs, runtime),
      outdir: workspace.outdir,
      tmpdir: workspace.tmpdir,
      mounts: workspace.mounts,
      stdin: await this.stdin(inputs, runtime),
      stdout: await this.stream(tool.stdout, "stdout", inputs, runtime),
      stderr: await this.stream(tool.stderr, "stderr", inputs, runtime),
      container,
      network: await this.flag("NetworkAccess", "networkAccess", inputs, runtime, false),
      networkIsHint: requirements.find("NetworkAccess")?.required === false,
      cores: resources.cores,
      ramMiB: requirements.has("ResourceRequirement") ? resources.ram : 0,
      ramLimitMiB: this.ramLimit(resources.ramLimit),
      outdirLimitMiB: resources.outdirLimit,
      tmpdirLimitMiB: resources.tmpdirLimit,
      timeLimitSeconds: await this.timeLimit(inputs, runtime),
    };
  }

  /** What starts the processes of a tool with cwltool:MPIRequirement. */
  private async mpiLauncher(
    inputs: ValueObject,
    runtime: ValueObject,
    container: ContainerRequest | undefined,
  ): Promise<string[]> {
    const raw = this.requirements.find("http://commonwl.org/cwltool#MPIRequirement")?.fields["processes"];
    const value = typeof raw === "string" ? await this.evaluator.evaluate(raw, { inputs, runtime, self: null }) : raw;
    if (value === undefined || value === null || value === 0) {
      return [];
    }
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
      throw new CwlError(
        "expression",
        `cwltool:MPIRequirement: processes must be a number, but is ${sortedJson(value)}`,
      );
    }
    if (container !== undefined) {
      throw new CwlError(
        "unsupported",
        `${this.tool.name}: cwltool:MPIRequirement works on the host alone (--no-container)`,
      );
    }
    return ["mpirun", "-n", String(value)];
  }

  /** Runs the job; what failed below the tool is tried again, what the tool did wrong is not. */
  async execute(executor: Executor, spec: JobSpec): Promise<JobResult> {
    const { context, step } = this;
    const mask = context.secrets.maskPieces();
    const log = (text: string): void => {
      if (text !== "") {
        context.emit({ type: "step-log", step, text });
      }
    };
    let failures = 0;
    for (let attempt = 1; ; attempt += 1) {
      context.emit({
        type: "step-started",
        step,
        command: spec.command,
        image: spec.container === undefined ? undefined : imageLabel(spec.container),
        attempt,
      });
      try {
        return await executor.run(spec, {
          signal: context.signal,
          onLog: (text) => log(text === "" ? "" : mask(text)),
        });
      } catch (error) {
        if (!(error instanceof CwlError) || error.code !== "infrastructure") {
          throw error;
        }
        failures += error.isPreempted ? 0 : 1;
        if (failures > context.infrastructureRetries) {
          throw error;
        }
        context.emit({
          type: "step-failed",
          step,
          message: error.message,
          exitCode: undefined,
          logTail: undefined,
          retrying: true,
        });
        await pause(Math.min(100 * 2 ** attempt, 5000), context.signal);
      } finally {
        log(mask(""));
      }
    }
  }

  /** Outputs of an earlier run of the same command on the same inputs, when there is a cache and the tool allows it. */
  async lookUp(
    inputs: ValueObject,
    staged: ValueObject,
    runtime: ValueObject,
    spec: JobSpec,
  ): Promise<ValueObject | undefined> {
    const { reuse } = this.context;
    if (
      reuse === undefined ||
      this.requirements.find("InplaceUpdateRequirement")?.fields["inplaceUpdate"] === true ||
      !(await this.flag("WorkReuse", "enableReuse", staged, runtime, true))
    ) {
      return undefined;
    }
    this.cacheKey = await reuse.key(this.tool, this.requirements, inputs, spec);
    return await reuse.find(this.cacheKey);
  }

  async remember(outputs: ValueObject): Promise<void> {
    if (this.cacheKey !== undefined) {
      await this.context.reuse?.save(this.cacheKey, outputs, this.context.gate);
    }
  }

  private async environment(inputs: ValueObject, runtime: ValueObject): Promise<Record<string, string>> {
    const { workspace } = this;
    const result: Record<string, string> = {
      ...(workspace.sharesFileSystem ? this.context.environment : {}),
      HOME: workspace.outdir.seen,
      TMPDIR: workspace.tmpdir.seen,
      ...(workspace.sharesFileSystem ? { PATH: this.context.path } : {}),
    };
    const requirement = this.requirements.find("EnvVarRequirement");
    for (const { name, value } of requirement === undefined ? [] : environmentOf(requirement)) {
      const made =
        typeof value === "string"
          ? await this.evaluator.evaluate(value, { inputs, runtime, self: null })
          : (value as Value);
      if (made !== null && typeof made === "object") {
        throw new CwlError("expression", `the environment variable ${name} must be a string`);
      }
      if (name === "" || /[=\0]/.test(name)) {
        throw new CwlError("invalid-document", `${JSON.stringify(name)} cannot be the name of an environment variable`);
      }
      result[name] = typeof made === "number" ? formatNumber(made) : String(made ?? "");
    }
    return result;
  }

  private async stdin(inputs: ValueObject, runtime: ValueObject): Promise<string | undefined> {
    if (this.tool.stdin === undefined) {
      return undefined;
    }
    const path = await this.evaluator.evaluate(this.tool.stdin, { inputs, runtime, self: null });
    if (path === null) {
      return undefined;
    }
    if (typeof path !== "string") {
      throw new CwlError("expression", `stdin must be a path, but is ${sortedJson(path)}`);
    }
    const seen = path.startsWith("/") ? path : `${this.workspace.outdir.seen}/${path}`;
    const host = this.workspace.resolve(seen);
    if (host === undefined) {
      throw new CwlError("process-failed", `stdin ${JSON.stringify(path)} is not there`);
    }
    return host;
  }

  private async stream(
    text: string | undefined,
    what: string,
    inputs: ValueObject,
    runtime: ValueObject,
  ): Promise<string | undefined> {
    if (text === undefined) {
      return undefined;
    }
    const name = await this.evaluator.evaluateText(text, { inputs, runtime, self: null }, what);
    const seen = this.workspace.outdir.seen;
    const host = joinInside(
      this.workspace.outdir.host,
      name.startsWith(`${seen}/`) ? name.slice(seen.length + 1) : name,
    );
    if (host === undefined || name === "" || (name.startsWith("/") && !name.startsWith(`${seen}/`))) {
      throw new CwlError("unsafe", `${what} ${JSON.stringify(name)} is not a file name inside the working directory`);
    }
    const parent = host.slice(0, host.lastIndexOf("/"));
    const real = this.workspace.resolve(this.workspace.outdir.seen + parent.slice(this.workspace.outdir.host.length));
    if (
      real === undefined ||
      !joinInside(this.workspace.outdir.host, real.slice(this.workspace.outdir.host.length)) ||
      !real.startsWith(this.workspace.outdir.host)
    ) {
      throw new CwlError("process-failed", `${what} ${JSON.stringify(name)}: its directory is not there`);
    }
    return host;
  }

  private async flag(
    name: string,
    field: string,
    inputs: ValueObject,
    runtime: ValueObject,
    fallback: boolean,
  ): Promise<boolean> {
    const raw = this.requirements.find(name)?.fields[field];
    const value = typeof raw === "string" ? await this.evaluator.evaluate(raw, { inputs, runtime, self: null }) : raw;
    if (value === undefined || value === null) {
      return fallback;
    }
    if (typeof value !== "boolean") {
      throw new CwlError("expression", `${name}: ${field} must be true or false, but is ${sortedJson(value)}`);
    }
    return value;
  }

  /** What the tool asks for, and never more than the run allows a tool. */
  private ramLimit(requested: number | undefined): number {
    const { toolRamMiB } = this.context;
    return toolRamMiB === 0 ? (requested ?? 0) : Math.min(requested ?? toolRamMiB, toolRamMiB);
  }

  private async timeLimit(inputs: ValueObject, runtime: ValueObject): Promise<number> {
    const raw = this.requirements.find("ToolTimeLimit")?.fields["timelimit"];
    const value =
      typeof raw === "string" ? await this.evaluator.evaluate(raw, { inputs, runtime, self: null }) : (raw ?? 0);
    const seconds = typeof value === "bigint" ? Number(value) : value;
    if (typeof seconds !== "number" || !(seconds >= 0)) {
      throw new CwlError(
        "invalid-document",
        `ToolTimeLimit: timelimit must be a number of seconds of at least 0, but is ${sortedJson(value)}`,
      );
    }
    const { toolSeconds } = this.context;
    const limit = toolSeconds > 0 && (seconds === 0 || seconds > toolSeconds) ? toolSeconds : seconds;
    // Timers of the platform end at 24 days; a longer limit is none.
    return limit > 2_000_000 ? 0 : limit;
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { setTimeout: sleep } = await import("node:timers/promises");
  try {
    await sleep(milliseconds, undefined, { signal });
  } catch (error) {
    throw new CwlError("cancelled", "the run was cancelled", { cause: messageOf(error) });
  }
}
