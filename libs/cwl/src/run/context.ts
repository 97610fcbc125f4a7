import { mkdirSync } from "node:fs";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { CwlError } from "../errors.ts";
import type { RunEventBody } from "../events.ts";
import type { Executor } from "../executors/executor.ts";
import type { SandboxLimits } from "../expressions/sandbox.ts";
import { isInside } from "../files/inside.ts";
import { isLiteralLocation, localPath } from "../inputs/files.ts";
import type { FormatChecker } from "../inputs/formats.ts";
import type { Fetcher } from "../load/fetcher.ts";
import type { Process } from "../model/process.ts";
import type { FileOrDirectory, ValueObject } from "../model/values.ts";
import type { Admission } from "./admission.ts";
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
  readonly hostFallback: boolean;
  readonly workDir: string;
  /** PATH for tools that run on the host. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Ends every job that is still running, because the run has failed. */
  readonly stop: () => void;
  readonly admission: Admission;
  readonly fetcher: Fetcher | undefined;
  /** Directories that local inputs may come from; undefined for any. */
  readonly inputRoots: readonly string[] | undefined;
  readonly formats: FormatChecker;
  readonly sandbox: SandboxLimits | undefined;
  readonly reuse: ReuseCache | undefined;
  readonly infrastructureRetries: number;
  /** Most scattered jobs of one step in the making at one time. */
  readonly scatterWidth: number;
  readonly progress: ProgressMeter;
  readonly emit: (event: RunEventBody) => void;
  readonly secrets: Secrets;
  readonly fetched: Map<string, Promise<string>>;
  readonly jobIds: string[];
  nextJob: number;
  /** Runs any process; here so that workflows need not import what imports them. */
  readonly run: RunProcess;
}

export type RunProcess = (
  process: Process,
  given: ValueObject,
  requirements: Requirements,
  step: string,
  context: RunContext,
) => Promise<ValueObject>;

/** A fresh directory for one job. */
export function newJobDirectory(context: RunContext): { readonly id: string; readonly directory: string } {
  const number = context.nextJob;
  context.nextJob += 1;
  return { id: `${context.id}-${number}`, directory: join(context.workDir, String(number)) };
}

/** Brings a remote File or Directory here and checks that a local one may be read. */
export async function fetchItem(item: FileOrDirectory, context: RunContext): Promise<FileOrDirectory> {
  if (isLiteralLocation(item.location)) {
    const inner = item.class === "Directory" ? item.listing : undefined;
    return inner === undefined
      ? await fetchSecondary(item, context)
      : { ...item, listing: await Promise.all(inner.map((entry) => fetchItem(entry, context))) };
  }
  const path = localPath(item);
  if (path !== undefined) {
    checkRoot(path, context);
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
  const location = new URL(`file://${(await local).split("/").map(encodeURIComponent).join("/")}`).href;
  return await fetchSecondary({ ...item, location }, context);
}

async function fetchSecondary(item: FileOrDirectory, context: RunContext): Promise<FileOrDirectory> {
  if (item.class === "Directory" || item.secondaryFiles === undefined) {
    return item;
  }
  const secondaryFiles: FileOrDirectory[] = [];
  for (const inner of item.secondaryFiles) {
    secondaryFiles.push(await fetchItem(inner, context));
  }
  return { ...item, secondaryFiles };
}

async function download(item: FileOrDirectory, uri: string, fetcher: Fetcher, context: RunContext): Promise<string> {
  const folder = join(
    context.workDir,
    "fetched",
    createHash("sha1")
      .update(uri.slice(0, uri.lastIndexOf("/")))
      .digest("hex"),
  );
  mkdirSync(folder, { recursive: true });
  const name = decodeURIComponent(new URL(uri).pathname.replace(/\/$/, "").split("/").at(-1) ?? "").replaceAll(
    /[/\0]/g,
    "_",
  );
  const path = join(folder, name === "" || name === "." || name === ".." ? "download" : name);
  if (item.class === "File") {
    await fetcher.download(uri, path, { signal: context.signal });
  } else if (fetcher.downloadDirectory === undefined) {
    throw new CwlError("unsupported", `${uri} is a remote directory, and those cannot be fetched here`);
  } else {
    await fetcher.downloadDirectory(uri, path, { signal: context.signal });
  }
  return path;
}

function checkRoot(path: string, context: RunContext): void {
  if (context.inputRoots === undefined) {
    return;
  }
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    throw new CwlError("invalid-inputs", `the file ${path} cannot be read`, { cause: error });
  }
  if (![context.workDir, ...context.inputRoots].some((root) => isInside(real, root))) {
    throw new CwlError("unsafe", `${path} is outside the directories that inputs may come from`);
  }
}
