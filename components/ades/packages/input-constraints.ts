import { Ajv } from "ajv";

import type { InputDescription, Schema } from "./describe.ts";
import type { InputProblem } from "./input-problems.ts";
import { unwrapValue } from "./qualified-value.ts";

/** Says what is wrong with a value; `undefined` when nothing is. */
type Check = (value: unknown) => string | undefined;

const ofNumbers =
  (holds: (value: number, limit: number) => boolean, words: string) =>
  (limit: number): Check =>
  (value) =>
    typeof value !== "number" || holds(value, limit) ? undefined : `must be ${words} ${limit}`;
const ofTexts =
  (holds: (length: number, limit: number) => boolean, words: string) =>
  (limit: number): Check =>
  (value) =>
    // JSON Schema counts characters, not the halves that JavaScript counts.
    typeof value !== "string" || holds(Array.from(value).length, limit)
      ? undefined
      : `must have ${words} ${limit} character${limit === 1 ? "" : "s"}`;
const ofLists =
  (holds: (length: number, limit: number) => boolean, words: string) =>
  (limit: number): Check =>
  (value) =>
    !Array.isArray(value) || holds(value.length, limit)
      ? undefined
      : `must have ${words} ${limit} value${limit === 1 ? "" : "s"}`;

/** Whether a number is a multiple of another, but for what binary fractions cannot hold. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.max(1, Math.abs(times));
}

/** Members of a schema that limit single values, by a number (JSON Schema Validation, 6.2 and 6.3). */
const VALUE_CHECKS: Readonly<Record<string, (limit: number) => Check>> = {
  minimum: ofNumbers((value, limit) => value >= limit, "at least"),
  maximum: ofNumbers((value, limit) => value <= limit, "at most"),
  exclusiveMinimum: ofNumbers((value, limit) => value > limit, "more than"),
  exclusiveMaximum: ofNumbers((value, limit) => value < limit, "less than"),
  multipleOf: ofNumbers(isMultiple, "a multiple of"),
  minLength: ofTexts((length, limit) => length >= limit, "at least"),
  maxLength: ofTexts((length, limit) => length <= limit, "at most"),
};
/** Those that limit lists (6.4). */
const LIST_CHECKS: Readonly<Record<string, (limit: number) => Check>> = {
  minItems: ofLists((length, limit) => length >= limit, "at least"),
  maxItems: ofLists((length, limit) => length <= limit, "at most"),
};
/** `pattern` is not among them: a regular expression of a stranger may take for ever. It is for clients. */
const MEMBERS = new Set(["enum", "const", ...Object.keys(VALUE_CHECKS), ...Object.keys(LIST_CHECKS)]);

/** What is wrong with the limits that a schema sets; `undefined` when nothing is. */
export function findConstraintMistake(schema: Schema): string | undefined {
  const ajv = new Ajv({ strict: false });
  const limits = Object.fromEntries(Object.entries(schema).filter(([member]) => MEMBERS.has(member)));
  if (ajv.validateSchema(limits) === true) {
    return undefined;
  }
  const [first] = ajv.errors ?? [];
  return `${first?.instancePath.slice(1) ?? ""} ${first?.message ?? "is not valid"}`;
}

/** Problems that are told of one request. */
const MAX_PROBLEMS = 20;

/** Values of a request that the description of their process does not allow, although they are of the right type. */
export function findConstraintProblems(
  inputs: Readonly<Record<string, InputDescription>>,
  provided: Readonly<Record<string, unknown>>,
): readonly InputProblem[] {
  const problems: InputProblem[] = [];
  const apply = (checks: readonly Check[], value: unknown, path: string): void => {
    for (const check of checks) {
      const message = check(value);
      if (message !== undefined && problems.length < MAX_PROBLEMS) {
        problems.push({ path, message });
      }
    }
  };
  for (const [name, { schema }] of Object.entries(inputs)) {
    const value = Object.hasOwn(provided, name) ? unwrapValue(provided[name]) : undefined;
    // Files are addresses or contents, which the schema does not tell apart.
    if (value === undefined || value === null || schema["contentMediaType"] !== undefined) {
      continue;
    }
    const [path, ofValues] = [`inputs.${name}`, [...checksOf(schema, VALUE_CHECKS), ...oneOf(schema)]];
    apply(checksOf(schema, LIST_CHECKS), Array.isArray(value) ? value : [value], path);
    if (Array.isArray(value)) {
      value.forEach((item, index) => apply(ofValues, unwrapValue(item), `${path}[${index}]`));
    } else {
      apply(ofValues, value, path);
    }
  }
  return problems;
}

const checksOf = (schema: Schema, checks: typeof VALUE_CHECKS): readonly Check[] =>
  Object.entries(checks).flatMap(([member, toCheck]) => {
    const limit = schema[member];
    return typeof limit === "number" ? [toCheck(limit)] : [];
  });

/** `enum` and `const`: a thousand values are looked up in as little time as one. */
function oneOf(schema: Schema): readonly Check[] {
  const { enum: list, const: only } = schema;
  const values = Array.isArray(list) ? (list as readonly unknown[]) : only === undefined ? undefined : [only];
  if (values === undefined) {
    return [];
  }
  const allowed = new Set(values.map((each) => JSON.stringify(each)));
  const text = [...allowed].slice(0, 20).join(", ");
  return [
    (value) =>
      allowed.has(JSON.stringify(value)) ? undefined : `must be one of ${text}${allowed.size > 20 ? ", …" : ""}`,
  ];
}
