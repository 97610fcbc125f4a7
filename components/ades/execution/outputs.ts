import { type CwlType, type LoadedDocument, type Value, type ValueObject, describeProcess, toJson } from "@swath/cwl";
import { realpathSync } from "node:fs";

import type { StagedOutput } from "../staging/types.ts";

/** Whether a process declares files among its outputs, which need to be stored. */
export function declaresFiles(document: LoadedDocument): boolean {
  return describeProcess(document).outputs.some(({ type }) => isFileType(type));
}

function isFileType(type: CwlType): boolean {
  switch (type.kind) {
    case "File":
    case "Directory":
      return true;
    case "array":
      return isFileType(type.items);
    case "record":
      return type.fields.some((field) => isFileType(field.type));
    case "union":
      return type.members.some(isFileType);
    default:
      return false;
  }
}

/** Whether there are files among outputs; an optional one may be missing, one of any type may be a file. */
export const holdsFiles = (outputs: ValueObject): boolean => collect(Object.values(outputs)).length > 0;

/** What is stored: the one directory that a package puts its catalogue in; with more, or files beside it, all outputs. */
export function findOutputFolder(outputs: ValueObject, all: string): string {
  const [only, ...others] = collect(Object.values(outputs));
  return others.length === 0 && only?.class === "Directory" ? fileOf(only.location) : all;
}

interface Located {
  readonly class: "File" | "Directory";
  readonly location: string;
}

function collect(value: unknown): readonly Located[] {
  if (Array.isArray(value)) {
    return value.flatMap(collect);
  }
  if (!isObject(value)) {
    return [];
  }
  if ((value["class"] === "File" || value["class"] === "Directory") && typeof value["location"] === "string") {
    return [value as unknown as Located];
  }
  return Object.values(value).flatMap(collect);
}

const fileOf = (location: string): string => decodeURIComponent(new URL(location).pathname);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Outputs as JSON values. */
export function toPlain(outputs: ValueObject): Record<string, unknown> {
  return JSON.parse(toJson(outputs as Value)) as Record<string, unknown>;
}

/** Outputs with the addresses of what was stored instead of local files. */
export function toStored(outputs: ValueObject, { catalogUri, files }: StagedOutput): Record<string, unknown> {
  const byPath = new Map(files.flatMap((file) => (file.path === undefined ? [] : [[file.path, file] as const])));
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      return value.map(replace);
    }
    if (!isObject(value)) {
      return value;
    }
    if (value["class"] === "Directory") {
      return { href: catalogUri, type: "application/json" };
    }
    if (value["class"] === "File") {
      const file = byPath.get(realpathSync(fileOf(String(value["location"]))));
      return file === undefined
        ? { href: catalogUri, type: "application/json" }
        : { href: file.href, type: file.mediaType };
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replace(item)]));
  };
  return replace(toPlain(outputs)) as Record<string, unknown>;
}
