import { CwlError } from "../errors.ts";
import type { Problem } from "../errors.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import type { ExpressionContext } from "../expressions/parameter-reference.ts";
import type { NamedBy } from "../files/gate.ts";
import type { CwlVersion, InputParameter, SourceLocation } from "../model/process.ts";
import type { CwlType, FileOptions, LoadListing } from "../model/types.ts";
import type { FileOrDirectory, Value, ValueObject } from "../model/values.ts";
import { isDirectory, isFile, isFileOrDirectory, isObject, mapFiles } from "../model/values.ts";
import { branchFor, mismatch } from "./check-value.ts";
import { complete, loadContents, loadListing } from "./files.ts";
import type { FormatChecker } from "./formats.ts";
import { directoryOf, findSecondaryFiles, inputSources } from "./secondary-files.ts";

export interface PrepareOptions {
  readonly evaluator: Evaluator;
  readonly version: CwlVersion;
  /** From LoadListingRequirement. */
  readonly loadListing: LoadListing;
  readonly formats: FormatChecker;
  /** Checks that files and directories may be read, and fetches remote ones. */
  readonly fetch: (item: FileOrDirectory, by: NamedBy) => Promise<FileOrDirectory>;
  /** Checks what an expression made, without fetching it. */
  readonly admit: (item: FileOrDirectory, by: NamedBy) => FileOrDirectory;
  /** Who named the files of the given values. */
  readonly givenBy: NamedBy;
  readonly runtime: ValueObject;
  /**
   * Whether secondary files are looked for beside their file. Only for values that come from outside: inside a
   * workflow a file has those that its source gave it.
   */
  readonly discover: boolean;
}

/**
 * Makes the inputs of a process from an input object: defaults filled in, types and formats checked, files completed,
 * secondary files found, contents and listings loaded where asked. Throws `invalid-inputs` naming every wrong input.
 */
export async function prepareInputs(
  parameters: readonly InputParameter[],
  provided: ValueObject,
  options: PrepareOptions,
): Promise<ValueObject> {
  const values: Record<string, Value> = {};
  const problems: Problem[] = [];
  for (const parameter of parameters) {
    const value = provided[parameter.name] ?? parameter.default ?? null;
    const wrong = mismatch(value, parameter.type);
    if (wrong !== undefined) {
      const missing =
        value === null
          ? `the input "${parameter.name}" is missing`
          : `the input "${parameter.name}${wrong.path}" is wrong`;
      problems.push({ severity: "error", message: `${missing}: ${wrong.message}` });
    }
    values[parameter.name] = value;
  }
  if (problems.length > 0) {
    throw new CwlError("invalid-inputs", problems);
  }
  for (const parameter of parameters) {
    const isDefault = (provided[parameter.name] ?? null) === null;
    const by = isDefault ? authorOf(parameter.location) : options.givenBy;
    values[parameter.name] = await fetchFiles(values[parameter.name] ?? null, by, options);
  }
  const context = { inputs: values, runtime: options.runtime };
  for (const parameter of parameters) {
    const fromOutside = options.discover || (provided[parameter.name] ?? null) === null;
    values[parameter.name] = await applyOptions(
      values[parameter.name] ?? null,
      parameter.type,
      parameter,
      parameter.name,
      { ...options, discover: fromOutside },
      context,
    );
  }
  return values;
}

/** A document of this machine is its user's own word; one from elsewhere names no local files. */
export function authorOf(location: SourceLocation): NamedBy {
  return /^https?:/i.test(location.file) ? "code" : "caller";
}

async function fetchFiles(value: Value, by: NamedBy, options: PrepareOptions): Promise<Value> {
  if (isFileOrDirectory(value)) {
    return complete(await options.fetch(value, by), { size: true });
  }
  if (Array.isArray(value)) {
    const result: Value[] = [];
    for (const item of value as readonly Value[]) {
      result.push(typeof item === "object" && item !== null ? await fetchFiles(item, by, options) : item);
    }
    return result;
  }
  if (isObject(value)) {
    const result: Record<string, Value> = {};
    for (const [key, item] of Object.entries(value)) {
      result[key] = await fetchFiles((item ?? null) as Value, by, options);
    }
    return result;
  }
  return value;
}

/** Applies format, secondaryFiles, loadContents and loadListing of a parameter (or record field) to its value. */
async function applyOptions(
  value: Value,
  type: CwlType,
  requested: FileOptions,
  what: string,
  options: PrepareOptions,
  context: Omit<ExpressionContext, "self">,
): Promise<Value> {
  if (value === null || typeof value !== "object") {
    return value;
  }
  const branch = branchFor(value, type);
  if (Array.isArray(value)) {
    const items = branch.kind === "array" ? branch.items : type;
    const result: Value[] = [];
    for (const [index, item] of (value as readonly Value[]).entries()) {
      result.push(await applyOptions(item, items, requested, `${what}[${index}]`, options, context));
    }
    return result;
  }
  if (isFile(value)) {
    await options.formats.check(value, requested.format, what, options.evaluator, context);
    let file = await findSecondaryFiles(value, requested.secondaryFiles, {
      evaluator: options.evaluator,
      context,
      required: true,
      what: `the input "${what}"`,
      ...inputSources(options.discover ? directoryOf(value) : undefined, options.admit),
    });
    if (requested.loadContents) {
      file = { ...file, contents: await loadContents(file, options.version) };
    }
    return withListings(file, options.loadListing);
  }
  if (isDirectory(value)) {
    return loadListing(value, requested.loadListing ?? options.loadListing);
  }
  if (branch.kind === "record" && isObject(value)) {
    const result: Record<string, Value> = { ...(value as Record<string, Value>) };
    for (const field of branch.fields) {
      result[field.name] = await applyOptions(
        result[field.name] ?? null,
        field.type,
        field,
        `${what}.${field.name}`,
        options,
        context,
      );
    }
    return result;
  }
  // Inside Any nothing was declared; directories still follow LoadListingRequirement.
  return mapFiles(value, (item) => withListings(item, options.loadListing));
}

function withListings(item: FileOrDirectory, how: LoadListing): FileOrDirectory {
  if (item.class === "Directory") {
    return loadListing(item, how);
  }
  return item.secondaryFiles === undefined
    ? item
    : { ...item, secondaryFiles: item.secondaryFiles.map((inner) => withListings(inner, how)) };
}
