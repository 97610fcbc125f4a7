import { readFileSync, statSync } from "node:fs";
import { dirname, posix } from "node:path";
import { CwlError, messageOf } from "../errors.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import type { ExpressionContext } from "../expressions/parameter-reference.ts";
import { checksumOf } from "../files/checksum.ts";
import type { FileGate } from "../files/gate.ts";
import { isInside } from "../files/inside.ts";
import { branchFor, outputMismatch } from "../inputs/check-value.ts";
import { complete, isLiteralLocation, loadContents, loadListing, localPath } from "../inputs/files.ts";
import { findSecondaryFiles, pathBeside } from "../inputs/secondary-files.ts";
import { filePath, fileUri } from "../load/uri.ts";
import { parseYaml } from "../load/yaml.ts";
import type { CwlVersion, OutputParameter } from "../model/process.ts";
import type { CwlType, FileOptions, LoadListing, OutputBinding } from "../model/types.ts";
import type { FileOrDirectory, FileValue, Value, ValueObject } from "../model/values.ts";
import { isFile, isObject, mapFilesAsync } from "../model/values.ts";
import { globFiles } from "./glob.ts";
import { settleDirectory } from "./settle.ts";
import type { Workspace } from "./workspace.ts";

export interface CollectOptions {
  readonly evaluator: Evaluator;
  readonly inputs: ValueObject;
  /** With exitCode. */
  readonly runtime: ValueObject;
  readonly workspace: Workspace;
  readonly version: CwlVersion;
  readonly loadListing: LoadListing;
  readonly gate: FileGate;
  /** Whether an expression reads checksums of outputs. */
  readonly usesChecksums: () => boolean;
}

const outputObjectLimit = 256 * 1024 * 1024;

/** Finds the outputs of a tool that has ended: from cwl.output.json when there is one, otherwise by each outputBinding. */
export async function collectOutputs(
  outputs: readonly OutputParameter[],
  options: CollectOptions,
): Promise<ValueObject> {
  const written = await readOutputObject(options);
  const result: Record<string, Value> = {};
  for (const output of outputs) {
    result[output.name] = await collectPlaced(output, written, options);
  }
  // Up to v1.2 the file is the output object, and what else it holds is an output too; v1.3 passes the declared ones on.
  return options.version >= "v1.3" ? result : { ...written, ...result };
}

/** One output. What is wrong with it is said with the line that describes it. */
async function collectPlaced(
  output: OutputParameter,
  written: ValueObject | undefined,
  options: CollectOptions,
): Promise<Value> {
  try {
    const raw =
      written === undefined
        ? await collectOne(output.type, output.outputBinding, output, output.name, options)
        : ((written[output.name] ?? null) as Value);
    const value = written === undefined ? raw : await decorate(raw, output.type, output, output.name, options);
    const wrong = outputMismatch(value, output.type);
    if (wrong !== undefined) {
      throw new CwlError("process-failed", `the output "${output.name}${wrong.path}" is wrong: ${wrong.message}`);
    }
    return value;
  } catch (error) {
    const first = error instanceof CwlError ? error.problems[0] : undefined;
    if (!(error instanceof CwlError) || first === undefined || first.line !== undefined) {
      throw error;
    }
    throw new CwlError(error.code, [{ ...first, ...output.location }], { cause: error });
  }
}

async function readOutputObject(options: CollectOptions): Promise<ValueObject | undefined> {
  const { workspace } = options;
  const host = workspace.resolve(`${workspace.outdir.seen}/cwl.output.json`);
  if (host === undefined || !statSync(host).isFile()) {
    return undefined;
  }
  if (statSync(host).size > outputObjectLimit) {
    throw new CwlError("limit", `cwl.output.json is larger than ${outputObjectLimit} bytes`);
  }
  const text = readFileSync(host, "utf8");
  let value: unknown;
  try {
    value = /\d{16}/.test(text) ? parseYaml({ uri: fileUri(host), text }) : JSON.parse(text);
  } catch (error) {
    throw new CwlError("process-failed", `cwl.output.json is not JSON: ${messageOf(error)}`, { cause: error });
  }
  if (!isObject(value)) {
    throw new CwlError("process-failed", "cwl.output.json does not hold an object");
  }
  return (await adopt(value as ValueObject, options)) as ValueObject;
}

