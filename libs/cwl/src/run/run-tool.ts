import { measureValue } from "../files/measure.ts";
import { CwlError } from "../errors.ts";
import type { ContainerRequest, Executor, JobResult, JobSpec } from "../executors/executor.ts";
import { localPath } from "../inputs/files.ts";
import { authorOf, prepareInputs } from "../inputs/prepare.ts";
import { resolveReference } from "../load/uri.ts";
import type { CommandLineTool } from "../model/process.ts";
import type { ValueObject } from "../model/values.ts";
import { collectOutputs } from "../tool/collect-outputs.ts";
import { settleUpdated } from "../tool/settle.ts";
import { Workspace } from "../tool/workspace.ts";
import { containerRequest, imageLabel } from "./container-request.ts";
import type { RunContext } from "./context.ts";
import { fetchItem, inputAccess } from "./context.ts";
import { listingInForce, makeEvaluator } from "./evaluators.ts";
import type { graphicsFor } from "./graphics.ts";
import type { Requirements } from "./requirements.ts";
import { requestedResources, runtimeOf } from "./runtime.ts";
import { checkSupported } from "./supported.ts";
import { ToolJob, updatesInPlace } from "./tool-job.ts";

/** Runs one CommandLineTool: stage, make the command line, run, collect. */
export async function runTool(
  tool: CommandLineTool,
  provided: ValueObject,
  outer: Requirements,
  step: string,
  context: RunContext,
): Promise<ValueObject> {
  const requirements = outer.inside(tool);
  checkSupported(tool, requirements);
  context.emit({ type: "step-queued", step });
  context.progress.jobQueued();
  const leave = await context.fileLock.enter(updatesInPlace(requirements), context.signal);
  try {
    return await runPrepared(tool, provided, requirements, step, context);
  } finally {
    leave();
  }
}

async function runPrepared(
  tool: CommandLineTool,
  provided: ValueObject,
  requirements: Requirements,
  step: string,
  context: RunContext,
): Promise<ValueObject> {
  const evaluator = makeEvaluator(requirements, tool.version, context, step);
  const loadListing = listingInForce(requirements);
  const inputs = await prepareInputs(tool.inputs, provided, {
    evaluator,
    version: tool.version,
    loadListing,
    formats: context.formats,
    ...inputAccess(context, step),
    runtime: {},
  });
  const requested = await fetchImageFile(containerRequest(requirements), requirements, context);
  const executor = await chooseExecutor(requested, context, { tool, step });
  const expressions = { inputs, self: null, runtime: {} };
  const resources = await requestedResources(requirements, evaluator, expressions);
  const gpus = await graphicsOf(tool, requirements, { evaluator, expressions, executor, context, step });
  const request = requested === undefined ? undefined : { ...requested, gpus };
  const leave = await context.admission.enter(resources.cores, resources.ram, context.signal);
  const { job: number, paths } = context.directories.create();
  const id = `${context.id}-${number}`;
  context.startedJobs = true;
  const seenOutdir = requirements.find("DockerRequirement")?.fields["dockerOutputDirectory"];
  const workspace = new Workspace(paths, {
    sharesFileSystem: executor.sharesFileSystem,
    seenOutdir: typeof seenOutdir === "string" && seenOutdir.startsWith("/") ? seenOutdir : "/var/spool/cwl",
  });
  try {
    const job = new ToolJob(tool, requirements, evaluator, workspace, context, step);
    const runtime = runtimeOf(resources, workspace.outdir.seen, workspace.tmpdir.seen);
    const staged = await job.stage(inputs, runtime, request);
    const spec = await job.specify(id, staged, runtime, resources, executor.sharesFileSystem ? undefined : request);
    const cached = await job.lookUp(inputs, staged, runtime, spec);
    if (cached !== undefined) {
      context.emit({
        type: "step-finished",
        step,
        exitCode: undefined,
        usage: undefined,
        outputs: cached,
        reused: true,
      });
      context.gate.grantAll(cached);
      context.directories.hold(cached);
      return cached;
    }
    // While the tool runs: a directory may have many files.
    const bytesIn = measureValue(inputs, context.directorySizes);
    const result = await executeAndSettle(job, executor, spec, workspace);
    // What the command used is free, whatever is still to be done with its outputs.
    leave();
    checkExit(tool, result, spec);
    const outputs = await collectOutputs(tool.outputs, {
      evaluator,
      inputs: staged,
      runtime: { ...runtime, exitCode: result.exitCode },
      workspace,
      version: tool.version,
      loadListing,
      gate: context.gate,
      usesChecksums: context.usesChecksums,
    }).catch((error: unknown) => {
      throw error instanceof CwlError
        ? new CwlError(error.code, error.problems, { cause: error, exitCode: result.exitCode, logTail: result.logTail })
        : error;
    });
    context.gate.grantAll(outputs);
    await job.remember(outputs);
    context.emit({
      type: "step-finished",
      step,
      exitCode: result.exitCode,
      usage: {
        ...result.usage,
        bytesIn: await bytesIn,
        bytesOut: await measureValue(outputs, new Map()),
      },
      outputs,
      reused: false,
    });
    context.directories.hold(outputs);
    return outputs;
  } catch (error) {
    if (error instanceof CwlError) {
      error.step ??= step;
      context.emit({
        type: "step-failed",
        step,
        message: error.message,
        exitCode: error.exitCode,
        logTail: error.logTail,
        code: error.code,
        retrying: false,
      });
    }
    throw error;
  } finally {
    leave();
    context.directories.putBackScratch(paths.scratch);
    context.directories.drop(number);
  }
}

