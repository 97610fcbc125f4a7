import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { describeProcess } from "../describe.ts";
import { CwlError, messageOf } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import type { Executor } from "../executors/executor.ts";
import { createProcessExecutor } from "../executors/process.ts";
import type { LoadedDocument } from "../load/load.ts";
import { loadDocument } from "../load/load.ts";
import { toJson } from "../model/values.ts";
import type { ValueObject } from "../model/values.ts";
import type { RunOptions } from "../run/run-options.ts";
import type { JobInputs } from "../run/job-inputs.ts";
import { loadInputs, loadOverrides, resolveInputs } from "../run/job-inputs.ts";
import { runProcess } from "../run/run-process.ts";
import { fileUri } from "../load/uri.ts";
import type { CwlCommand, CommandIo } from "./command.ts";
import { findContainerExecutor } from "./container-engine.ts";
import { makeOutDir } from "./out-dir.ts";
import { isBoolean, parseValue } from "./parse-value.ts";
import type { LiveView } from "./live/live-view.ts";
import type { ProgressOutput, ProgressView } from "./progress-view.ts";
import type * as runPart from "./run-part.ts";
import { checkFlags, evaluationMilliseconds, helpOf, isFlag, parseOptions, takesValue } from "./run-flags.ts";
import type { RunFlags } from "./run-flags.ts";

export const runCommand: CwlCommand = {
  name: "run",
  summary: "run a CWL document and print its output object",
  usage:
    "run [--outdir DIR] [--quiet] [--no-container] [--engine podman|docker] [--journal DIR] … DOCUMENT[#id] [INPUTS | --name value …]",
  help: () => helpOf(runCommand.usage),
  run,
};

async function run(args: readonly string[], io: CommandIo): Promise<number> {
  const { own, rest } = splitArguments(args);
  const parsed = parseArgs({ args: own, allowPositionals: true, options: parseOptions });
  const flags = parsed.values as unknown as RunFlags;
  if (flags.help === true) {
    io.print(helpOf(runCommand.usage));
    return 0;
  }
  const [reference, inputsFile, ...extra] = parsed.positionals;
  if (reference === undefined || extra.length > 0) {
    io.error(`usage: ${runCommand.usage}\n(run --help lists every option)`);
    return 2;
  }
  checkFlags(flags);
  const whole = await loadDocument(reference, { fetcher: io.fetcher });
  if (flags["print-deps"] === true) {
    const { dependenciesOf } = await import("./print-deps.ts");
    io.print(toJson(await dependenciesOf(whole), 4));
    return 0;
  }
  const step = flags["single-step"];
  const parts = async (): Promise<typeof runPart> => await import("./run-part.ts");
  const part = step === undefined ? whole : (await parts()).onlyStep(whole, step);
  const document = flags.target === undefined ? part : (await parts()).onlyTargets(part, flags.target);
  if (flags["make-template"] === true) {
    io.print((await parts()).inputTemplate(document));
    return 0;
  }
  const provided = await readInputs(document, inputsFile, rest, flags.basedir ?? ".", io);
  if (flags.outdir !== undefined) {
    makeOutDir(flags.outdir);
  }
  if (flags["write-summary"] !== undefined) {
    // What cannot be written is known before hours of work.
    writeSummary(flags["write-summary"], "");
  }
  const more = flags.overrides === undefined ? [] : await loadOverrides(flags.overrides, document);
  const inputs = { ...provided, overrides: [...provided.overrides, ...more] };
  const isAlone = flags["no-container"] === true || flags.engine === "none";
  const container = isAlone ? undefined : await containerOf(flags, document, io);
  const recorded: RunEvent[] = [];
  const isSilent = flags.quiet === true && flags.json !== true && flags.provenance === undefined;
  const view = flags.quiet === true || flags.json === true ? undefined : await viewOf(flags, document, io);
  const onEvent = (event: RunEvent): void => {
    if (flags.provenance !== undefined && event.type !== "step-log") {
      recorded.push(event);
    }
    if (flags.json === true) {
      io.error(toJson(event));
    } else {
      view?.show(event);
    }
  };
  const onError = flags["on-error"] === "continue" ? "continue" : "stop";
  const options: RunOptions = {
    onError,
    keepPartialOutputs: true,
    document,
    inputs,
    executors: { host: createProcessExecutor({ limitMemory: flags["strict-memory-limit"] === true }), container },
    // Without an engine a hint is a hint; with one it is asked for its image.
    hostFallback: flags.engine === "none" ? "all" : container === undefined,
    outDir: flags.outdir ?? ".",
    replaceOutputs: true,
    workDir: flags["tmpdir-prefix"],
    keepWorkDir: flags["leave-tmpdir"] === true,
    cacheDir: flags.cachedir,
    journal: flags.journal,
    fetcher: io.fetcher,
    allowedPaths: flags["allow-path"],
    environment: preserved(flags, io),
    signal: io.signal,
    path: pathOfTools(io.env["PATH"]),
    limits: {
      expression: { milliseconds: evaluationMilliseconds(flags) },
      ...(flags.cores === undefined ? {} : { cores: Number(flags.cores) }),
      ...(flags.ram === undefined ? {} : { ramMiB: Number(flags.ram) }),
    },
    onEvent: isSilent ? undefined : onEvent,
  };
  const outputs = await runProcess(options).catch((error: unknown) => {
    if (error instanceof CwlError && error.outputs !== undefined) {
      writeOutputs(error.outputs, flags, io);
    }
    throw error;
  });
  writeOutputs(outputs, flags, io);
  if (flags.provenance !== undefined) {
    const { writeCrate } = await import("../provenance/ro-crate.ts");
    await writeCrate(flags.provenance, { document, inputs: inputs.values, events: recorded, outputs });
  }
  return 0;
}

