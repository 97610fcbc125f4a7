import type { Value } from "../model/values.ts";

/** What an expression can see. */
export interface ExpressionContext {
  readonly inputs: { readonly [name: string]: Value | undefined };
  readonly self: Value;
  readonly runtime: { readonly [name: string]: Value | undefined };
}

const segment = /\.([\p{L}\p{N}_]+)|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]/uy;
const root = /^[\p{L}_][\p{L}\p{N}_]*/u;

/**
 * Reads a parameter reference (`inputs.file.basename`, `inputs["a b"][0]`); undefined when the text is not one and so
 * needs JavaScript.
 */
export function parseReference(code: string): readonly [string, ...(string | number)[]] | undefined {
  const first = root.exec(code)?.[0];
  if (first === undefined) {
    return undefined;
  }
  const path: [string, ...(string | number)[]] = [first];
  segment.lastIndex = first.length;
  while (segment.lastIndex < code.length) {
    const match = segment.exec(code);
    if (match === null) {
      return undefined;
    }
    const quoted = match[2] ?? match[3];
    path.push(match[4] === undefined ? (match[1] ?? quoted?.replace(/\\(.)/g, "$1") ?? "") : Number(match[4]));
  }
  return path;
}

export type Lookup = { readonly found: true; readonly value: Value } | { readonly found: false; readonly why: string };

/** Follows a reference. Only what is really there is found: nothing inherited, no methods. */
export function followReference(path: readonly [string, ...(string | number)[]], context: ExpressionContext): Lookup {
  const [first, ...rest] = path;
  if (first === "null") {
    return rest.length === 0 ? { found: true, value: null } : { found: false, why: `null has no "${rest[0]}"` };
  }
  if (first !== "inputs" && first !== "self" && first !== "runtime") {
    return { found: false, why: `"${first}" is not defined; an expression starts with inputs, self or runtime` };
  }
  let value: Value | undefined = context[first];
  let walked: string = first;
  for (const [index, key] of rest.entries()) {
    if (Array.isArray(value) && key === "length" && index === rest.length - 1) {
      return { found: true, value: value.length };
    }
    const holder: unknown = value;
    const has =
      typeof holder === "object" &&
      holder !== null &&
      Object.hasOwn(holder, key) &&
      Array.isArray(holder) === (typeof key === "number");
    const inner: Value | undefined = has ? (holder as Record<string | number, Value | undefined>)[key] : undefined;
    if (!has || inner === undefined) {
      return { found: false, why: `${walked} has no ${JSON.stringify(key)}` };
    }
    value = inner;
    walked += typeof key === "number" ? `[${key}]` : `.${key}`;
  }
  return { found: true, value: value ?? null };
}