/** The code for graphics processors is loaded with the first tool that asks for some. */
async function graphicsOf(
  tool: CommandLineTool,
  requirements: Requirements,
  where: Parameters<typeof graphicsFor>[2],
): Promise<number> {
  return requirements.has("http://commonwl.org/cwltool#CUDARequirement")
    ? await (await import("./graphics.ts")).graphicsFor(tool, requirements, where)
    : 0;
}

async function executeAndSettle(
  job: ToolJob,
  executor: Executor,
  spec: JobSpec,
  workspace: Workspace,
): Promise<JobResult> {
  try {
    return await job.execute(executor, spec);
  } finally {
    await settleUpdated(workspace);
  }
}

/** Archives of images are files like any other: they pass the gate, and remote ones are fetched. */
async function fetchImageFile(
  request: ContainerRequest | undefined,
  requirements: Requirements,
  context: RunContext,
): Promise<ContainerRequest | undefined> {
  const reference = request?.load ?? request?.import;
  const place = requirements.find("DockerRequirement")?.location;
  if (request === undefined || reference === undefined || place === undefined) {
    return request;
  }
  const location = resolveReference(reference, place.file);
  const path = localPath(await fetchItem({ class: "File", location }, context, authorOf(place)));
  return request.load === undefined ? { ...request, import: path } : { ...request, load: path };
}

const notedImages = new WeakMap<RunContext, Set<string>>();

/** Once a run: that a hint's image cannot be had is no failure, and a scattered step would say it a thousand times. */
function noteMissingImage(
  context: RunContext,
  { step, image, why }: { readonly step: string; readonly image: string; readonly why: string },
): void {
  const noted = notedImages.get(context) ?? new Set();
  notedImages.set(context, noted);
  if (!noted.has(image)) {
    noted.add(image);
    context.emit({ type: "step-log", step, text: `Running without the container ${image}: ${why}\n` });
  }
}

async function chooseExecutor(
  request: ContainerRequest | undefined,
  context: RunContext,
  { tool, step }: { readonly tool: CommandLineTool; readonly step: string },
): Promise<Executor> {
  const { host, container } = context.executors;
  if (request !== undefined && container !== undefined) {
    const isOptional = !request.required && context.hostFallback !== false && host !== undefined;
    const why = isOptional ? await container.noImageReason?.(request, context.signal) : undefined;
    if (host === undefined || why === undefined) {
      return container;
    }
    noteMissingImage(context, { step, image: imageLabel(request), why });
    return host;
  }
  if (request?.required === true && context.hostFallback === "all" && host !== undefined) {
    noteMissingImage(context, { step, image: imageLabel(request), why: "containers are switched off" });
    return host;
  }
  if (request?.required === true) {
    throw new CwlError(
      "unsupported",
      `${tool.name} requires the container ${imageLabel(request)}, and no container engine answers here (start one, or choose it with --engine) or --no-container switched it off; --engine none runs all tools on this machine`,
    );
  }
  if (request !== undefined && context.hostFallback === false) {
    throw new CwlError(
      "unsupported",
      `${tool.name} asks for the container ${imageLabel(request)}, there is no container engine here, and running it on the host was not allowed`,
    );
  }
  if (host === undefined) {
    throw new CwlError("unsupported", `${tool.name} names no container, and tools without one are not run here`);
  }
  return host;
}

/** Exit code of a command that signal 9 ended. */
const KILLED = 137;

function checkExit(tool: CommandLineTool, result: JobResult, spec: JobSpec): void {
  const { exitCode, logTail } = result;
  const fail = (message: string): never => {
    const tail = logTail.trim();
    throw new CwlError("process-failed", `${tool.name}: ${message}${tail === "" ? "" : `; its last words:\n${tail}`}`, {
      exitCode,
      logTail,
    });
  };
  if (result.timedOut) {
    fail(`it ran longer than its limit of ${spec.timeLimitSeconds} s and was stopped`);
  }
  if (result.outOfMemory === true) {
    fail(
      `it used more than its ${spec.ramLimitMiB} MiB of memory and was stopped (ramMax or ramMin of its ResourceRequirement says how much it may use)`,
    );
  }
  const success =
    exitCode === 0
      ? !tool.permanentFailCodes.includes(0) && !tool.temporaryFailCodes.includes(0)
      : tool.successCodes.includes(exitCode);
  if (!success) {
    const note = tool.temporaryFailCodes.includes(exitCode)
      ? " (temporary failure)"
      : exitCode === KILLED
        ? " (it was killed, as the system does with processes when memory runs out)"
        : "";
    fail(`exit code ${exitCode}${note}`);
  }
}
