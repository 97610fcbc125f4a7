import { RegistrationError } from "../queue/errors.ts";

type Json = Readonly<Record<string, unknown>>;

const COMPARISONS: ReadonlyMap<string, (left: unknown, right: unknown) => boolean> = new Map(
  Object.entries<(left: unknown, right: unknown) => boolean>({
    "=": (left, right) => left === right,
    "<>": (left, right) => left !== right,
    "<": (left, right) => compare(left, right) < 0,
    "<=": (left, right) => compare(left, right) <= 0,
    ">": (left, right) => compare(left, right) > 0,
    ">=": (left, right) => compare(left, right) >= 0,
  }),
);
/** Names of the older form. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ eq: "=", neq: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" }),
);
const MAX_DEPTH = 32;

/** Whether properties pass a filter of CQL2 JSON: comparisons, `and`, `or`, `not`, `in`, `like`, `isNull`. @throws {RegistrationError} for others */
export function passes(filter: Json, properties: Json, depth = 0): boolean {
  const { op, args } = readOperation(filter);
  if (op === undefined) {
    return true;
  }
  if (depth > MAX_DEPTH) {
    throw new RegistrationError(`The filter is more than ${MAX_DEPTH} levels deep.`);
  }
  const inner = (value: unknown): boolean => passes(value as Json, properties, depth + 1);
  const value = (operand: unknown): unknown => valueOf(operand, properties);
  switch (op) {
    case "and":
      return args.every(inner);
    case "or":
      return args.some(inner);
    case "not":
      return !inner(args[0]);
    case "in":
      return Array.isArray(args[1]) && args[1].includes(value(args[0]));
    case "isnull":
      return (value(args[0]) ?? null) === null;
    case "like":
      return toPattern(String(args[1])).test(String(value(args[0])));
    default: {
      const comparison = COMPARISONS.get(op);
      if (comparison === undefined) {
        throw new RegistrationError(`The filter has "${op}", which is not offered.`);
      }
      return comparison(value(args[0]), value(args[1]));
    }
  }
}

function readOperation(filter: Json): { readonly op?: string; readonly args: readonly unknown[] } {
  if (typeof filter["op"] === "string") {
    return { op: filter["op"].toLowerCase(), args: toList(filter["args"]) };
  }
  const [entry] = Object.entries(filter);
  return entry === undefined
    ? { args: [] }
    : { op: OLD_NAMES.get(entry[0].toLowerCase()) ?? entry[0].toLowerCase(), args: toList(entry[1]) };
}

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

function valueOf(operand: unknown, properties: Json): unknown {
  const { property, timestamp, date } = (typeof operand === "object" && operand !== null ? operand : {}) as Json;
  return typeof property === "string" ? properties[property] : (timestamp ?? date ?? operand);
}

function compare(left: unknown, right: unknown): number {
  return typeof left === "number" && typeof right === "number"
    ? left - right
    : typeof left === "string" && typeof right === "string"
      ? left < right
        ? -1
        : Number(left > right)
      : Number.NaN;
}

const toPattern = (text: string): RegExp =>
  new RegExp(
    `^${text
      .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
      .replaceAll("%", ".*")
      .replaceAll("_", ".")}$`,
    "s",
  );
