import { ScimError } from "./errors.ts";

type Json = Record<string, unknown>;

const MAX_OPERATIONS = 100;
const PATH =
  /^(?:(urn:[\w:.]+?):)?([A-Za-z$][\w$-]*)(?:\[(\w+) eq ("(?:[^"\\]|\\.)*"|true|false)\])?(?:\.([A-Za-z$][\w$-]*))?$/;

const invalidPath = (path: string) =>
  new ScimError(400, `path ${JSON.stringify(path.slice(0, 200))} cannot be changed`, "invalidPath");

/**
 * A resource with the operations of a PATCH applied (RFC 7644 §3.5.2); all of them or none.
 * @param extensions schemas whose attributes are below their name
 * @throws {ScimError} 400
 */
export function applyPatch(resource: Json, body: Json, extensions: readonly string[]): Json {
  const operations = body["Operations"] ?? body["operations"];
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MAX_OPERATIONS) {
    throw new ScimError(400, `Operations must be a list of 1 to ${MAX_OPERATIONS}`, "invalidSyntax");
  }
  const changed = structuredClone(resource);
  for (const operation of operations as readonly unknown[]) {
    const { op, path, value } = Object(operation) as Json;
    const kind = typeof op === "string" ? op.toLowerCase() : "";
    if (!["add", "replace", "remove"].includes(kind) || (path !== undefined && typeof path !== "string")) {
      throw new ScimError(
        400,
        "an operation has op add, replace or remove, and a path that is a text",
        "invalidSyntax",
      );
    }
    if (typeof path === "string") {
      applyAt(changed, path, kind, value, extensions);
    } else if (kind === "remove" || typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new ScimError(400, "an operation without a path needs an object as its value", "noTarget");
    } else {
      for (const [name, item] of Object.entries(value)) {
        applyAt(changed, name, kind, item, extensions);
      }
    }
  }
  return changed;
}

function applyAt(resource: Json, path: string, op: string, value: unknown, extensions: readonly string[]): void {
  const extension = extensions.find((schema) => path === schema);
  if (extension !== undefined) {
    put(resource, extension, op, value);
    return;
  }
  const match = PATH.exec(path);
  const [, schema, name = "", key, requested, sub] = match ?? [];
  if (match === null || ["__proto__", "constructor", "prototype"].some((word) => [name, sub, key].includes(word))) {
    throw invalidPath(path);
  }
  const isExtension = schema !== undefined && extensions.includes(schema);
  const home = isExtension ? within(resource, schema) : resource;
  const field = Object.keys(home).find((one) => one.toLowerCase() === name.toLowerCase()) ?? name;
  if (key === undefined) {
    put(sub === undefined ? home : within(home, field), sub ?? field, op, value);
    return;
  }
  const expected: unknown = JSON.parse(requested ?? "null");
  const items = Array.isArray(home[field]) ? (home[field] as Json[]) : [];
  const fitting = items.filter((item) => Object(item)[key] === expected);
  if (op === "remove" && sub === undefined) {
    home[field] = items.filter((item) => !fitting.includes(item));
  } else if (fitting.length === 0 && op !== "remove") {
    home[field] = [...items, { [key]: expected, ...(sub === undefined ? (Object(value) as Json) : { [sub]: value }) }];
  } else {
    fitting.forEach((item) => (sub === undefined ? Object.assign(item, value) : put(item, sub, op, value)));
  }
}

function within(resource: Json, name: string): Json {
  const present = resource[name];
  const isObject = typeof present === "object" && present !== null && !Array.isArray(present);
  return (isObject ? present : (resource[name] = {})) as Json;
}

function put(target: Json, name: string, op: string, value: unknown): void {
  const present = target[name];
  if (op === "remove") {
    delete target[name];
  } else if (op === "add" && Array.isArray(present)) {
    const more = (Array.isArray(value) ? value : [value]) as readonly unknown[];
    const known = new Set(present.map((item) => JSON.stringify(item)));
    target[name] = [...(present as readonly unknown[]), ...more.filter((item) => !known.has(JSON.stringify(item)))];
  } else if (op === "add" && isPlain(present) && isPlain(value)) {
    target[name] = { ...present, ...value };
  } else {
    target[name] = value;
  }
}

const isPlain = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
