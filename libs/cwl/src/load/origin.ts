import type { Problem } from "../errors.ts";
import type { SourceLocation } from "../model/process.ts";

/** One file's text, for turning offsets into lines and columns when a problem has to be shown. */
export interface SourceText {
  readonly uri: string;
  readonly text: string;
  /** By how many columns lines (counted from 1) stand further right here than where they were written. */
  readonly shifts?: ReadonlyMap<number, number> | undefined;
}

interface Origin {
  readonly source: SourceText;
  readonly offset: number;
  /** Offset of each member's key (objects) or item (arrays). */
  readonly members: ReadonlyMap<string | number, number>;
}

const nowhere: ReadonlyMap<string | number, number> = new Map();
/** Keyed by the parsed objects themselves, so it lives as long as they do and never longer. */
const origins = new WeakMap<object, Origin>();

export function setOrigin(value: object, source: SourceText, offset: number, members = nowhere): void {
  origins.set(value, { source, offset, members });
}

/** Gives a rewritten object the place of the one it was made from. */
export function deriveOrigin<T extends object>(value: T, from: object): T {
  const origin = origins.get(from);
  if (origin !== undefined && !origins.has(value)) {
    origins.set(value, origin);
  }
  return value;
}

/** URI of the file an object was written in: what relative references in it resolve against. */
export function baseOf(value: object): string | undefined {
  return origins.get(value)?.source.uri;
}

/** Line and column of an object, or of one of its members. */
export function locationOf(value: object, member?: string | number): SourceLocation | undefined {
  const origin = origins.get(value);
  if (origin === undefined) {
    return undefined;
  }
  const offset = (member === undefined ? undefined : origin.members.get(member)) ?? origin.offset;
  return { file: origin.source.uri, ...lineAndColumn(origin.source, offset) };
}

export function lineAndColumn(source: Omit<SourceText, "uri">, offset: number): { line: number; column: number } {
  const { shifts } = source;
  const starts = lineStartsOf(source);
  let [line, after] = [1, starts.length];
  while (after - line > 1) {
    const middle = (line + after) >> 1;
    if ((starts[middle] ?? 0) <= offset) {
      line = middle;
    } else {
      after = middle;
    }
  }
  return { line, column: Math.max(1, offset - (starts[line] ?? 0) + 1 - (shifts?.get(line) ?? 0)) };
}

const lineStarts = new WeakMap<object, readonly number[]>();

/** Offset at which each line starts, by its number from 1. */
function lineStartsOf(source: { readonly text: string }): readonly number[] {
  let starts = lineStarts.get(source);
  if (starts === undefined) {
    const found = [0, 0];
    for (let next = source.text.indexOf("\n"); next !== -1; next = source.text.indexOf("\n", next + 1)) {
      found.push(next + 1);
    }
    starts = found;
    lineStarts.set(source, starts);
  }
  return starts;
}

/** A problem at an object (or one of its members). */
export function problemAt(
  value: object | undefined,
  member: string | number | undefined,
  message: string,
  more: { hint?: string; path?: string; severity?: Problem["severity"] } = {},
): Problem {
  const location = value === undefined ? undefined : locationOf(value, member);
  return { severity: "error", ...more, message, ...location };
}
