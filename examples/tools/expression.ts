import { ToolError } from "./errors.ts";

/** An expression as it is read: a number, the name of a band, or a function and what it is applied to. */
type Expression = number | string | readonly Expression[];

/** A number for all pixels, or one a pixel. */
type Value = number | Float64Array;

const MAX_LENGTH = 10_000;
const MAX_DEPTH = 100;

const binary: Readonly<Record<string, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "**": (left, right) => left ** right,
  "<": (left, right) => Number(left < right),
  "<=": (left, right) => Number(left <= right),
  ">": (left, right) => Number(left > right),
  ">=": (left, right) => Number(left >= right),
  "==": (left, right) => Number(left === right),
  "!=": (left, right) => Number(left !== right),
  "&": (left, right) => Number(left !== 0 && right !== 0),
  "|": (left, right) => Number(left !== 0 || right !== 0),
  min: Math.min,
  max: Math.max,
};
const unary: Readonly<Record<string, (value: number) => number>> = {
  abs: Math.abs,
  sqrt: Math.sqrt,
  log: Math.log,
  exp: Math.exp,
  "~": (value) => Number(value === 0),
};

/**
 * Reads `(/ (- nir red) (+ nir red))`, optionally named: `ndvi:(…)`.
 * @throws {ToolError} with the place of the first mistake
 */
export function parseExpression(text: string): {
  readonly name: string;
  readonly expression: Expression;
  readonly bands: readonly string[];
} {
  if (text.length > MAX_LENGTH) {
    throw new ToolError(`the expression is longer than ${MAX_LENGTH} characters`);
  }
  const [, name = "expression", body = text] = /^\s*([A-Za-z][\w-]*)\s*:\s*(.*)$/s.exec(text) ?? [];
  const tokens = [...body.matchAll(/[()]|[^\s()]+/g)];
  const bands = new Set<string>();
  let next = 0;
  const fail = (problem: string): never => {
    throw new ToolError(`the expression "${text}" ${problem}`);
  };
  const read = (depth: number): Expression => {
    const token = tokens[next]?.[0] ?? fail("ends too early; a bracket is not closed");
    next += 1;
    if (token === ")") {
      return fail(`has a bracket too many at character ${tokens[next - 1]?.index}`);
    }
    if (token !== "(") {
      const number = Number(token);
      if (!Number.isNaN(number)) {
        return number;
      }
      bands.add(token);
      return token;
    }
    if (depth >= MAX_DEPTH) {
      return fail(`is nested more than ${MAX_DEPTH} times`);
    }
    const operation = tokens[next]?.[0] ?? "";
    next += 1;
    if (!(Object.hasOwn(binary, operation) || Object.hasOwn(unary, operation) || operation === "where")) {
      fail(
        `has no known operation "${operation}"; known: ${[...Object.keys(binary), ...Object.keys(unary), "where"].join(" ")}`,
      );
    }
    const list: Expression[] = [operation];
    while (tokens[next]?.[0] !== ")") {
      list.push(read(depth + 1));
    }
    next += 1;
    const requested = operation === "where" ? 3 : Object.hasOwn(unary, operation) ? 1 : undefined;
    if (list.length < 2 || (requested !== undefined && list.length !== requested + 1)) {
      fail(`gives ${operation} ${list.length - 1} values; it takes ${requested ?? "one or more"}`);
    }
    return list;
  };
  const expression = read(0);
  if (next < tokens.length) {
    fail(`goes on after its end at character ${tokens[next]?.index}`);
  }
  return { name, expression, bands: [...bands] };
}

/** @param bands pixels of each band by its name */
export function evaluate(expression: Expression, bands: ReadonlyMap<string, Float64Array>): Value {
  if (typeof expression === "number") {
    return expression;
  }
  if (typeof expression === "string") {
    return bands.get(expression) ?? Number.NaN;
  }
  const [operation, ...operands] = expression;
  const values = operands.map((operand) => evaluate(operand, bands));
  const [first = Number.NaN, second = Number.NaN, third = Number.NaN] = values;
  const name = typeof operation === "string" ? operation : "";
  if (name === "where") {
    return combine([first, second, third], ([condition = 0, yes = 0, no = 0]) => (condition === 0 ? no : yes));
  }
  const one = unary[name];
  if (one !== undefined) {
    return combine([first], ([value = 0]) => one(value));
  }
  const two = binary[name] ?? (() => Number.NaN);
  if (values.length === 1) {
    return name === "-" ? combine([first], ([value = 0]) => -value) : first;
  }
  return values.slice(1).reduce<Value>((left, right) => combine([left, right], ([a = 0, b = 0]) => two(a, b)), first);
}

function combine(values: readonly Value[], work: (numbers: number[]) => number): Value {
  const length = values.find((value) => typeof value !== "number")?.length;
  if (length === undefined) {
    return work(values as number[]);
  }
  const numbers: number[] = Array.from({ length: values.length }, () => 0);
  const result = new Float64Array(length);
  for (let index = 0; index < length; index += 1) {
    for (const [position, value] of values.entries()) {
      numbers[position] = typeof value === "number" ? value : (value[index] ?? 0);
    }
    result[index] = work(numbers);
  }
  return result;
}
