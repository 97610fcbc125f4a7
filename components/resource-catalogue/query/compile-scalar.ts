import { type Expression, FilterError, type Operator } from "./expression.ts";
import { typeOfOperand } from "./operand-types.ts";
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

export function resolve(name: string, { checkProperty }: Pick<ScalarContext, "checkProperty">): PropertySql {
  const found = toPropertySql(name);
  checkProperty?.(name);
  return found;
}

/** The type that operands are compared as, once they are checked: times are also written as texts. */
export function commonType(args: readonly Expression[], context: ScalarContext): SqlType {
  const types = args.map((arg) => typeOfOperand(arg, (name) => resolve(name, context)));
  const found = types.includes("time") ? "time" : types.find((type) => type !== "json");
  return found === undefined || found === "list" ? "json" : found;
}

/** An operand as SQL of a type. @throws {FilterError} where it has another one */
export function compileAs(expression: Expression, type: SqlType, context: ScalarContext): string {
  const { parameters } = context;
  switch (expression.kind) {
    case "property": {
      return castProperty(resolve(expression.name, context), type, expression.name);
    }
    case "string":
      if (type === "time") {
        return parameters.add(toTime(expression.value), "timestamptz");
      }
      return type === "text" ? `(${parameters.add(expression.value, "text")} collate "C")` : mismatch(expression, type);
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
    return `${op}(${compileAs(args[0] as Expression, "text", context)})`;
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
  const [left, right] = args.map((arg) => compileAs(arg, "number", context)) as [string, string];
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
