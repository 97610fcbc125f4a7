import { type Expression, FilterError, type Operator } from "./expression.ts";
import { type PropertySql, type SqlType, castProperty, toPropertySql } from "./properties.ts";
import type { SqlParameters } from "./sql.ts";

/** What compiling takes and gathers. */
export interface ScalarContext {
  readonly parameters: SqlParameters;
  /** @throws {FilterError} for a property that the collections do not have, where they say which they have */
  readonly checkProperty?: (name: string) => void;
  /** An operator that gives true or false, where it is an operand itself. */
  readonly compileCondition: (op: Operator, args: readonly Expression[]) => string;
}

const ARITHMETIC = new Set<string>(["+", "-", "*", "/", "%", "div", "^"]);

/** @throws {FilterError} for another number of operands */
export function only(op: string, args: readonly Expression[], count: number): readonly Expression[] {
  if (args.length !== count) {
    throw new FilterError(`${op} takes ${count} operand${count === 1 ? "" : "s"}, not ${args.length}`);
  }
  return args;
}

export function resolve(name: string, { checkProperty }: Pick<ScalarContext, "checkProperty">): PropertySql {
  const found = toPropertySql(name);
  checkProperty?.(name);
  return found;
}

/** The type of an operand; `undefined` for a property whose type only the other operand tells. */
export function typeOf(expression: Expression, context: ScalarContext): SqlType | undefined {
  switch (expression.kind) {
    case "string":
      return "text";
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "timestamp":
    case "date":
      return "time";
    case "interval":
      return "interval";
    case "geometry":
    case "bbox":
      return "geometry";
    case "property": {
      const { type } = resolve(expression.name, context);
      return type === "json" ? undefined : type;
    }
    case "call":
      return expression.op === "casei" || expression.op === "accenti"
        ? "text"
        : ARITHMETIC.has(expression.op)
          ? "number"
          : "boolean";
    case "array":
    case "words":
    case "json-contains":
      throw new FilterError("a list cannot be compared as one value; use the functions A_EQUALS, A_CONTAINS …");
  }
}

/** The type that operands are compared as; times are also written as texts. */
export function commonType(args: readonly Expression[], context: ScalarContext): SqlType {
  const types = new Set(args.map((arg) => typeOf(arg, context)).filter((type) => type !== undefined));
  if (types.size === 0) {
    return "json";
  }
  if (types.has("time") && args.every((arg) => typeOf(arg, context) !== "number")) {
    return "time";
  }
  if (types.size > 1) {
    throw new FilterError(`${[...types].join(" and ")} cannot be compared`);
  }
  return [...types][0] as SqlType;
}

/** An operand as SQL of a type. @throws {FilterError} where it has another one */
export function compileAs(expression: Expression, type: SqlType, context: ScalarContext): string {
  const { parameters } = context;
  switch (expression.kind) {
    case "property": {
      const found = resolve(expression.name, context);
      if (found.type !== "json" && found.type !== type && type !== "json") {
        throw new FilterError(`${expression.name} is a ${found.type} and cannot be compared with a ${type}`);
      }
      return castProperty(found, type);
    }
    case "string":
      if (type === "time") {
        return parameters.add(toTime(expression.value), "timestamptz");
      }
      return type === "text" ? `${parameters.add(expression.value, "text")} collate "C"` : mismatch(expression, type);
    case "number":
      return type === "number" ? parameters.add(expression.value, "float8") : mismatch(expression, type);
    case "boolean":
      return type === "boolean" ? parameters.add(expression.value, "boolean") : mismatch(expression, type);
    case "timestamp":
      return type === "time" ? parameters.add(expression.value, "timestamptz") : mismatch(expression, type);
    case "date":
      return type === "time"
        ? parameters.add(`${expression.value}T00:00:00Z`, "timestamptz")
        : mismatch(expression, type);
    case "call":
      return compileScalarCall(expression.op, expression.args, type, context);
    case "interval":
    case "geometry":
    case "bbox":
    case "array":
    case "words":
    case "json-contains":
      return mismatch(expression, type);
  }
}

function compileScalarCall(op: Operator, args: readonly Expression[], type: SqlType, context: ScalarContext): string {
  if (op === "casei" || op === "accenti") {
    if (type !== "text") {
      throw new FilterError(`${op} gives a text, which cannot be compared with a ${type}`);
    }
    return `${op}(${compileAs(only(op, args, 1)[0] as Expression, "text", context)})`;
  }
  if (!ARITHMETIC.has(op)) {
    if (type !== "boolean") {
      throw new FilterError(`${op} gives true or false, which cannot be compared with a ${type}`);
    }
    return context.compileCondition(op, args);
  }
  if (type !== "number") {
    throw new FilterError(`${op} gives a number, which cannot be compared with a ${type}`);
  }
  const [left, right] = only(op, args, 2).map((arg) => compileAs(arg, "number", context)) as [string, string];
  switch (op) {
    case "/":
      return `(${left} / nullif(${right}, 0))`;
    case "div":
      return `trunc(${left} / nullif(${right}, 0))`;
    case "%":
      return `mod((${left})::numeric, nullif((${right})::numeric, 0))::float8`;
    case "^":
      return `power(${left}, ${right})`;
    default:
      return `(${left} ${op} ${right})`;
  }
}

function toTime(text: string): string {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
  if (Number.isNaN(Date.parse(day)) || !/^\d{4}-\d{2}-\d{2}T/i.test(day)) {
    throw new FilterError(`${JSON.stringify(text.slice(0, 60))} is not a time; write it as 2020-12-31T23:59:59Z`);
  }
  return day;
}

function mismatch(expression: Expression, type: SqlType): never {
  throw new FilterError(`a ${expression.kind} cannot be compared with a ${type}`);
}
