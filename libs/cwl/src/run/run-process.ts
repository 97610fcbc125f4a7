import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { CwlError, messageOf } from "../errors.ts";
import type { RunEvent, RunEventBody } from "../events.ts";
import { createProcessExecutor } from "../executors/process.ts";
import type { SandboxLimits } from "../expressions/sandbox.ts";
import { defaultSandboxLimits } from "../expressions/sandbox.ts";
import { removeTree } from "../files/copy.ts";
import { FormatChecker } from "../inputs/formats.ts";
import type { Ontology } from "../inputs/ontology.ts";
import type { Fetcher } from "../load/fetcher.ts";
import { readDocumentText } from "../load/fetcher.ts";
import type { LoadedDocument } from "../load/load.ts";
import { fileUri } from "../load/uri.ts";
import type { Process } from "../model/process.ts";
import type { ValueObject } from "../model/values.ts";
import { runWorkflow } from "../workflow/run-workflow.ts";
import { Admission } from "./admission.ts";
import type { Executors, RunContext } from "./context.ts";
import type { JobInputs } from "./job-inputs.ts";
import { resolveInputs } from "./job-inputs.ts";
import { ProgressMeter } from "./progress.ts";
import { publishOutputs } from "./publish.ts";
import { Requirements } from "./requirements.ts";
import { ReuseCache } from "./reuse-cache.ts";
import { runExpressionTool } from "./run-expression-tool.ts";
import { runTool } from "./run-tool.ts";
import { Secrets } from "./secrets.ts";

export interface RunOptions {
  readonly document: LoadedDocument;
  /** Plain input object (relative locations mean: below the current directory), or what `loadInputs` gave. */
  readonly inputs: JobInputs | { readonly [name: string]: unknown };
  /** What runs tools; default: processes of this machine, no containers. */
  readonly executors?: Executors | undefined;
  /** Whether tools whose container is only a hint may run on the host where there is no container executor. */
  readonly hostFallback?: boolean | undefined;
  /** Directory for scratch space; a fresh one is made inside and removed at the end. Default: the system's. */
  readonly workDir?: string | undefined;
  /** Where outputs are put. */
  readonly outDir: string;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  /** Reaches `http:`, `s3:` and other remote inputs and ontologies; the caller decides what may be reached. */
  readonly fetcher?: Fetcher | undefined;
  /** Directories that local input files may lie in. Undefined: anywhere. A service must set it. */
  readonly inputRoots?: readonly string[] | undefined;
  readonly limits?: RunLimits | undefined;
  /** Directory of the work-reuse cache; off without one. */
  readonly cacheDir?: string | undefined;
  /** PATH of tools on the host. */
  readonly path?: string | undefined;
}

export interface RunLimits {
  /** What all running tools may ask for together. A tool that asks for more is refused; undefined: this machine, and such a tool runs alone. */
  readonly cores?: number | undefined;
  readonly ramMiB?: number | undefined;
  readonly expression?: Partial<SandboxLimits> | undefined;
  /** How often a job is tried again after the machinery failed. */
  readonly infrastructureRetries?: number | undefined;
}

/**
 * Runs a process to its end and gives its output object, with every file in `outDir`. Throws a CwlError that says what
 * failed and in which step. When it returns or throws, no process of the run is left.
 */
export async function runProcess(options: RunOptions): Promise<ValueObject> {
  const { document } = options;
  const parent = options.workDir ?? tmpdir();
  mkdirSync(parent, { recursive: true });
  const workDir = realpathSync(mkdtempSync(join(parent, "cwl-")));
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  const context = makeContext(options, workDir, stop, signal);
  try {
    if (options.signal?.aborted === true) {
      throw new CwlError("cancelled", "the run was cancelled");
    }
    context.emit({
      type: "run-started",
      process: document.uri,
      label: document.process.label,
      warnings: document.warnings,
    });
    const inputs = isJobInputs(options.inputs)
      ? options.inputs
      : resolveInputs(options.inputs, document, `${fileUri(process.cwd())}/`);
    // Requirements in the input object go before the document's own.
    const top = { ...document.process, requirements: [...document.process.requirements, ...inputs.requirements] };
    const made = await context.run(top, inputs.values, new Requirements(), "", context);
    const outputs = await publishOutputs(made, { outDir: realOutDir(options.outDir), workDir });
    context.progress.finish("", false);
    context.emit({ type: "run-finished", outputs: outputs as never });
    return outputs;
  } catch (error) {
    const failure = asCwlError(error, options.signal);
    context.emit({ type: "run-failed", code: failure.code, message: failure.message, step: failure.step });
    throw failure;
  } finally {
    stop.abort();
    for (const executor of new Set([context.executors.host, context.executors.container])) {
      await executor?.cleanUp?.(context.jobIds.length === 0 ? [] : [`${context.id}-`]);
    }
    removeTree(workDir);
  }
}

