import type { DirectorySizes } from "../files/measure.ts";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { CwlError } from "../errors.ts";
import type { RunEventBody } from "../events.ts";
import type { Executor } from "../executors/executor.ts";
import type { SandboxLimits } from "../expressions/limits.ts";
import { removeTree } from "../files/copy.ts";
import type { FileGate, NamedBy } from "../files/gate.ts";
import { isLiteralLocation, localPath } from "../inputs/files.ts";
import type { FormatChecker } from "../inputs/formats.ts";
import type { PrepareOptions } from "../inputs/prepare.ts";
import type { Journal } from "../journal/journal.ts";
import type { StepKeys } from "../journal/step-key.ts";
import type { Fetcher } from "../load/fetcher.ts";
import { nameInAddress } from "../load/name-in-address.ts";
import { fileUri } from "../load/uri.ts";
import type { Process } from "../model/process.ts";
import type { FileOrDirectory, ValueObject } from "../model/values.ts";
import type { Capacity } from "./admission.ts";
import type { FileLock } from "./file-lock.ts";
import type { JobDirectories } from "./job-directories.ts";
import type { ProgressMeter } from "./progress.ts";
import type { Requirements } from "./requirements.ts";
import type { ReuseCache } from "./reuse-cache.ts";
import type { Secrets } from "./secrets.ts";

/** What runs tools. At least one of the two. */
export interface Executors {
  /** For tools without a container. */
  readonly host?: Executor | undefined;
  /** For tools that ask for one. */
  readonly container?: Executor | undefined;
}

/** What all parts of one run share. */
export interface RunContext {
  readonly id: string;
  readonly executors: Executors;
  /** Whether a tool whose container is only a hint may run on the host. */
  readonly hostFallback: boolean | "all";
  readonly workDir: string;
  /** Variables that tools on the host get beside those of their document. */
  readonly environment: { readonly [name: string]: string };
  /** PATH for tools that run on the host. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Ends every job that is still running, because the run has failed. */
  readonly stop: () => void;
  readonly admission: Capacity;
  readonly directories: JobDirectories;
  /** What is done is written down and not done again; undefined when nobody asked for that. */
  readonly journal: { readonly file: Journal; readonly keys: StepKeys } | undefined;
  readonly fetcher: Fetcher | undefined;
  /** What this run may read of this machine. */
  readonly gate: FileGate;
  /** Held by whoever reads files of this run, and alone by a job that updates some in place. */
  readonly fileLock: FileLock;
  readonly formats: FormatChecker;
  /** Whether some expression of the run reads checksums: only then are those of outputs between steps computed. */
  readonly usesChecksums: () => boolean;
  readonly directorySizes: DirectorySizes;
  readonly sandbox: SandboxLimits | undefined;
  readonly reuse: ReuseCache | undefined;
  readonly infrastructureRetries: number;
  /** Most seconds for one tool; 0 for no limit. */
  readonly toolSeconds: number;
  /** Most MiB for one tool; 0 for no limit. */
  readonly toolRamMiB: number;
  /** Most scattered jobs of one step in the making at one time. */
  readonly scatterWidth: number;
  readonly progress: ProgressMeter;
  readonly emit: (event: RunEventBody) => void;
  readonly secrets: Secrets;
  readonly fetched: Map<string, Promise<string>>;
  /** Whether steps that do not need what failed still run. */
  readonly continueOnError: boolean;
  /** What failed so far. */
  readonly failures: Set<CwlError>;
  /** Outputs of the top workflow that are there although it failed. */
  partialOutputs: ValueObject | undefined;
  /** Whether any job was started, so that there is something to clean up after. */
  startedJobs: boolean;
  /** Runs any process; here so that workflows need not import what imports them. */
  readonly run: RunProcess;
}

/** Runs a process. The directories that its outputs lie in are held once for the caller, who has to release them. */
export type RunProcess = (
  process: Process,
  provided: ValueObject,
  requirements: Requirements,
  step: string,
  context: RunContext,
) => Promise<ValueObject>;

/** How the inputs of a process are reached. Those of the whole run were named by its caller, those of a step by code. */
export function inputAccess(
  context: RunContext,
  step: string,
): Pick<PrepareOptions, "fetch" | "admit" | "givenBy" | "discover"> {
  return {
    fetch: (item, by) => fetchItem(item, context, by),
    admit: (item, by) => context.gate.admit(item, by),
    givenBy: step === "" ? "caller" : "code",
    discover: step === "",
  };
}

/** Checks that a File or Directory may be read, with all inside it, and brings what is remote here. */
export async function fetchItem(item: FileOrDirectory, context: RunContext, by: NamedBy): Promise<FileOrDirectory> {
  return await fetchAdmitted(context.gate.admit(item, by), context);
}

async function fetchAdmitted(item: FileOrDirectory, context: RunContext): Promise<FileOrDirectory> {
  if (isLiteralLocation(item.location)) {
    const inner = item.class === "Directory" ? item.listing : undefined;
    return inner === undefined
      ? await fetchSecondary(item, context)
      : { ...item, listing: await Promise.all(inner.map((entry) => fetchAdmitted(entry, context))) };
  }
  if (localPath(item) !== undefined) {
    return await fetchSecondary(item, context);
  }
  const uri = item.location ?? "";
  if (context.fetcher === undefined) {
    throw new CwlError("reference", `${uri} cannot be fetched: no network access was given to the engine`);
  }
  let local = context.fetched.get(uri);
  if (local === undefined) {
    local = download(item, uri, context.fetcher, context);
    context.fetched.set(uri, local);
  }
  const path = await local;
  context.gate.grant(path);
  const location = fileUri(path);
  return await fetchSecondary({ ...item, location }, context);
}

async function fetchSecondary(item: FileOrDirectory, context: RunContext): Promise<FileOrDirectory> {
  if (item.class === "Directory" || item.secondaryFiles === undefined) {
    return item;
  }
  const secondaryFiles: FileOrDirectory[] = [];
  for (const inner of item.secondaryFiles) {
    secondaryFiles.push(await fetchAdmitted(inner, context));
  }
  return { ...item, secondaryFiles };
}

async function download(item: FileOrDirectory, uri: string, fetcher: Fetcher, context: RunContext): Promise<string> {
  const { protocol, host, pathname, search } = new URL(uri);
  const trimmed = pathname.replace(/\/$/, "");
  // What lies in one remote directory lies in one here, so that secondary files are found beside their file.
  const location = `${protocol}//${host}${trimmed.slice(0, trimmed.lastIndexOf("/"))}${search}`;
  const folder = join(context.workDir, "fetched", createHash("sha1").update(location).digest("hex"));
  mkdirSync(folder, { recursive: true });
  const name = nameInAddress(trimmed).replaceAll(/[/\0]/g, "_");
  const target = join(folder, name === "" || name === "." || name === ".." ? "download" : name);
  if (existsSync(target)) {
    // Complete, or it would not have its name: fetched by an earlier attempt of this run.
    return target;
  }
  const path = `${target}.part`;
  removeTree(path);
  if (item.class === "File") {
    await fetcher.download(uri, path, { signal: context.signal });
  } else if (fetcher.downloadDirectory === undefined) {
    throw new CwlError("unsupported", `${uri} is a remote directory, and those cannot be fetched here`);
  } else {
    await fetcher.downloadDirectory(uri, path, { signal: context.signal });
  }
  renameSync(path, target);
  return target;
}
