import { CwlError } from "../errors.ts";
import { resolveLocations } from "../load/parameters.ts";
import { buildRequirements } from "../load/requirements.ts";
import type { LoadedDocument } from "../load/load.ts";
import { baseOf } from "../load/origin.ts";
import { Budget, defaultLoadLimits } from "../load/budget.ts";
import { BuiltProcesses } from "../load/scope.ts";
import type { Scope } from "../load/scope.ts";
import { DocumentStore } from "../load/store.ts";
import type { LoadOptions } from "../load/store.ts";
import { resolveReference, toUri } from "../load/uri.ts";
import type { Requirement } from "../model/process.ts";
import type { Value, ValueObject } from "../model/values.ts";
import { isObject } from "../model/values.ts";
import type { Override } from "./overrides.ts";

/** An input object with absolute locations, and the requirements that came with it. */
export interface JobInputs {
  readonly values: ValueObject;
  readonly requirements: readonly Requirement[];
  /** From `cwltool:overrides`. */
  readonly overrides: readonly Override[];
}

const OVERRIDES = "cwltool:overrides";

/** Reads an input object from a JSON or YAML file. */
export async function loadInputs(
  reference: string,
  document: LoadedDocument,
  options: LoadOptions = {},
): Promise<JobInputs> {
  const store = new DocumentStore(options);
  const { root } = await store.load(toUri(reference));
  if (root !== null && !isObject(root)) {
    throw new CwlError("invalid-inputs", `${reference} does not hold an object with the inputs`);
  }
  return resolveInputs(root ?? {}, document, toUri(reference));
}

/** Makes locations absolute (relative ones mean: next to `base`) and takes `cwl:requirements` out. */
export function resolveInputs(
  raw: { readonly [key: string]: unknown },
  document: LoadedDocument,
  base: string,
): JobInputs {
  const scope: Scope = {
    store: new DocumentStore(),
    problems: [],
    version: document.process.version,
    document: {
      uri: base,
      root: raw,
      namespaces: { ...document.namespaces, ...namespacesOf(raw) },
      schemas: [],
      version: undefined,
      index: new Map(),
    },
    types: new Map(),
    ancestors: [],
    built: new BuiltProcesses(),
    budget: new Budget(defaultLoadLimits),
    buildProcess: () => Promise.resolve(undefined),
  };
  const requirements =
    raw["cwl:requirements"] === undefined ? [] : buildRequirements(scope, raw, "cwl:requirements", "");
  const overrides = buildOverrides(scope, raw, base);
  if (scope.problems.some((problem) => problem.severity === "error")) {
    throw new CwlError("invalid-inputs", scope.problems);
  }
  const values: Record<string, Value> = {};
  for (const [key, item] of Object.entries(raw)) {
    if (!/^(?:cwl:|cwltool:|\$)/.test(key)) {
      values[key.slice(key.lastIndexOf("#") + 1)] = resolveLocations(scope, item, baseOf(raw) ?? base);
    }
  }
  return { values, requirements, overrides };
}

/** Reads overrides from a file of their own (`{cwltool:overrides: {…}}`). */
export async function loadOverrides(
  reference: string,
  document: LoadedDocument,
  options: LoadOptions = {},
): Promise<readonly Override[]> {
  const inputs = await loadInputs(reference, document, options);
  if (inputs.overrides.length === 0) {
    throw new CwlError("invalid-inputs", `${reference} holds no ${OVERRIDES}`);
  }
  return inputs.overrides;
}

function buildOverrides(scope: Scope, raw: { readonly [key: string]: unknown }, base: string): Override[] {
  const written = raw[OVERRIDES] ?? raw["http://commonwl.org/cwltool#overrides"];
  if (written === undefined || written === null) {
    return [];
  }
  if (!isObject(written)) {
    throw new CwlError("invalid-inputs", `${OVERRIDES} must be an object from processes to their requirements`);
  }
  return Object.entries(written).map(([target, value]) => {
    if (!isObject(value) || value["requirements"] === undefined) {
      throw new CwlError("invalid-inputs", `${OVERRIDES}: ${target} must be an object with "requirements"`);
    }
    return {
      target: resolveReference(target, baseOf(raw) ?? base),
      requirements: buildRequirements(scope, value, "requirements", `${OVERRIDES}.${target}`),
    };
  });
}

function namespacesOf(raw: { readonly [key: string]: unknown }): Record<string, string> {
  const own = raw["$namespaces"];
  return isObject(own)
    ? Object.fromEntries(Object.entries(own).filter((entry): entry is [string, string] => typeof entry[1] === "string"))
    : {};
}