function makeContext(options: RunOptions, workDir: string, stop: AbortController, signal: AbortSignal): RunContext {
  const { limits = {}, document } = options;
  let sequence = 0;
  const secrets = new Secrets();
  const emit = (body: RunEventBody): void => {
    if (options.onEvent !== undefined) {
      sequence += 1;
      options.onEvent({ sequence, time: new Date().toISOString(), ...secrets.maskEvent(body) });
    }
  };
  const cores = limits.cores ?? availableParallelism();
  return {
    id: `swath-${randomUUID()}`,
    executors: options.executors ?? { host: createProcessExecutor() },
    hostFallback: options.hostFallback ?? false,
    workDir,
    path: options.path ?? "/usr/local/bin:/usr/bin:/bin",
    signal,
    stop: () => stop.abort(),
    admission: new Admission({
      cores,
      ramMiB: limits.ramMiB ?? Math.floor(totalmem() / 1048576),
      strict: limits.cores !== undefined || limits.ramMiB !== undefined,
    }),
    fetcher: options.fetcher,
    inputRoots: options.inputRoots?.map((root) => realpathSync(root)),
    formats: new FormatChecker(() => loadOntology(document.schemas, options.fetcher)),
    sandbox: { ...defaultSandboxLimits, ...limits.expression },
    reuse: options.cacheDir === undefined ? undefined : new ReuseCache(options.cacheDir),
    infrastructureRetries: limits.infrastructureRetries ?? 2,
    scatterWidth: Math.max(8, Math.ceil(cores) * 2),
    progress: new ProgressMeter(emit),
    emit,
    secrets,
    fetched: new Map(),
    jobIds: [],
    nextJob: 0,
    run: runAny,
  };
}

async function runAny(
  process: Process,
  given: ValueObject,
  requirements: Requirements,
  step: string,
  context: RunContext,
): Promise<ValueObject> {
  context.signal.throwIfAborted();
  context.secrets.collect(process, given);
  switch (process.class) {
    case "CommandLineTool":
      return await runTool(process, given, requirements, step, context);
    case "ExpressionTool":
      return await runExpressionTool(process, given, requirements, step, context);
    case "Workflow":
      return await runWorkflow(process, given, requirements, step, context);
    case "Operation":
      throw new CwlError(
        "unsupported",
        `${process.name} is an Operation: it describes a step that has no implementation, so it cannot be run`,
      );
  }
}

function asCwlError(error: unknown, signal: AbortSignal | undefined): CwlError {
  if (signal?.aborted === true) {
    return new CwlError("cancelled", "the run was cancelled", { cause: error });
  }
  if (error instanceof CwlError) {
    return error;
  }
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  // No room and no handles are the machine's trouble, not the tool's.
  return code === "ENOSPC" || code === "EMFILE" || code === "ENFILE" || code === "EDQUOT"
    ? new CwlError("infrastructure", messageOf(error), { cause: error })
    : new CwlError("process-failed", messageOf(error), { cause: error });
}

function isJobInputs(inputs: RunOptions["inputs"]): inputs is JobInputs {
  return (
    Array.isArray(inputs["requirements"]) && typeof inputs["values"] === "object" && Object.keys(inputs).length === 2
  );
}

function realOutDir(path: string): string {
  mkdirSync(path, { recursive: true });
  return realpathSync(path);
}

const ontologyLimit = 64 * 1024 * 1024;

async function loadOntology(uris: readonly string[], fetcher: Fetcher | undefined): Promise<Ontology> {
  const { Ontology: OntologyClass, readOntology } = await import("../inputs/ontology.ts");
  const ontology = new OntologyClass();
  for (const uri of uris) {
    if (uri.startsWith("file:") || fetcher !== undefined) {
      readOntology(await readDocumentText(uri, { fetcher, limit: ontologyLimit, localFiles: true }), ontology);
    }
  }
  return ontology;
}
