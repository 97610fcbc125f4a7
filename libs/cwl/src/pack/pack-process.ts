import { asList } from "../load/maps.ts";
import { baseOf } from "../load/origin.ts";
import { resolvePath, resolveReference, shortName } from "../load/uri.ts";
import { isFileOrDirectory, isObject } from "../model/values.ts";
import { packDefinition, packType, typeNames } from "./pack-type.ts";
import { shortClass } from "./pack-scope.ts";
import type { PackScope, RawObject } from "./pack-scope.ts";
import { updateProcess } from "./update.ts";

const ownFields = new Set([
  "id",
  "cwlVersion",
  "$namespaces",
  "$schemas",
  "$graph",
  "inputs",
  "outputs",
  "steps",
  "requirements",
  "hints",
]);

/** Rewrites a process so that it refers to nothing outside of the package: ids and references become short and relative. */
export async function packProcess(raw: RawObject, scope: PackScope): Promise<RawObject> {
  const version = typeof raw["cwlVersion"] === "string" ? raw["cwlVersion"] : scope.version;
  const requirements = classedObjects(raw["requirements"]);
  const hints = classedObjects(raw["hints"]);
  const types = typeNames([...hints, ...requirements], scope);
  const steps = named(raw["class"] === "Workflow" ? raw["steps"] : undefined, "id", undefined);
  const stepNames = new Set(steps.map((step) => shortName(String(step["id"]))));
  const inner: PackScope = { ...scope, version, types, steps: stepNames };
  const result: Record<string, unknown> = scope.id === undefined ? {} : { id: scope.id };
  for (const [key, value] of Object.entries(raw)) {
    if (!ownFields.has(key)) {
      result[key] = absolute(value, scope.base);
    }
  }
  // Before the requirements: a type is written out where it comes first in the document, and steps add theirs there.
  if (raw["class"] === "Workflow") {
    const packed: RawObject[] = [];
    for (const step of steps) {
      packed.push(await packStep(step, inner));
    }
    result["steps"] = packed;
  }
  if (raw["requirements"] !== undefined) {
    result["requirements"] = requirements.map((item) => packRequirement(item, inner));
  }
  if (raw["hints"] !== undefined) {
    result["hints"] = hints.map((item) => packRequirement(item, inner));
  }
  result["inputs"] = named(raw["inputs"], "id", "type").map((item) => packParameter(item, inner));
  result["outputs"] = named(raw["outputs"], "id", "type").map((item) => packParameter(item, inner));
  return updateProcess(result, version, scope.target);
}

function packRequirement(item: RawObject, scope: PackScope): RawObject {
  const rest = absolute(item, scope.base) as RawObject;
  return shortClass(item) === "SchemaDefRequirement"
    ? { ...rest, types: asList(item["types"]).map((type) => packDefinition(type, scope)) }
    : rest;
}

function packParameter(item: RawObject, scope: PackScope): RawObject {
  return {
    ...(absolute(item, scope.base) as RawObject),
    id: shortName(item["id"] as string),
    ...("type" in item ? { type: packType(item["type"], scope) } : {}),
    ...("outputSource" in item
      ? { outputSource: mapText(item["outputSource"], (text) => shortSource(text, scope.steps ?? new Set())) }
      : {}),
  };
}

async function packStep(item: RawObject, scope: PackScope): Promise<RawObject> {
  const id = shortName(item["id"] as string);
  return {
    ...(absolute(withoutRun(item), scope.base) as RawObject),
    id,
    in: named(item["in"], "id", "source").map((input) => ({
      ...(absolute(input, scope.base) as RawObject),
      id: shortName(input["id"] as string),
      ...("source" in input
        ? { source: mapText(input["source"], (text) => shortSource(text, scope.steps ?? new Set())) }
        : {}),
    })),
    out: asList(item["out"]).map((output) =>
      typeof output === "string"
        ? shortName(output)
        : isObject(output) && typeof output["id"] === "string"
          ? { ...output, id: shortName(output["id"]) }
          : output,
    ),
    ...("scatter" in item ? { scatter: mapText(item["scatter"], shortName) } : {}),
    ...("requirements" in item
      ? { requirements: classedObjects(item["requirements"]).map((entry) => packRequirement(entry, scope)) }
      : {}),
    ...("hints" in item ? { hints: classedObjects(item["hints"]).map((entry) => packRequirement(entry, scope)) } : {}),
    run: await packRun(item, scope),
  };
}

async function packRun(item: RawObject, scope: PackScope): Promise<unknown> {
  const run = item["run"];
  if (isObject(run)) {
    return await packProcess(run, { ...scope, base: baseOf(run) ?? scope.base, id: undefined });
  }
  return typeof run === "string"
    ? `#${await scope.add(resolveReference(run, baseOf(item) ?? scope.base), scope.version)}`
    : run;
}

function withoutRun(step: RawObject): RawObject {
  const { run: _run, ...rest } = step;
  return rest;
}

/** `input` or `step/out`, whatever stands before it: `#main/step/out`, `#step/out`, `file.cwl#main/input`. */
function shortSource(reference: string, steps: ReadonlySet<string>): string {
  const hash = reference.indexOf("#");
  const parts = reference.slice(hash + 1).split("/");
  const [step = "", port = ""] = parts.slice(-2);
  return parts.length > 1 && steps.has(step) ? `${step}/${port}` : (parts.at(-1) ?? "");
}

function mapText(value: unknown, change: (text: string) => string): unknown {
  return Array.isArray(value)
    ? (value as unknown[]).map((item) => (typeof item === "string" ? change(item) : item))
    : typeof value === "string"
      ? change(value)
      : value;
}

/** A list of objects with a name, or a map of them, as a list. */
function named(raw: unknown, subject: string, predicate: string | undefined): RawObject[] {
  if (Array.isArray(raw)) {
    return (raw as unknown[]).filter(isObject);
  }
  return Object.entries(isObject(raw) ? raw : {}).map(([key, value]) =>
    isObject(value)
      ? { ...value, [subject]: key }
      : predicate === undefined
        ? { [subject]: key }
        : { [subject]: key, [predicate]: value },
  );
}

function classedObjects(raw: unknown): RawObject[] {
  return named(raw, "class", undefined);
}

/** Makes the places of files absolute; what is relative means: beside the file that it is written in. */
function absolute(value: unknown, outer: string): unknown {
  if (Array.isArray(value)) {
    return (value as unknown[]).map((item) => absolute(item, outer));
  }
  if (!isObject(value)) {
    return value;
  }
  const base = baseOf(value) ?? outer;
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    result[key] = absolute(item, base);
  }
  if (isFileOrDirectory(value)) {
    const { location, path } = value;
    if (typeof location === "string" && !location.includes("$(") && !location.startsWith("_:")) {
      result["location"] = resolveReference(location, base);
    } else if (location === undefined && typeof path === "string" && !path.includes("$(")) {
      result["location"] = resolvePath(path, base);
      delete result["path"];
    }
  }
  return result;
}
