import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CwlError } from "../errors.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import type { ExpressionContext } from "../expressions/parameter-reference.ts";
import { mayHoldExpression } from "../expressions/scan.ts";
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
  /** Host path beside which secondary files are looked for; undefined when there is no such place. */
  readonly directory: string | undefined;
  /** Host path of a path as the tool saw it; undefined when nothing is there. */
  readonly toHost?: ((seen: string) => string | undefined) | undefined;
}

/** Adds to a File the secondary files that its parameter asks for and that are there. */
export async function findSecondaryFiles(
  file: FileValue,
  wanted: readonly SecondaryFile[],
  options: SecondaryFileOptions,
): Promise<FileValue> {
  const found = [...(file.secondaryFiles ?? [])];
  const has = (name: string): boolean => found.some((item) => item.basename === name);
  for (const entry of wanted) {
    const required = await isRequired(entry, file, options);
    for (const candidate of await candidates(entry, file, options)) {
      if (isFileOrDirectory(candidate)) {
        const item = complete(candidate, { size: true });
        if (!has(item.basename ?? "")) {
          found.push(item);
        }
        continue;
      }
      if (has(candidate)) {
        continue;
      }
      const beside = existing(candidate, options.directory);
      if (beside !== undefined) {
        found.push(beside);
      } else if (required) {
        throw new CwlError(
          options.required ? "invalid-inputs" : "process-failed",
          `${options.what}: the secondary file ${JSON.stringify(candidate)} of ${JSON.stringify(file.basename)} is missing`,
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
      return item.location !== undefined || item["contents"] !== undefined || item["listing"] !== undefined
        ? [item]
        : typeof item.path === "string"
          ? atPath(item, item.path, options)
          : [item.basename ?? ""];
    }
    throw new CwlError(
      "expression",
      `${options.what}: secondaryFiles gave something that is no name, File or Directory`,
    );
  });
}

function atPath(item: FileOrDirectory, path: string, options: SecondaryFileOptions): (string | FileOrDirectory)[] {
  const host = options.toHost === undefined ? path : options.toHost(path);
  const name = path.slice(path.lastIndexOf("/") + 1);
  return host !== undefined && existsSync(host)
    ? [{ ...item, location: fileUri(host), basename: item.basename ?? name }]
    : [name];
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

function existing(name: string, directory: string | undefined): FileOrDirectory | undefined {
  if (directory === undefined) {
    return undefined;
  }
  const path = join(directory, name);
  if (dirname(path) !== directory && !path.startsWith(directory === "/" ? "/" : `${directory}/`)) {
    throw new CwlError("unsafe", `the secondary file ${JSON.stringify(name)} leads out of its directory`);
  }
  if (!existsSync(path)) {
    return undefined;
  }
  const kind = statSync(path).isDirectory() ? "Directory" : "File";
  return complete({ class: kind, location: fileUri(path) } as FileOrDirectory, { size: true });
}

/** Directory of a File on this machine. */
export function directoryOf(file: FileValue): string | undefined {
  const path = localPath(file);
  return path === undefined ? undefined : dirname(path);
}
