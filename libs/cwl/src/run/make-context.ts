import type { RunEvent, RunEventBody } from "../events.ts";
import { defaultSandboxLimits } from "../expressions/limits.ts";
import { FormatChecker } from "../inputs/formats.ts";
import { createCapacity, machineCapacity } from "./admission.ts";
import type { Executors, RunContext, RunProcess } from "./context.ts";
import { FileLock } from "./file-lock.ts";
import { loadOntologies } from "./load-ontologies.ts";
import { mentions } from "./mentions.ts";
import { ProgressMeter } from "./progress.ts";
import type { ReuseCache } from "./reuse-cache.ts";
import type { RunOptions } from "./run-options.ts";
import { Secrets } from "./secrets.ts";
import type { RunDirectory } from "./run-directory.ts";

/** What all attempts of one call share: one numbered stream of events, in which secrets are masked. */
export class Reporter {
  readonly secrets: Secrets;
  private readonly onEvent: ((event: RunEvent) => void) | undefined;
  private sequence = 0;
  private percent = 0;

  constructor(options: RunOptions) {
    this.secrets = new Secrets(options.secrets);
    this.onEvent = options.onEvent;
  }

  readonly emit = (body: RunEventBody): void => {
    if (this.onEvent === undefined) {
      return;
    }
    this.sequence += 1;
    if (body.type === "progress") {
      this.percent = Math.max(this.percent, body.percent);
    }
    const shown = body.type === "progress" ? { ...body, percent: this.percent } : this.secrets.maskEvent(body);
    this.onEvent({ sequence: this.sequence, time: new Date().toISOString(), ...shown });
  };
}

export function makeContext(
  options: RunOptions,
  location: RunDirectory,
  more: {
    readonly executors: Executors;
    readonly reuse: ReuseCache | undefined;
    readonly reporter: Reporter;
    readonly run: RunProcess;
    readonly signal: AbortSignal;
    readonly stop: () => void;
  },
): RunContext {
  const { limits = {}, document } = options;
  const { reporter } = more;
  const capacity =
    options.capacity ??
    (limits.cores === undefined && limits.ramMiB === undefined ? machineCapacity() : createCapacity(limits));
  let usesChecksums: boolean | undefined;
  return {
    id: location.id,
    executors: more.executors,
    hostFallback: options.hostFallback ?? false,
    workDir: location.workDir,
    directories: location.directories,
    journal: location.journal,
    environment: options.environment ?? {},
    path: options.path ?? "/usr/local/bin:/usr/bin:/bin",
    signal: more.signal,
    stop: more.stop,
    admission: capacity,
    fetcher: options.fetcher,
    gate: location.gate,
    fileLock: new FileLock(),
    directorySizes: new Map(),
    usesChecksums: () => (usesChecksums ??= mentions(document.process, "checksum")),
    formats: new FormatChecker(() => loadOntologies(document.schemas, options.fetcher, location.gate, reporter.emit)),
    sandbox: { ...defaultSandboxLimits, ...limits.expression },
    reuse: more.reuse,
    infrastructureRetries: limits.infrastructureRetries ?? 2,
    toolSeconds: limits.toolSeconds ?? 0,
    toolRamMiB: limits.toolRamMiB ?? 0,
    scatterWidth: Math.max(8, Math.ceil(capacity.cores) * 2),
    progress: new ProgressMeter(reporter.emit),
    emit: reporter.emit,
    secrets: reporter.secrets,
    fetched: new Map(),
    continueOnError: options.onError === "continue",
    failures: new Set(),
    partialOutputs: undefined,
    startedJobs: false,
    run: more.run,
  };
}