async function collectOne(
  type: CwlType,
  binding: OutputBinding | undefined,
  requested: FileOptions,
  what: string,
  options: CollectOptions,
): Promise<Value> {
  const { evaluator, inputs, runtime } = options;
  if (binding === undefined) {
    const record = recordBranch(type);
    if (record === undefined) {
      return null;
    }
    const result: Record<string, Value> = {};
    for (const field of record.fields) {
      result[field.name] = await collectOne(field.type, field.outputBinding, field, `${what}.${field.name}`, options);
    }
    return result;
  }
  let value: Value = null;
  if (binding.glob.length > 0) {
    value = await globAll(
      binding,
      { inputs, runtime, self: null },
      options,
      requested.loadListing ?? binding.loadListing,
    );
  }
  if (binding.outputEval !== undefined) {
    value = await evaluator.evaluate(binding.outputEval, { inputs, runtime, self: value });
    value = await adopt(value, options);
  } else {
    value = fitMatches(value, type, `${what}" (${binding.glob.join(", ")} in ${options.workspace.outdir.seen})`);
  }
  return await decorate(value, type, requested, what, options);
}

function recordBranch(type: CwlType): Extract<CwlType, { kind: "record" }> | undefined {
  const branches = type.kind === "union" ? type.members : [type];
  return branches.find((item) => item.kind === "record");
}

async function globAll(
  binding: OutputBinding,
  context: ExpressionContext,
  options: CollectOptions,
  listing: LoadListing | undefined,
): Promise<Value> {
  const { workspace } = options;
  const locationOf = (path: string): string =>
    workspace.toHost(path === "" ? workspace.outdir.seen : `${workspace.outdir.seen}/${path}`) ?? "";
  const found: FileOrDirectory[] = [];
  for (const pattern of binding.glob) {
    const value = await options.evaluator.evaluate(pattern, context);
    for (const item of Array.isArray(value) ? (value as readonly Value[]) : value === null ? [] : [value]) {
      if (typeof item !== "string") {
        throw new CwlError("expression", `the glob ${pattern} gave something that is no string`);
      }
      for (const path of globFiles(locationOf, relativeGlob(item, workspace))) {
        found.push(await foundItem(path, binding.loadContents, listing, options));
      }
    }
  }
  return found;
}

function relativeGlob(pattern: string, workspace: Workspace): string {
  const { seen } = workspace.outdir;
  if (pattern === seen || pattern.startsWith(`${seen}/`)) {
    return pattern.slice(seen.length + 1) || ".";
  }
  if (pattern.startsWith("/")) {
    throw new CwlError("unsafe", `the glob ${JSON.stringify(pattern)} is outside the working directory`);
  }
  return pattern;
}

async function foundItem(
  relative: string,
  contents: boolean,
  listing: LoadListing | undefined,
  options: CollectOptions,
): Promise<FileOrDirectory> {
  const { workspace } = options;
  const seen = relative === "" ? workspace.outdir.seen : `${workspace.outdir.seen}/${relative}`;
  const item = await foundAt(seen, options);
  if (item === undefined) {
    throw new CwlError("unsafe", `${relative} is a symbolic link that leads nowhere`);
  }
  const directory = dirname(seen);
  if (item.class === "File") {
    const file: FileValue = { ...item, path: seen, dirname: directory };
    return contents ? { ...file, contents: await loadContents(file, options.version) } : file;
  }
  return { ...loadListing(item, listing ?? options.loadListing), path: seen };
}

/** The File or Directory at a path as the tool saw it; undefined when nothing is there. */
async function foundAt(seen: string, options: CollectOptions): Promise<FileOrDirectory | undefined> {
  const { workspace } = options;
  const host = workspace.resolve(seen);
  if (host === undefined) {
    return undefined;
  }
  const info = statSync(host);
  const basename = seen.slice(seen.lastIndexOf("/") + 1);
  if (info.isDirectory()) {
    if (isInside(host, workspace.outdir.host)) {
      await settleDirectory(host, seen, workspace);
    }
    return complete({ class: "Directory", location: fileUri(host), basename }, { size: false });
  }
  if (!info.isFile()) {
    throw new CwlError("process-failed", `${seen} is neither a file nor a directory`);
  }
  const checksum = options.usesChecksums() ? { checksum: await checksumOf(host) } : {};
  return complete({ class: "File", location: fileUri(host), basename, ...checksum }, { size: true });
}

/** One match for a File or Directory, all of them for an array; anything else is for the type check to refuse. */
function fitMatches(value: Value, type: CwlType, what: string): Value {
  if (!Array.isArray(value)) {
    return value;
  }
  const branches = type.kind === "union" ? type.members : [type];
  if (
    branches.some((item) => item.kind === "array" || item.kind === "Any") &&
    outputMismatch(value, type) === undefined
  ) {
    return value;
  }
  if (value.length > 1 && !branches.some((item) => item.kind === "array")) {
    throw new CwlError(
      "process-failed",
      `the output "${what} takes one ${branches.map((b) => b.kind).join(" or ")}, but ${value.length} match its glob`,
    );
  }
  if (value.length === 0) {
    if (branches.some((item) => item.kind === "null")) {
      return null;
    }
    throw new CwlError("process-failed", `nothing matches the glob of the output "${what}`);
  }
  return value.length === 1 ? ((value as readonly Value[])[0] ?? null) : value;
}