/** The tree of a workflow in a terminal; lines elsewhere, and with the time where that is wanted. */
async function viewOf(flags: RunFlags, { process }: LoadedDocument, io: CommandIo): Promise<ProgressView | LiveView> {
  const { progress } = io;
  const { ProgressView: Lines } = await import("./progress-view.ts");
  if (flags.timestamps === true) {
    const stamp = (): string => `[${new Date().toISOString()}] `;
    return new Lines({
      columns: undefined,
      write: (text) => progress.write(text.replaceAll(/^(?=.)/gm, stamp)),
    });
  }
  if (progress.columns === undefined || process.class !== "Workflow" || io.env["TERM"] === "dumb") {
    return new Lines(progress);
  }
  const plain = flags["no-color"] === true || flags["disable-color"] === true || (io.env["NO_COLOR"] ?? "") !== "";
  const { LiveView: View } = await import("./live/live-view.ts");
  return new View(progress as ProgressOutput & { columns: number }, process, {
    verbose: flags.verbose === true || flags.debug === true,
    colored: !plain,
  });
}

function writeOutputs(outputs: ValueObject, flags: RunFlags, io: CommandIo): void {
  const text = toJson(outputs, 4);
  io.print(text);
  if (flags["write-summary"] !== undefined) {
    writeSummary(flags["write-summary"], `${text}\n`);
  }
}

