import { isDeepStrictEqual } from "node:util";

import { problem } from "./errors.ts";
import { PatchBudget, requirePatchDepth } from "./patch-budget.ts";

/** Operations of one patch at most. */
const MAX_OPERATIONS = 1000;
/** Parts of one pointer at most. */
const MAX_POINTER_PARTS = 100;
const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"] as const;

interface Operation {
  readonly op: (typeof OPERATIONS)[number];
  readonly path: readonly string[];
  readonly from?: readonly string[];
  readonly value?: unknown;
}

type Holder = Record<string, unknown> | unknown[];

/** A document while it is patched. */
interface Work {
  /** A holder above the root, so that the root is a place like any other. */
  readonly above: Record<string, unknown>;
  readonly budget: PatchBudget;
  /** Names the operation in errors. */
  readonly what: string;
}

/**
 * JSON Patch (RFC 6902): all operations, or none. Neither the document nor the patch is changed.
 * @throws {Problem} 400 for what is no patch; 409 where the document has no such place, or a test fails; 413 for a patch that makes the
 * document much larger, deeper, or takes too many steps
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const operations = readOperations(patch);
  const above: Record<string, unknown> = { root: structuredClone(document) };
  const budget = new PatchBudget();
  for (const [index, operation] of operations.entries()) {
    apply({ above, budget, what: `Operation ${index} (${operation.op})` }, operation);
  }
  // A value that is moved is not walked: its depth shows in the end.
  requirePatchDepth(above["root"], "The patched document");
  return above["root"];
}

function apply(work: Work, { op, path, from = [], value }: Operation): void {
  const { budget, what } = work;
  const target = ["root", ...path];
  switch (op) {
    case "add":
      add(work, target, budget.copy(value, what));
      return;
    case "remove":
      remove(work, target);
      return;
    case "replace":
      remove(work, target);
      add(work, target, budget.copy(value, what));
      return;
    case "move": {
      if (path.length > from.length && from.every((part, index) => part === path[index])) {
        throw conflict(`${what} moves a value into itself.`);
      }
      add(work, target, remove(work, ["root", ...from]));
      return;
    }
    case "copy":
      add(work, target, budget.copy(find(work, ["root", ...from]), what));
      return;
    case "test":
      if (!isDeepStrictEqual(find(work, target), value)) {
        throw conflict(`${what} failed: the value at ${toPointer(path)} is another one.`);
      }
      return;
  }
}

function add(work: Work, path: readonly string[], value: unknown): void {
  const { holder, key } = findHolder(work, path);
  if (!Array.isArray(holder)) {
    Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  const index = key === "-" ? holder.length : readIndex(key);
  if (index === undefined || index > holder.length) {
    throw missing(path, work.what);
  }
  work.budget.shift(holder.length - index, work.what);
  holder.splice(index, 0, value);
}

function remove(work: Work, path: readonly string[]): unknown {
  const removed = find(work, path);
  const { holder, key } = findHolder(work, path);
  if (Array.isArray(holder)) {
    work.budget.shift(holder.length - Number(key), work.what);
    holder.splice(Number(key), 1);
  } else {
    Reflect.deleteProperty(holder, key);
  }
  return removed;
}

function find(work: Work, path: readonly string[]): unknown {
  const { holder, key } = findHolder(work, path);
  if (Array.isArray(holder) ? readIndex(key) === undefined || !(key in holder) : !Object.hasOwn(holder, key)) {
    throw missing(path, work.what);
  }
  return (holder as Record<string, unknown>)[key];
}

function findHolder({ above, what }: Work, path: readonly string[]): { readonly holder: Holder; readonly key: string } {
  let holder: unknown = above;
  for (const part of path.slice(0, -1)) {
    const has = Array.isArray(holder) ? readIndex(part) !== undefined : true;
    holder = has && Object.hasOwn(holder as object, part) ? (holder as Record<string, unknown>)[part] : undefined;
    if (typeof holder !== "object" || holder === null) {
      throw missing(path, what);
    }
  }
  return { holder: holder as Holder, key: path.at(-1) ?? "" };
}

const readIndex = (text: string): number | undefined => (/^(?:0|[1-9]\d{0,8})$/.test(text) ? Number(text) : undefined);

function readOperations(patch: unknown): readonly Operation[] {
  if (!Array.isArray(patch) || patch.length > MAX_OPERATIONS) {
    throw problem(400, "BadRequest", `A JSON Patch must be a list of at most ${MAX_OPERATIONS} operations.`);
  }
  requirePatchDepth(patch, "The JSON Patch");
  return patch.map((entry: unknown, index) => {
    const { op, path, from, value } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    const known = OPERATIONS.find((name) => name === op);
    if (known === undefined) {
      throw malformed(index, `op must be one of ${OPERATIONS.join(", ")}`);
    }
    const needsValue = known === "add" || known === "replace" || known === "test";
    if (needsValue && value === undefined) {
      throw malformed(index, `value is required for ${known}`);
    }
    return {
      op: known,
      path: readPointer(path, index, "path"),
      ...((known === "move" || known === "copy") && { from: readPointer(from, index, "from") }),
      ...(needsValue && { value }),
    };
  });
}

/** RFC 6901. */
function readPointer(pointer: unknown, index: number, name: string): readonly string[] {
  if (typeof pointer !== "string" || !(pointer === "" || pointer.startsWith("/")) || /~(?![01])/.test(pointer)) {
    throw malformed(index, `${name} must be a JSON pointer such as /properties/title`);
  }
  const parts = pointer.split("/", MAX_POINTER_PARTS + 2).slice(1);
  if (parts.length > MAX_POINTER_PARTS) {
    throw malformed(index, `${name} must have at most ${MAX_POINTER_PARTS} parts`);
  }
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const toPointer = (path: readonly string[]): string =>
  path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("") || "the root";
const malformed = (index: number, rule: string): Error =>
  problem(400, "BadRequest", `Operation ${index} of the JSON Patch is not valid: ${rule}.`);
const conflict = (description: string): Error => problem(409, "Conflict", description);
const missing = (path: readonly string[], what: string): Error =>
  conflict(`${what} names ${toPointer(path.slice(1)).slice(0, 600)}, which the document does not have.`);
