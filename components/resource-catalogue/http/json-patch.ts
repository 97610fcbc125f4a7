import { isDeepStrictEqual } from "node:util";

import { problem } from "./errors.ts";

/** Operations of one patch at most. */
const MAX_OPERATIONS = 1000;
const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"] as const;

interface Operation {
  readonly op: (typeof OPERATIONS)[number];
  readonly path: readonly string[];
  readonly from?: readonly string[];
  readonly value?: unknown;
}

type Holder = Record<string, unknown> | unknown[];

/**
 * JSON Patch (RFC 6902): all operations, or none.
 * @throws {Problem} 400 for what is no patch; 409 where the document has no such place, or a test fails
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  // A holder above the root, so that the root is a place like any other.
  const above: Record<string, unknown> = { root: structuredClone(document) };
  for (const [index, operation] of readOperations(patch).entries()) {
    apply(above, operation, `Operation ${index} (${operation.op})`);
  }
  return above["root"];
}

function apply(above: Record<string, unknown>, { op, path, from = [], value }: Operation, what: string): void {
  const target = ["root", ...path];
  switch (op) {
    case "add":
      add(above, target, value, what);
      return;
    case "remove":
      remove(above, target, what);
      return;
    case "replace":
      remove(above, target, what);
      add(above, target, value, what);
      return;
    case "move": {
      if (path.length > from.length && from.every((part, index) => part === path[index])) {
        throw conflict(`${what} moves a value into itself.`);
      }
      add(above, target, remove(above, ["root", ...from], what), what);
      return;
    }
    case "copy":
      add(above, target, structuredClone(find(above, ["root", ...from], what)), what);
      return;
    case "test":
      if (!isDeepStrictEqual(find(above, target, what), value)) {
        throw conflict(`${what} failed: the value at ${toPointer(path)} is another one.`);
      }
      return;
  }
}

function add(above: Record<string, unknown>, path: readonly string[], value: unknown, what: string): void {
  const { holder, key } = findHolder(above, path, what);
  if (!Array.isArray(holder)) {
    Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  const index = key === "-" ? holder.length : readIndex(key);
  if (index === undefined || index > holder.length) {
    throw missing(path, what);
  }
  holder.splice(index, 0, value);
}

function remove(above: Record<string, unknown>, path: readonly string[], what: string): unknown {
  const removed = find(above, path, what);
  const { holder, key } = findHolder(above, path, what);
  if (Array.isArray(holder)) {
    holder.splice(Number(key), 1);
  } else {
    Reflect.deleteProperty(holder, key);
  }
  return removed;
}

function find(above: Record<string, unknown>, path: readonly string[], what: string): unknown {
  const { holder, key } = findHolder(above, path, what);
  if (Array.isArray(holder) ? readIndex(key) === undefined || !(key in holder) : !Object.hasOwn(holder, key)) {
    throw missing(path, what);
  }
  return (holder as Record<string, unknown>)[key];
}

function findHolder(
  above: Record<string, unknown>,
  path: readonly string[],
  what: string,
): { readonly holder: Holder; readonly key: string } {
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
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const toPointer = (path: readonly string[]): string =>
  path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("") || "the root";
const malformed = (index: number, rule: string): Error =>
  problem(400, "BadRequest", `Operation ${index} of the JSON Patch is not valid: ${rule}.`);
const conflict = (description: string): Error => problem(409, "Conflict", description);
const missing = (path: readonly string[], what: string): Error =>
  conflict(`${what} names ${toPointer(path.slice(1))}, which the document does not have.`);
