import { statSync } from "node:fs";
import { dirname, posix } from "node:path";
import { CwlError } from "../errors.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import type { ExpressionContext } from "../expressions/parameter-reference.ts";
import { mayHoldExpression } from "../expressions/scan.ts";
import type { NamedBy } from "../files/gate.ts";
import { isInside, joinInside } from "../files/inside.ts";
import { fileUri } from "../load/uri.ts";
import type { SecondaryFile } from "../model/types.ts";
import type { FileOrDirectory, FileValue, Value } from "../model/values.ts";
import { isFileOrDirectory } from "../model/values.ts";
import { complete, localPath } from "./files.ts";

export interface SecondaryFileOptions {
  readonly evaluator: Evaluator;
  readonly context: Omit<ExpressionContext, "self">;
  /** Whether a secondary file that the document says nothing about must be there: yes for inputs, no for outputs. */
  readonly required: boolean;
  /** What the file belongs to, for messages. */
  readonly what: string;
  /** What lies under a name beside the file; undefined when nothing does. */
  readonly beside: (name: string) => Promise<FileOrDirectory | undefined>;
  /** Takes over a File or Directory that an expression made; throws when it may not be read. */
  readonly adopt: (item: FileOrDirectory) => Promise<FileOrDirectory | undefined>;
}

/** Adds to a File the secondary files that its parameter asks for and that are there. */
export async function findSecondaryFiles(
  file: FileValue,
  requested: readonly SecondaryFile[],
  options: SecondaryFileOptions,
): Promise<FileValue> {
  const found = [...(file.secondaryFiles ?? [])];
  const has = (name: string): boolean => found.some((item) => item.basename === name);
  for (const entry of requested) {
    const required = await isRequired(entry, file, options);
    for (const candidate of await candidates(entry, file, options)) {
      const made = isFileOrDirectory(candidate) ? await options.adopt(candidate) : undefined;
      const name = isFileOrDirectory(candidate) ? nameOf(candidate) : candidate;
      const item = made === undefined ? undefined : complete(made, { size: true });
      if (has(item?.basename ?? name)) {
        continue;
      }
      const there = item ?? (await options.beside(name));
      if (there !== undefined) {
        found.push(there);
      } else if (required) {
        throw new CwlError(
          options.required ? "invalid-inputs" : "process-failed",
          `${options.what}: the secondary file ${JSON.stringify(name)} of ${JSON.stringify(file.basename)} is missing`,
        );
      }
    }
  }
  return found.length === 0 ? file : { ...file, secondaryFiles: found };
}

async function isRequired(entry: SecondaryFile, file: FileValue, options: SecondaryFileOptions): Promise<boolean> {
  if (typeof entry.required === "string") {
    const value = await options.evaluator.evaluate(entry.required, { ...options.context, self: file });
    if (typeof value !== "boolean" && value !== null) {
      throw new CwlError("expression", `${options.what}: "required" of a secondary file must be true or false`);
    }
    return value ?? false;
  }
  return entry.required ?? options.required;
}

/** Names, or ready File and Directory objects, that a pattern stands for. */
async function candidates(
  entry: SecondaryFile,
  file: FileValue,
  options: SecondaryFileOptions,
): Promise<(string | FileOrDirectory)[]> {
  if (!mayHoldExpression(entry.pattern)) {
    return [applyPattern(file.basename ?? "", entry.pattern)];
  }
  const value = await options.evaluator.evaluate(entry.pattern, { ...options.context, self: file });
  const list: readonly Value[] = Array.isArray(value) ? (value as readonly Value[]) : [value];
  return list.flatMap((item): (string | FileOrDirectory)[] => {
    if (item === null) {
      return [];
    }
    if (typeof item === "string") {
      return [item];
    }
    if (isFileOrDirectory(item)) {
      // An object made by the expression may say where it is, or only what it is called.
      const isWhole = [item.location, item.path, item["contents"], item["listing"]].some((part) => part !== undefined);
      return isWhole ? [item] : [item.basename ?? ""];
    }
    throw new CwlError(
      "expression",
      `${options.what}: secondaryFiles gave something that is no name, File or Directory`,
    );
  });
}

function nameOf(item: FileOrDirectory): string {
  const whole = item.basename ?? item.path ?? item.location ?? "";
  return whole.slice(whole.lastIndexOf("/") + 1);
}

/** `.bai` is added; each leading `^` first takes one extension off. */
export function applyPattern(name: string, pattern: string): string {
  let base = name;
  let rest = pattern;
  while (rest.startsWith("^")) {
    const dot = base.lastIndexOf(".");
    base = dot > 0 ? base.slice(0, dot) : base;
    rest = rest.slice(1);
  }
  return base + rest;
}

/** Where secondary files of an input come from: the directory that it lies in, if any, and what else the run may read. */
export function inputSources(
  directory: string | undefined,
  admit: (item: FileOrDirectory, by: NamedBy) => FileOrDirectory,
): Pick<SecondaryFileOptions, "beside" | "adopt"> {
  return {
    beside: (name) => {
      const path = directory === undefined ? undefined : pathBeside(directory, name);
      return Promise.resolve(path === undefined ? undefined : findAt(path, (item) => admit(item, "caller")));
    },
    adopt: (item) => {
      const path = item.location === undefined ? item.path : localPath(item);
      const isBeside = path !== undefined && directory !== undefined && isInside(posix.normalize(path), directory);
      if (isBeside && statSync(path, { throwIfNoEntry: false }) === undefined) {
        return Promise.resolve(undefined);
      }
      return Promise.resolve(admit(item, isBeside ? "caller" : "code"));
    },
  };
}

function findAt(path: string, admit: (item: FileOrDirectory) => FileOrDirectory): FileOrDirectory | undefined {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) {
    return undefined;
  }
  const item = { class: info.isDirectory() ? "Directory" : "File", location: fileUri(path) } as FileOrDirectory;
  return complete(admit(item), { size: true });
}

/** Path of a secondary file; throws when its name leads out of the directory. */
export function pathBeside(directory: string, name: string): string {
  const path = joinInside(directory, name);
  if (path === undefined) {
    throw new CwlError("unsafe", `the secondary file ${JSON.stringify(name)} leads out of its directory`);
  }
  return path;
}

/** Directory of a File on this machine. */
export function directoryOf(file: FileValue): string | undefined {
  const path = localPath(file);
  return path === undefined ? undefined : dirname(path);
}
