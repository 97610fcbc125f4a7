import type { CwlVersion } from "../model/process.ts";
import { isObject } from "../model/values.ts";
import { problemAt } from "./origin.ts";
import type { Scope } from "./scope.ts";

type Kind = "string" | "boolean" | "int" | "number" | "list" | "map" | "any";

/** What a document may write in one field. A trailing `!` on the kinds makes the field required. */
interface FieldRule {
  readonly kinds: readonly Kind[];
  readonly required: boolean;
  /** First version that has the field. */
  readonly since: CwlVersion;
  /** Last version that has it. */
  readonly until: CwlVersion;
  readonly values: readonly string[] | undefined;
}

export type FieldTable = ReadonlyMap<string, FieldRule>;

/** Builds a table from lines of `name: "kind|kind! @since -until =value,value"`. */
export function fieldTable(...tables: readonly { readonly [name: string]: string }[]): FieldTable {
  const result = new Map<string, FieldRule>();
  for (const table of tables) {
    for (const [name, text] of Object.entries(table)) {
      const [kinds = "", ...flags] = text.split(" ");
      const flag = (sign: string): string | undefined => flags.find((item) => item.startsWith(sign))?.slice(1);
      result.set(name, {
        kinds: kinds.replace("!", "").split("|") as Kind[],
        required: kinds.endsWith("!"),
        since: (flag("@") ?? "v1.0") as CwlVersion,
        until: (flag("-") ?? "v9") as CwlVersion,
        values: flag("=")?.split(","),
      });
    }
  }
  return result;
}

/** Checks the fields of one object against its table and reports every deviation. */
export function checkFields(
  scope: Scope,
  object: { readonly [key: string]: unknown },
  what: string,
  table: FieldTable,
  path: string,
): void {
  scope.budget.tick(scope.document.uri);
  for (const [key, value] of Object.entries(object)) {
    const rule = table.get(key);
    if (rule === undefined || rule.since > scope.version || rule.until < scope.version) {
      if (!isExtension(key)) {
        scope.problems.push(
          problemAt(object, key, unknownField(key, what, rule, scope.version), {
            path,
            hint: suggest(key, what, rule, table, scope.version),
          }),
        );
      }
      continue;
    }
    if (value === null && !rule.required) {
      continue;
    }
    if (!rule.kinds.some((kind) => isKind(value, kind))) {
      scope.problems.push(
        problemAt(object, key, `"${key}" of ${what} is ${describe(value)}`, {
          path: join(path, key),
          hint: `expected ${rule.kinds.map((kind) => kindNames[kind]).join(" or ")}`,
        }),
      );
    } else if (rule.values !== undefined && typeof value === "string" && !rule.values.includes(value)) {
      scope.problems.push(
        problemAt(object, key, `"${key}" of ${what} cannot be "${value}"`, {
          path: join(path, key),
          hint: `one of ${rule.values.join(", ")}`,
        }),
      );
    }
  }
  for (const [key, rule] of table) {
    if (rule.required && rule.since <= scope.version && !(key in object)) {
      scope.problems.push(
        problemAt(object, undefined, `${what} needs the field "${key}"`, {
          path,
          hint: `it is ${rule.kinds.map((kind) => kindNames[kind]).join(" or ")}`,
        }),
      );
    }
  }
}

const kindNames: { readonly [kind in Kind]: string } = {
  string: "a string",
  boolean: "true or false",
  int: "an integer",
  number: "a number",
  list: "a list",
  map: "an object",
  any: "any value",
};

/** Fields of other vocabularies carry a prefix or are full IRIs; `$…` at the root is schema salad's own. */
export function isExtension(key: string): boolean {
  return key.includes(":") || key === "$namespaces" || key === "$schemas" || key === "$base";
}

function unknownField(
  key: string,
  what: string,
  rule: FieldTable extends ReadonlyMap<string, infer R> ? R | undefined : never,
  version: CwlVersion,
): string {
  return rule === undefined
    ? `${what} has no field "${key}"`
    : rule.since > version
      ? `the field "${key}" of ${what} came with CWL ${rule.since}; this document is ${version}`
      : `the field "${key}" of ${what} went away after CWL ${rule.until}; this document is ${version}`;
}

function suggest(key: string, what: string, rule: unknown, table: FieldTable, version: CwlVersion): string {
  if (rule !== undefined) {
    return `set cwlVersion to a version that has it, or leave the field out`;
  }
  const known = [...table].filter(([, r]) => r.since <= version && r.until >= version).map(([name]) => name);
  const near = known.find(
    (name) => Math.abs(name.length - key.length) <= 2 && distance(name.toLowerCase(), key.toLowerCase()) <= 2,
  );
  return near === undefined ? `${what} has: ${known.join(", ")}` : `did you mean "${near}"?`;
}

/** Levenshtein distance of two short names. */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      row.push(
        Math.min(
          (previous[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      );
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}

function isKind(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "any":
      return true;
    case "list":
      return Array.isArray(value);
    case "map":
      return isObject(value);
    case "int":
      return typeof value === "bigint" || Number.isInteger(value);
    case "number":
      return typeof value === "number" || typeof value === "bigint";
    case "string":
    case "boolean":
      return typeof value === kind;
  }
}

/** A few words on a value, for messages. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) {
    return "null";
  }
  if (Array.isArray(value)) {
    return `a list of ${value.length}`;
  }
  if (isObject(value)) {
    return typeof value["class"] === "string" ? `a ${value["class"]}` : "an object";
  }
  const text = typeof value === "string" ? JSON.stringify(value) : String(value as number | boolean | bigint);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

export function join(path: string, key: string | number): string {
  return path === "" ? String(key) : `${path}.${key}`;
}
