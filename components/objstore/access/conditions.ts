import { BlockList, isIP } from "node:net";

import { S3Error } from "../errors.ts";
import { isConditionKey, toConditionKey } from "./condition-keys.ts";
import { isLike } from "./like.ts";

export interface Condition {
  /** Without `Not`: what is compared. */
  readonly comparison: string;
  readonly negated: boolean;
  readonly ifExists: boolean;
  /** For keys of several values. */
  readonly set: "any" | "all" | undefined;
  readonly key: string;
  readonly values: readonly string[];
}

/** Values of a condition key; undefined when the request has none. */
export type Context = (key: string) => readonly string[] | undefined;

const BASES: ReadonlyMap<string, (value: string) => boolean> = new Map(
  Object.entries<(value: string) => boolean>({
    StringEquals: () => true,
    StringEqualsIgnoreCase: () => true,
    StringLike: () => true,
    NumericEquals: isNumber,
    NumericLessThan: isNumber,
    NumericLessThanEquals: isNumber,
    NumericGreaterThan: isNumber,
    NumericGreaterThanEquals: isNumber,
    DateEquals: isDate,
    DateLessThan: isDate,
    DateLessThanEquals: isDate,
    DateGreaterThan: isDate,
    DateGreaterThanEquals: isDate,
    Bool: isBoolean,
    BinaryEquals: (value) => /^[A-Za-z0-9+/]*=*$/.test(value),
    IpAddress: isNetwork,
    ArnEquals: isArn,
    ArnLike: isArn,
    Null: isBoolean,
  }),
);
const NEGATED: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    StringNotEquals: "StringEquals",
    StringNotEqualsIgnoreCase: "StringEqualsIgnoreCase",
    StringNotLike: "StringLike",
    NumericNotEquals: "NumericEquals",
    DateNotEquals: "DateEquals",
    NotIpAddress: "IpAddress",
    ArnNotEquals: "ArnEquals",
    ArnNotLike: "ArnLike",
  }),
);

/** Reads the `Condition` of a statement. @throws {S3Error} MalformedPolicy for what is not understood: nothing is ignored */
export function parseConditions(value: unknown): readonly Condition[] {
  if (value === undefined) {
    return [];
  }
  if (!isRecord(value)) {
    throw new S3Error("MalformedPolicy", "Condition must be an object.");
  }
  return Object.entries(value).flatMap(([name, keys]) => {
    const [, quantifier, rest = ""] = /^(?:(ForAnyValue|ForAllValues):)?(.*)$/.exec(name) ?? [];
    const ifExists = rest.endsWith("IfExists");
    const operator = ifExists ? rest.slice(0, -"IfExists".length) : rest;
    const comparison = NEGATED.get(operator) ?? operator;
    const isValue = BASES.get(comparison);
    if (isValue === undefined || !isRecord(keys) || (operator === "Null" && ifExists)) {
      throw new S3Error("MalformedPolicy", `Invalid Condition type : ${name}`);
    }
    return Object.entries(keys).map(([key, provided]) => {
      if (!isConditionKey(key)) {
        throw new S3Error("MalformedPolicy", `Policy has an invalid condition key: ${key.slice(0, 200)}`);
      }
      const values = readTexts(provided, "Condition");
      const wrong = values.find((each) => !each.includes("${") && !isValue(each));
      if (wrong !== undefined) {
        throw new S3Error("MalformedPolicy", `${name} cannot be compared with "${wrong.slice(0, 200)}".`);
      }
      return {
        comparison,
        negated: NEGATED.get(operator) !== undefined,
        ifExists,
        set: quantifier === "ForAnyValue" ? "any" : quantifier === "ForAllValues" ? "all" : undefined,
        key: toConditionKey(key),
        values,
      };
    });
  });
}