/** @throws {CwlError} `invalid-inputs` */
function writeSummary(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new CwlError("invalid-inputs", `--write-summary: cannot write ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function containerOf(flags: RunFlags, document: LoadedDocument, io: CommandIo): Promise<Executor | undefined> {
  const names = ["podman", "docker", "singularity", "apptainer", "udocker"] as const;
  const engine = names.find((name) => flags[name] === true) ?? flags["user-space-docker-cmd"] ?? flags.engine;
  const found = findContainerExecutor(engine, {
    ...(flags["user-space-docker-cmd"] === undefined ? {} : { kind: "udocker" }),
    runOptions: flags["engine-option"] ?? [],
    authFile: flags["auth-file"],
    env: io.env,
    pull: flags["disable-pull"] !== true,
    strictCpus: flags["strict-cpu-limit"] === true,
  });
  if (found === undefined || describeProcess(document).images.length === 0) {
    return found?.executor;
  }
  const why = await found.whyAway();
  if (why !== undefined && engine !== undefined) {
    throw new CwlError(
      "unsupported",
      `${why}; start it, or run tools on this machine with --no-container or --engine none`,
    );
  }
  if (why !== undefined) {
    io.error(`${why}; tools whose container is a hint run on this machine`);
  }
  return why === undefined ? found.executor : undefined;
}

/** The caller's PATH: without what the launcher of this checkout puts before it, programs are the caller's own. */
function pathOfTools(path: string | undefined): string | undefined {
  const launcher = join(import.meta.dirname, "../../../../node_modules");
  return path
    ?.split(":")
    .filter((folder) => !folder.startsWith(`${launcher}/`))
    .join(":");
}

/** Variables that the caller hands on. Those of this engine and its launcher never are. */
function preserved(flags: RunFlags, { env, error }: CommandIo): Record<string, string> {
  const own = /^(?:CWL_|SWATH_|NODE_COMPILE_CACHE$)/;
  const named = flags["preserve-environment"] ?? [];
  const all = flags["preserve-entire-environment"] === true ? Object.keys(env).filter((name) => !own.test(name)) : [];
  const provided: Record<string, string> = {};
  for (const name of new Set([...all, ...named])) {
    const value = env[name];
    if (own.test(name)) {
      error(
        `--preserve-environment ${name}: variables of CWL_ and SWATH_ are not handed on; give the tool an EnvVarRequirement`,
      );
    } else if (name === "HOME" || name === "TMPDIR") {
      // Directories of each job, as the standard has it.
      if (named.includes(name)) {
        error(`--preserve-environment ${name}: tools have one of their own`);
      }
    } else if (value === undefined) {
      error(`--preserve-environment ${name}: it is not set here`);
    } else {
      provided[name] = value;
    }
  }
  return provided;
}

/** Options stand before the document; what follows it and is no file is an input of the process. */
function splitArguments(args: readonly string[]): { own: string[]; rest: string[] } {
  const own: string[] = [];
  let seen = 0;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (seen > 0 && arg.startsWith("-")) {
      return { own, rest: args.slice(index) };
    }
    own.push(arg);
    if (takesValue(arg)) {
      index += 1;
      own.push(args[index] ?? "");
    } else if (!arg.startsWith("-")) {
      seen += 1;
    }
  }
  return { own, rest: [] };
}

async function readInputs(
  document: LoadedDocument,
  file: string | undefined,
  rest: readonly string[],
  basedir: string,
  io: CommandIo,
): Promise<JobInputs> {
  const here = `${fileUri(resolve(basedir))}/`;
  const base =
    file === undefined ? resolveInputs({}, document, here) : await loadInputs(file, document, { fetcher: io.fetcher });
  if (rest.length === 0) {
    return base;
  }
  const provided: Record<string, unknown> = {};
  for (let index = 0; index < rest.length; index += 1) {
    const [, name = "", inline] = /^--?([^=]+)(?:=(.*))?$/s.exec(rest[index] ?? "") ?? [];
    const parameter = document.process.inputs.find((input) => input.name === name);
    if (parameter === undefined) {
      const names = document.process.inputs.map((input) => `--${input.name}`).join(", ");
      const order = isFlag(name) ? `, and options of run stand before the document` : "";
      throw new CwlError(
        "invalid-inputs",
        `${JSON.stringify(rest[index])} is no input of ${document.process.name}; it has ${names === "" ? "none" : names}${order}`,
      );
    }
    const flag =
      isBoolean(parameter.type) && inline === undefined && !["true", "false"].includes(rest[index + 1] ?? "");
    const text = flag ? "true" : (inline ?? rest[(index += 1)] ?? "");
    const value = parseValue(text, parameter.type, here);
    provided[name] =
      name in provided && Array.isArray(provided[name])
        ? [...(provided[name] as unknown[]), ...(value as unknown[])]
        : value;
  }
  const own = resolveInputs(provided, document, here);
  return { ...base, values: { ...base.values, ...own.values } };
}
