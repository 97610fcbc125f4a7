import { describe } from "../load/fields.ts";
import type { CwlType } from "../model/types.ts";
import { formatType } from "../model/types.ts";
import type { Value } from "../model/values.ts";
import { isDirectory, isFile, isObject } from "../model/values.ts";

/** Why a value does not have a type: where inside the value, and what was wrong. */
export interface Mismatch {
  readonly path: string;
  readonly message: string;
}

/** Checks a value against a type; undefined when it fits. An absent value is null. */
export function mismatch(value: Value | undefined, type: CwlType): Mismatch | undefined {
  return check(value, type, "", { anyTakesNull: false, known: new Map() });
}

interface Rules {
  readonly anyTakesNull: boolean;
  /** Answers for members of unions: unions in unions would ask the same again and again. */
  readonly known: Map<object, Map<CwlType, Mismatch | undefined>>;
}

function check(value: Value | undefined, type: CwlType, path: string, rules: Rules): Mismatch | undefined {
  const { anyTakesNull } = rules;
  const fail = (): Mismatch => ({ path, message: `expected ${formatType(type)}, got ${describe(value)}` });
  switch (type.kind) {
    case "null":
      return value === null || value === undefined ? undefined : fail();
    case "Any":
      return (value === null || value === undefined) && !anyTakesNull ? fail() : undefined;
    case "boolean":
    case "string":
      return typeof value === type.kind ? undefined : fail();
    case "int":
      return isInteger(value, 31n) ? undefined : fail();
    case "long":
      return isInteger(value, 63n) ? undefined : fail();
    case "float":
    case "double":
      return typeof value === "number" || typeof value === "bigint" ? undefined : fail();
    case "File":
      return isFile(value) ? undefined : fail();
    case "Directory":
      return isDirectory(value) ? undefined : fail();
    case "enum":
      return typeof value === "string" && type.symbols.includes(value) ? undefined : fail();
    case "array": {
      if (!Array.isArray(value)) {
        return fail();
      }
      for (const [index, item] of (value as readonly Value[]).entries()) {
        const inner = check(item, type.items, `${path}[${index}]`, rules);
        if (inner !== undefined) {
          return inner;
        }
      }
      return undefined;
    }
    case "record": {
      if (!isObject(value) || isFile(value) || isDirectory(value)) {
        return fail();
      }
      for (const field of type.fields) {
        const inner = check(value[field.name] as Value | undefined, field.type, `${path}.${field.name}`, rules);
        if (inner !== undefined) {
          return inner;
        }
      }
      return undefined;
    }
    case "union":
      return unionMismatch(value, type.members, path, rules);
  }
}

function unionMismatch(
  value: Value | undefined,
  members: readonly CwlType[],
  path: string,
  rules: Rules,
): Mismatch | undefined {
  const reasons: Mismatch[] = [];
  for (const member of members) {
    const reason = checkOnce(value, member, path, rules);
    if (reason === undefined) {
      return undefined;
    }
    reasons.push(reason);
  }
  // The branch that got furthest into the value says most.
  const deepest = reasons.toSorted((a, b) => b.path.length - a.path.length)[0];
  return deepest !== undefined && deepest.path !== path
    ? deepest
    : { path, message: `expected ${formatType({ kind: "union", members })}, got ${describe(value)}` };
}

function checkOnce(value: Value | undefined, type: CwlType, path: string, rules: Rules): Mismatch | undefined {
  if (typeof value !== "object" || value === null) {
    return check(value, type, path, rules);
  }
  const responses = rules.known.get(value) ?? new Map<CwlType, Mismatch | undefined>();
  rules.known.set(value, responses);
  if (!responses.has(type)) {
    responses.set(type, check(value, type, path, rules));
  }
  return responses.get(type);
}

function isInteger(value: unknown, bits: bigint): boolean {
  if (typeof value !== "bigint" && !Number.isInteger(value)) {
    return false;
  }
  const exact = BigInt(value as number | bigint);
  return exact >= -(2n ** bits) && exact < 2n ** bits;
}

/** The same for an output, where Any may be null as well. */
export function outputMismatch(value: Value | undefined, type: CwlType): Mismatch | undefined {
  return check(value, type, "", { anyTakesNull: true, known: new Map() });
}

/** The first member of a union that a value has; the type itself when it is no union. */
export function branchFor(value: Value | undefined, type: CwlType): CwlType {
  if (type.kind !== "union") {
    return type;
  }
  const member = type.members.find((item) => mismatch(value, item) === undefined);
  return member === undefined ? type : branchFor(value, member);
}
