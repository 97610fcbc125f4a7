import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { CwlError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import { createProcessExecutor } from "../executors/process.ts";
import type { LoadedDocument } from "../load/load.ts";
import { loadDocument } from "../load/load.ts";
import { acceptsNull } from "../model/types.ts";
import type { CwlType } from "../model/types.ts";
import { toJson } from "../model/values.ts";
import type { JobInputs } from "../run/job-inputs.ts";
import { loadInputs, resolveInputs } from "../run/job-inputs.ts";
import { runProcess } from "../run/run-process.ts";
import { fileUri, resolvePath } from "../load/uri.ts";
import type { CwlCommand, CommandIo } from "./command.ts";
import { findContainerExecutor } from "./container-engine.ts";
import { ProgressView } from "./progress-view.ts";

export const runCommand: CwlCommand = {
  name: "run",
  summary: "run a CWL document and print its output object",
  usage:
    "run [--outdir DIR] [--quiet] [--no-container] [--engine podman|docker] [--journal DIR] DOCUMENT[#id] [INPUTS | --name value …]",
  run,
};

async function run(args: readonly string[], io: CommandIo): Promise<number> {
  const { own, rest } = splitArguments(args);
  const { values, positionals } = parseArgs({
    args: own,
    allowPositionals: true,
    options: {
      outdir: { type: "string", default: "." },
      quiet: { type: "boolean", default: false },
      "no-container": { type: "boolean", default: false },
      "no-match-user": { type: "boolean" },
      engine: { type: "string" },
      "engine-option": { type: "string", multiple: true },
      "auth-file": { type: "string" },
      podman: { type: "boolean" },
      parallel: { type: "boolean" },
      cachedir: { type: "string" },
      journal: { type: "string" },
      "tmpdir-prefix": { type: "string" },
      provenance: { type: "string" },
      cores: { type: "string" },
      ram: { type: "string" },
      json: { type: "boolean" },
      debug: { type: "boolean" },
    },
  });
  const [reference, inputsFile, ...extra] = positionals;
  if (reference === undefined || extra.length > 0) {
    io.error(`usage: ${runCommand.usage}`);
    return 2;
  }
  const document = await loadDocument(reference, { fetcher: io.fetcher });
  const inputs = await readInputs(document, inputsFile, rest, io);
  const container = values["no-container"]
    ? undefined
    : findContainerExecutor(values.podman === true ? "podman" : values.engine, {
        runOptions: values["engine-option"] ?? [],
        authFile: values["auth-file"],
        env: io.env,
      });
  const recorded: RunEvent[] = [];
  const view = new ProgressView(io.progress);
  const outputs = await runProcess({
    document,
    inputs,
    executors: { host: createProcessExecutor(), container },
    hostFallback: values["no-container"],
    outDir: values.outdir,
    workDir: values["tmpdir-prefix"],
    cacheDir: values.cachedir,
    journal: values.journal,
    fetcher: io.fetcher,
    signal: io.signal,
    path: io.env["PATH"],
    limits: {
      ...(values.cores === undefined ? {} : { cores: Number(values.cores) }),
      ...(values.ram === undefined ? {} : { ramMiB: Number(values.ram) }),
    },
    onEvent:
      values.quiet && values.json !== true && values.provenance === undefined
        ? undefined
        : (event) => {
            if (values.provenance !== undefined && event.type !== "step-log") {
              recorded.push(event);
            }
            if (values.json === true) {
              io.error(toJson(event));
            } else if (!values.quiet) {
              view.show(event);
            }
          },
  });
  io.print(toJson(outputs, 4));
  if (values.provenance !== undefined) {
    const { writeCrate } = await import("../provenance/ro-crate.ts");
    await writeCrate(values.provenance, { document, inputs: inputs.values, events: recorded, outputs });
  }
  return 0;
}

/** Options stand before the document; what follows it and is no file is an input of the process. */
function splitArguments(args: readonly string[]): { own: string[]; rest: string[] } {
  const own: string[] = [];
  const withValue = new Set([
    "--outdir",
    "--engine",
    "--engine-option",
    "--auth-file",
    "--cachedir",
    "--journal",
    "--tmpdir-prefix",
    "--provenance",
    "--cores",
    "--ram",
  ]);
  let seen = 0;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (seen > 0 && arg.startsWith("-")) {
      return { own, rest: args.slice(index) };
    }
    own.push(arg);
    if (withValue.has(arg)) {
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
  io: CommandIo,
): Promise<JobInputs> {
  const base =
    file === undefined
      ? resolveInputs({}, document, `${fileUri(process.cwd())}/`)
      : await loadInputs(file, document, { fetcher: io.fetcher });
  if (rest.length === 0) {
    return base;
  }
  const given: Record<string, unknown> = {};
  for (let index = 0; index < rest.length; index += 1) {
    const [, name = "", inline] = /^--?([^=]+)(?:=(.*))?$/s.exec(rest[index] ?? "") ?? [];
    const parameter = document.process.inputs.find((input) => input.name === name);
    if (parameter === undefined) {
      const names = document.process.inputs.map((input) => `--${input.name}`).join(", ");
      throw new CwlError(
        "invalid-inputs",
        `${JSON.stringify(rest[index])} is no input of ${document.process.name}; it has ${names === "" ? "none" : names}`,
      );
    }
    const flag =
      isBoolean(parameter.type) && inline === undefined && !["true", "false"].includes(rest[index + 1] ?? "");
    const text = flag ? "true" : (inline ?? rest[(index += 1)] ?? "");
    const value = parseValue(text, parameter.type);
    given[name] =
      name in given && Array.isArray(given[name]) ? [...(given[name] as unknown[]), ...(value as unknown[])] : value;
  }
  const own = resolveInputs(given, document, `${fileUri(process.cwd())}/`);
  return { ...base, values: { ...base.values, ...own.values } };
}

function isBoolean(type: CwlType): boolean {
  return type.kind === "boolean" || (type.kind === "union" && type.members.some(isBoolean));
}

/** A word of the command line as a value of the parameter's type. */
function parseValue(text: string, type: CwlType): unknown {
  switch (type.kind) {
    case "boolean":
      return text === "true";
    case "int":
    case "long":
    case "float":
    case "double":
      return text.trim() === "" ? text : Number.isNaN(Number(text)) ? text : Number(text);
    case "File":
    case "Directory":
      return { class: type.kind, location: resolvePath(text, `${fileUri(resolve("."))}/`) };
    case "array":
      return [parseValue(text, type.items)];
    case "union":
      return text === "null" && acceptsNull(type)
        ? null
        : parseValue(text, type.members.find((member) => member.kind !== "null") ?? { kind: "string" });
    case "record":
      return JSON.parse(text) as unknown;
    case "null":
    case "string":
    case "enum":
    case "Any":
      return text;
  }
}