/** A text or a list of texts. @throws {S3Error} MalformedPolicy */
export function readTexts(value: unknown, name: string): readonly string[] {
  const list = (Array.isArray(value) ? (value as unknown[]) : [value]).map((item) =>
    typeof item === "boolean" || typeof item === "number" ? String(item) : item,
  );
  if (list.length === 0 || !list.every((item) => typeof item === "string")) {
    throw new S3Error("MalformedPolicy", `${name} must be a text or a list of texts.`);
  }
  return list;
}

/** Whether a condition holds; `fill` fills in the variables of its values, undefined where one has no value. */
export function holds(condition: Condition, context: Context, fill: (text: string) => string | undefined): boolean {
  const { comparison, negated, ifExists, set, key, values } = condition;
  const actual = context(key);
  if (comparison === "Null") {
    return values.some((value) => (value.toLowerCase() === "true") === (actual === undefined));
  }
  if (actual === undefined || actual.length === 0) {
    // Who asks of all values of none is told yes; a negated comparison with nothing holds too.
    return ifExists || (set === undefined ? negated : set === "all");
  }
  const expected = values.flatMap((value) => fill(value) ?? []);
  const fits = (value: string) => expected.some((each) => compare(comparison, value, each)) !== negated;
  return set === "all" ? actual.every(fits) : set === "any" || !negated ? actual.some(fits) : actual.every(fits);
}

function compare(comparison: string, actual: string, expected: string): boolean {
  switch (comparison) {
    case "StringEquals":
    case "BinaryEquals":
      return actual === expected;
    case "StringEqualsIgnoreCase":
    case "Bool":
      return actual.toLowerCase() === expected.toLowerCase();
    case "StringLike":
      return isLike(actual, expected);
    case "ArnEquals":
    case "ArnLike":
      return isArnLike(actual, expected);
    case "NumericEquals":
      return Number(actual) === Number(expected);
    case "NumericLessThan":
      return Number(actual) < Number(expected);
    case "NumericLessThanEquals":
      return Number(actual) <= Number(expected);
    case "NumericGreaterThan":
      return Number(actual) > Number(expected);
    case "NumericGreaterThanEquals":
      return Number(actual) >= Number(expected);
    case "DateEquals":
      return toTime(actual) === toTime(expected);
    case "DateLessThan":
      return toTime(actual) < toTime(expected);
    case "DateLessThanEquals":
      return toTime(actual) <= toTime(expected);
    case "DateGreaterThan":
      return toTime(actual) > toTime(expected);
    case "DateGreaterThanEquals":
      return toTime(actual) >= toTime(expected);
    default:
      return isInNetwork(actual, expected);
  }
}

/** The six parts of an ARN are compared one by one: a star does not reach over a colon, but for the last part. */
function isArnLike(actual: string, expected: string): boolean {
  const [left, right] = [actual.split(":"), expected.split(":")];
  const part = (list: readonly string[], at: number) => (at < 5 ? (list[at] ?? "") : list.slice(5).join(":"));
  return [0, 1, 2, 3, 4, 5].every((at) => isLike(part(left, at), part(right, at)));
}

function isInNetwork(address: string, network: string): boolean {
  const [base = "", bits] = network.split("/");
  const family = isIP(base) === 6 ? "ipv6" : "ipv4";
  if (isIP(base) === 0 || isIP(address) === 0) {
    return false;
  }
  const list = new BlockList();
  list.addSubnet(base, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function isNetwork(value: string): boolean {
  const [base = "", bits] = value.split("/");
  const family = isIP(base);
  return family !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32)));
}

function isNumber(value: string): boolean {
  return value.trim() !== "" && Number.isFinite(Number(value));
}

function isDate(value: string): boolean {
  return !Number.isNaN(toTime(value));
}

/** ISO 8601, or seconds since 1970. */
function toTime(value: string): number {
  return /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value);
}

function isBoolean(value: string): boolean {
  return /^(true|false)$/i.test(value);
}

function isArn(value: string): boolean {
  return value === "*" || value.split(":").length >= 6;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