/** Takes over Files and Directories that a tool or an expression named: paths become locations, checked to be ours. */
async function adopt(value: Value, options: CollectOptions): Promise<Value> {
  return await mapFilesAsync(value, async (item) => {
    const adopted = await adoptItem(item, options);
    if (adopted === undefined) {
      throw new CwlError(
        "process-failed",
        `the output names ${JSON.stringify(item.path ?? item.location ?? item.basename)}, which is not there`,
      );
    }
    return adopted;
  });
}

/** One item with all inside it; undefined when nothing is where it says. */
async function adoptItem(item: FileOrDirectory, options: CollectOptions): Promise<FileOrDirectory | undefined> {
  const own = item.class === "File" ? item.secondaryFiles : item.listing;
  const inner =
    own === undefined ? undefined : ((await adopt(own as readonly Value[], options)) as readonly FileOrDirectory[]);
  const more = inner === undefined ? {} : item.class === "File" ? { secondaryFiles: inner } : { listing: inner };
  const path = namedPath(item);
  if (path === undefined) {
    return complete({ ...item, ...more } as FileOrDirectory, { size: true });
  }
  const found = await namedAt(path, options);
  if (found === undefined) {
    return undefined;
  }
  if (found.class !== item.class) {
    throw new CwlError(
      "process-failed",
      `the output names ${JSON.stringify(path)} as a ${item.class}, but it is a ${found.class}`,
    );
  }
  const { path: _path, location: _location, ...rest } = item;
  return complete(
    { ...rest, ...more, location: found.location, basename: item.basename ?? found.basename } as FileOrDirectory,
    { size: true },
  );
}

/** Path by which an item is named, absolute or below the working directory; undefined for literals and what is remote. */
function namedPath(item: FileOrDirectory): string | undefined {
  const { path, location } = item;
  if (path !== undefined) {
    return path;
  }
  if (location === undefined) {
    const isNameAlone = item.class === "File" && item.contents === undefined;
    return isNameAlone ? item.basename : undefined;
  }
  return /^[\w+.-]+:/.test(location) || isLiteralLocation(location) ? filePath(location) : location;
}

async function namedAt(path: string, options: CollectOptions): Promise<FileOrDirectory | undefined> {
  const { workspace, gate } = options;
  const { outdir, sources } = workspace;
  const named = posix.normalize(path.startsWith("/") ? path : `${outdir.seen}/${path}`);
  // A location that came from an input is a path of this machine, whatever the tool sees.
  if ([...sources].some((source) => isInside(named, source))) {
    gate.admitPath(named, "code");
    const kind = statSync(named).isDirectory() ? "Directory" : "File";
    return complete({ class: kind, location: fileUri(named) } as FileOrDirectory, { size: true });
  }
  const isHostPath = !workspace.sharesFileSystem && isInside(named, outdir.host);
  return await foundAt(isHostPath ? outdir.seen + named.slice(outdir.host.length) : named, options);
}

/** Adds secondary files and format, and takes away what only the tool's expressions needed. */
async function decorate(
  value: Value,
  type: CwlType,
  requested: FileOptions,
  what: string,
  options: CollectOptions,
): Promise<Value> {
  const branch = branchFor(value, type);
  if (branch.kind === "record" && isObject(value)) {
    const result: Record<string, Value> = { ...(value as Record<string, Value>) };
    for (const field of branch.fields) {
      result[field.name] = await decorate(
        result[field.name] ?? null,
        field.type,
        field,
        `${what}.${field.name}`,
        options,
      );
    }
    return result;
  }
  const { evaluator, inputs, runtime } = options;
  return await mapFilesAsync(value, async (item) => {
    if (!isFile(item)) {
      const { path: _path, ...rest } = item;
      return rest;
    }
    const full = await findSecondaryFiles(item, requested.secondaryFiles, {
      evaluator,
      context: { inputs, runtime },
      required: false,
      what: `the output "${what}"`,
      adopt: (made) => adoptItem(made, options),
      beside: (name) => besideOutput(item, name, options),
    });
    const [format] = requested.format ?? [];
    const iri =
      format === undefined
        ? undefined
        : await evaluator.evaluateText(format, { inputs, runtime, self: full }, "format");
    const { path: _path, dirname: _dirname, ...rest } = full;
    return iri === undefined ? rest : { ...rest, format: iri };
  });
}

/** What lies under a name beside an output: in the working directory as the tool saw it, or beside an input that is handed on. */
async function besideOutput(
  file: FileValue,
  name: string,
  options: CollectOptions,
): Promise<FileOrDirectory | undefined> {
  if (file.dirname !== undefined) {
    return await foundAt(pathBeside(file.dirname, name), options);
  }
  const host = localPath(file);
  const path = host === undefined ? undefined : pathBeside(dirname(host), name);
  return path !== undefined && options.gate.mayRead(path) ? await namedAt(path, options) : undefined;
}
