import { mkdirSync, realpathSync } from "node:fs";
import { CwlError, messageOf } from "../errors.ts";
import { createProcessExecutor } from "../executors/process.ts";
import { JournalInvalidError } from "../journal/journal-lost.ts";
import { fileUri } from "../load/uri.ts";
import type { Process } from "../model/process.ts";
import type { ValueObject } from "../model/values.ts";
import type { Executors, RunContext } from "./context.ts";
import type { JobInputs } from "./job-inputs.ts";
import { resolveInputs } from "./job-inputs.ts";
import { makeContext, Reporter } from "./make-context.ts";
import { applyOverrides } from "./overrides.ts";
import { publishOutputs } from "./publish.ts";
import { Requirements } from "./requirements.ts";
import type { ReuseCache } from "./reuse-cache.ts";
import type { RunOptions } from "./run-options.ts";
import { runTool } from "./run-tool.ts";
import { openRunDirectory } from "./run-directory.ts";
import type { RunDirectory } from "./run-directory.ts";

/**
 * Runs a process to its end and gives its output object, with every file in `outDir`. Throws a CwlError that says what
 * failed and in which step. When it returns or throws, no process of the run is left.
 */
export async function runProcess(options: RunOptions): Promise<ValueObject> {
  const executors = options.executors ?? { host: createProcessExecutor() };
  const reporter = new Reporter(options);
  for (;;) {
    const location = await openRunDirectory(options, executors);
    try {
      return await runAttempt(options, location, executors, reporter);
    } catch (error) {
      if (!(error instanceof JournalInvalidError)) {
        throw error;
      }
      // A result is needed again whose inputs are gone: what the journal knows is of no use, so all is done anew.
      await location.journal?.file.discard();
    }
  }
}

async function runAttempt(
  options: RunOptions,
  location: RunDirectory,
  executors: Executors,
  reporter: Reporter,
): Promise<ValueObject> {
  const { document } = options;
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  const context = makeContext(options, location, {
    reuse: await openCache(options.cacheDir),
    executors,
    reporter,
    run: runAny,
    signal,
    stop: () => stop.abort(),
  });
  let lost = false;
  try {
    if (options.signal?.aborted === true) {
      throw new CwlError("cancelled", "the run was cancelled");
    }
    context.emit({
      type: "run-started",
      process: document.uri,
      label: document.process.label,
      warnings: document.warnings,
      resumed: location.journal?.file.resumed ?? false,
    });
    if (options.keepWorkDir === true) {
      context.emit({ type: "step-log", step: "", text: `Scratch space is kept in ${location.workDir}\n` });
    }
    const outputs = await runTop(options, context);
    context.progress.finish("", false);
    context.emit({ type: "run-finished", outputs: outputs as never });
    return outputs;
  } catch (error) {
    if (findLost(error)) {
      lost = true;
      throw new JournalInvalidError("", { cause: error });
    }
    const failure = reporter.secrets.maskError(joinFailures(asCwlError(error, options.signal), context));
    if (options.keepPartialOutputs === true && failure.code !== "cancelled") {
      failure.outputs = await publishPartial(options, context);
    }
    context.emit({ type: "run-failed", code: failure.code, message: failure.message, step: failure.step });
    throw failure;
  } finally {
    stop.abort();
    if (context.startedJobs) {
      for (const executor of new Set([executors.host, executors.container])) {
        await executor?.cleanUp?.([`${context.id}-`], location.workDir);
      }
    }
    if (!lost) {
      await location.close();
    }
  }
}

async function openCache(directory: string | undefined): Promise<ReuseCache | undefined> {
  if (directory === undefined) {
    return undefined;
  }
  const { ReuseCache: Cache } = await import("./reuse-cache.ts");
  return new Cache(directory);
}

function inputsOf({ inputs, document }: RunOptions): JobInputs {
  return isJobInputs(inputs) ? inputs : resolveInputs(inputs, document, `${fileUri(process.cwd())}/`);
}

