import { CwlError } from "../errors.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import { sortedJson } from "../expressions/evaluate.ts";
import type { ExpressionContext } from "../expressions/parameter-reference.ts";
import type { Value } from "../model/values.ts";
import type { Requirements } from "./requirements.ts";

export interface Resources {
  readonly cores: number;
  readonly ram: number;
  /** The most that it may use: the maximum, or the minimum when that is all it says; undefined when it says nothing. */
  readonly ramLimit: number | undefined;
  readonly tmpdirSize: number;
  readonly outdirSize: number;
  /** The maxima of both, where it says them. */
  readonly outdirLimit?: number;
  readonly tmpdirLimit?: number;
}

const kinds = [
  ["cores", "cores", 1],
  ["ram", "ram", 256],
  ["tmpdirSize", "tmpdir", 1024],
  ["outdirSize", "outdir", 1024],
] as const;

/** What ResourceRequirement asks for: the minimum of each; a lone maximum counts as the minimum too. */
export async function requestedResources(
  requirements: Requirements,
  evaluator: Evaluator,
  context: ExpressionContext,
): Promise<Resources> {
  const fields = requirements.find("ResourceRequirement")?.fields ?? {};
  const result: Record<string, number> = {};
  for (const [name, field, fallback] of kinds) {
    const min = await amountOf(fields[`${field}Min`], `${field}Min`, evaluator, context);
    const max = await amountOf(fields[`${field}Max`], `${field}Max`, evaluator, context);
    if (min !== undefined && max !== undefined && max < min) {
      throw new CwlError(
        "invalid-inputs",
        `ResourceRequirement: ${field}Max (${max}) is less than ${field}Min (${min})`,
      );
    }
    const requested = min ?? max ?? fallback;
    result[name] = name === "cores" ? requested : Math.ceil(requested);
    if (max !== undefined && (field === "outdir" || field === "tmpdir")) {
      result[`${field}Limit`] = Math.ceil(max);
    }
    if (name === "ram" && (min ?? max) !== undefined) {
      result["ramLimit"] = Math.ceil(Math.max(min ?? 0, max ?? 0));
    }
  }
  return result as unknown as Resources;
}

/** A number of a requirement, which may be an expression; undefined where it is left out. */
export async function amountOf(
  raw: unknown,
  what: string,
  evaluator: Evaluator,
  context: ExpressionContext,
  requirement = "ResourceRequirement",
): Promise<number | undefined> {
  if (raw === undefined || raw === null) {
    return undefined;
  }
  const value = typeof raw === "string" ? await evaluator.evaluate(raw, context) : (raw as Value);
  if (value === null) {
    return undefined;
  }
  const number =
    typeof value === "string" && value.trim() !== ""
      ? Number(value)
      : typeof value === "bigint"
        ? Number(value)
        : value;
  if (typeof number !== "number" || !Number.isFinite(number) || number < 0) {
    throw new CwlError(
      "expression",
      `${requirement}: ${what} must be a number of at least 0, but is ${sortedJson(value)}`,
    );
  }
  return number;
}

/** What expressions see as `runtime`; processors are whole there. */
export function runtimeOf(resources: Resources, outdir: string, tmpdir: string): { readonly [name: string]: Value } {
  return {
    outdir,
    tmpdir,
    cores: Math.max(1, Math.ceil(resources.cores)),
    ram: resources.ram,
    tmpdirSize: resources.tmpdirSize,
    outdirSize: resources.outdirSize,
  };
}