async function runTop(options: RunOptions, context: RunContext): Promise<ValueObject> {
  const { document } = options;
  const { journal } = context;
  const inputs = inputsOf(options);
  // Requirements in the input object go before the document's own.
  const overridden = applyOverrides(document.process, inputs.overrides);
  const top = { ...overridden, requirements: [...overridden.requirements, ...inputs.requirements] };
  const outDir = realOutDir(options.outDir);
  const key = journal?.keys.keyOf(outDir, top, [], inputs.values) ?? "";
  const known = journal?.file.findFinished(key);
  if (known !== undefined) {
    return known;
  }
  journal?.file.clearUnfinished();
  const made = await context.run(top, inputs.values, new Requirements(), "", context);
  const outputs = await publish(made, outDir, context, options);
  await journal?.file.settle();
  await journal?.file.recordFinished(key, outputs, options.keepJournalWork);
  return outputs;
}

async function publish(
  outputs: ValueObject,
  outDir: string,
  context: RunContext,
  options: RunOptions,
): Promise<ValueObject> {
  let mayReplace: ((path: string) => boolean) | undefined;
  return await publishOutputs(outputs, {
    ...(options.replaceOutputs === true && {
      mayReplace: async (path) => {
        mayReplace ??= (await import("./replaceable.ts")).replaceable(inputsOf(options).values, options.document);
        return mayReplace(path);
      },
    }),
    outDir,
    workDir: context.workDir,
    gate: context.gate,
    onTarget: (path) => context.journal?.file.recordTarget(path),
  });
}

async function publishPartial(options: RunOptions, context: RunContext): Promise<ValueObject | undefined> {
  try {
    return context.partialOutputs === undefined
      ? undefined
      : await publish(context.partialOutputs, realOutDir(options.outDir), context, options);
  } catch (error) {
    // The failure of the run is the one to report; this one is told beside it.
    const text = `outputs of the steps that had finished could not be written: ${messageOf(error)}\n`;
    context.emit({ type: "step-log", step: "", text });
    return undefined;
  }
}

/** All failures as one, where several steps could fail. */
function joinFailures(first: CwlError, { continueOnError, failures }: RunContext): CwlError {
  if (!continueOnError || failures.size < 2 || first.code === "cancelled") {
    return first;
  }
  const problems = [...failures].map(({ step, message }) => ({
    severity: "error" as const,
    message: step === undefined || step === "" ? message : `step ${step}: ${message}`,
  }));
  return new CwlError(first.code, problems, { cause: first });
}

async function runAny(
  process: Process,
  provided: ValueObject,
  requirements: Requirements,
  step: string,
  context: RunContext,
): Promise<ValueObject> {
  context.signal.throwIfAborted();
  context.secrets.collect(process, provided);
  switch (process.class) {
    case "CommandLineTool":
      return await runTool(process, provided, requirements, step, context);
    // Code for one class of process is loaded with the first of them: a tool alone starts without it.
    case "ExpressionTool": {
      const { runExpressionTool } = await import("./run-expression-tool.ts");
      return await runExpressionTool(process, provided, requirements, step, context);
    }
    case "Workflow": {
      const { runWorkflow } = await import("../workflow/run-workflow.ts");
      return await runWorkflow(process, provided, requirements, step, context);
    }
    case "Operation":
      throw new CwlError(
        "unsupported",
        `${process.name} is an Operation: it describes a step that has no implementation, so it cannot be run`,
      );
  }
}

function findLost(error: unknown): boolean {
  return error instanceof JournalInvalidError || (error instanceof Error && findLost(error.cause));
}

const machineTroubles: { readonly [code: string]: string } = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota of the disk is used up",
  EMFILE: "this process has too many files open",
  ENFILE: "this machine has too many files open",
};

function asCwlError(error: unknown, signal: AbortSignal | undefined): CwlError {
  if (signal?.aborted === true) {
    return new CwlError("cancelled", "the run was cancelled", { cause: error });
  }
  if (error instanceof CwlError) {
    return error;
  }
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  // No room and no handles are the machine's trouble, not the tool's.
  return code !== undefined && Object.hasOwn(machineTroubles, code)
    ? new CwlError("infrastructure", `${machineTroubles[code]}: ${messageOf(error)}`, { cause: error })
    : new CwlError("process-failed", messageOf(error), { cause: error });
}

function isJobInputs(inputs: RunOptions["inputs"]): inputs is JobInputs {
  return (
    Array.isArray(inputs["requirements"]) &&
    Array.isArray(inputs["overrides"]) &&
    typeof inputs["values"] === "object" &&
    Object.keys(inputs).length === 3
  );
}

function realOutDir(path: string): string {
  mkdirSync(path, { recursive: true });
  return realpathSync(path);
}
