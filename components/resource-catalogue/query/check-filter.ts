import { type OperandType, describeOperand, listTypes, typeOfOperand } from "./operand-types.ts";
import {
  ARITHMETIC,
  type Expression,
  FilterError,
  MAX_EXPRESSION_DEPTH,
  MAX_FILTER_CONDITIONS,
  type Operator,
} from "./expression.ts";
import type { PropertySql } from "./properties.ts";

type Resolve = (name: string) => PropertySql;

/** What an operator takes. `json` is a property whose type only its values tell: it goes with everything that JSON can hold. */
interface Signature {
  /** Types of each operand; of all of them where there is one entry. */
  readonly operands: readonly (readonly OperandType[])[];
  /** Operands at least and at most. */
  readonly count: readonly [least: number, most: number];
  /** Operands must have one type. */
  readonly isSame?: boolean;
}

const CONDITIONS: readonly OperandType[] = ["boolean", "json"];
const SCALARS: readonly OperandType[] = ["text", "number", "boolean", "time", "json"];
const TIMES: readonly OperandType[] = ["time", "interval", "text", "json"];
const LISTS: readonly OperandType[] = ["list", "json"];
const NUMBERS: readonly OperandType[] = ["number", "json"];
const TEXTS: readonly OperandType[] = ["text", "json"];

/** Operators that are no condition of their own. */
const VALUES = new Set<Operator>(["and", "or", "not", "casei", "accenti", ...ARITHMETIC]);

const many = (operands: readonly OperandType[]): Signature => ({ operands: [operands], count: [1, Infinity] });
const exactly = (count: number, operands: readonly OperandType[], isSame = false): Signature => ({
  operands: [operands],
  count: [count, count],
  isSame,
});

interface State {
  readonly resolve: Resolve;
  conditions: number;
}

/** @throws {FilterError} naming the operand at fault and the types that it may have */
export function checkFilter(filter: Expression, resolve: Resolve): void {
  const type = check(filter, { resolve, conditions: 0 }, 0);
  if (!CONDITIONS.includes(type)) {
    throw new FilterError(`a filter must be a condition, which is true or false; ${describeOperand(filter, type)}`);
  }
}

function check(expression: Expression, state: State, depth: number): OperandType {
  if (depth > MAX_EXPRESSION_DEPTH) {
    throw new FilterError(
      `the filter has more than ${MAX_EXPRESSION_DEPTH} operators inside each other; each term of a sum counts as one`,
    );
  }
  switch (expression.kind) {
    case "call":
      checkCall(expression.op, expression.args, state, depth);
      break;
    case "array":
      for (const item of expression.items) {
        check(item, state, depth + 1);
      }
      break;
    case "interval":
      for (const end of [expression.start, expression.end]) {
        checkEnd(end, state, depth);
      }
      break;
    case "property":
    case "string":
    case "number":
    case "boolean":
    case "timestamp":
    case "date":
    case "geometry":
    case "bbox":
    case "words":
    case "json-contains":
      break;
  }
  return typeOfOperand(expression, state.resolve);
}

function checkEnd(end: Expression | undefined, state: State, depth: number): void {
  if (end === undefined) {
    return;
  }
  const type = check(end, state, depth + 1);
  if (type !== "time" && !(type === "json" && end.kind === "property")) {
    throw new FilterError(
      `INTERVAL takes dates, timestamps, '..' and properties of times as its ends; ${describeOperand(end, type)}`,
    );
  }
}

function checkCall(op: Operator, args: readonly Expression[], state: State, depth: number): void {
  countCondition(op, state);
  const { operands, count, isSame = false } = signatureOf(op);
  const [least, most] = count;
  if (args.length < least || args.length > most) {
    const wanted = least === most ? `${least} operand${least === 1 ? "" : "s"}` : `at least ${least} operand`;
    throw new FilterError(`${op} takes ${wanted}, not ${args.length}`);
  }
  const types = args.map((arg) => check(arg, state, depth + 1));
  for (const [index, type] of types.entries()) {
    const allowed = operands[Math.min(index, operands.length - 1)] ?? [];
    if (!allowed.includes(type)) {
      throw new FilterError(
        `operand ${index + 1} of ${op} must be ${listTypes(allowed)}; ${describeOperand(args[index] as Expression, type)}${hintOf(op, type)}`,
      );
    }
  }
  const [, list] = args;
  if (op === "in" && list?.kind === "array") {
    requireSameType(op, [args[0] as Expression, ...list.items], state.resolve);
  } else if (isSame) {
    requireSameType(op, args, state.resolve);
  }
}

function countCondition(op: Operator, state: State): void {
  state.conditions += VALUES.has(op) ? 0 : 1;
  if (state.conditions > MAX_FILTER_CONDITIONS) {
    throw new FilterError(
      `the filter has more than ${MAX_FILTER_CONDITIONS} conditions; compare a property with many values by IN`,
    );
  }
}

/** Of one type, where `json` may be any, and a time may also be written as a text. */
function requireSameType(op: Operator, args: readonly Expression[], resolve: Resolve): void {
  const typed = args
    .map((arg) => ({ arg, type: typeOfOperand(arg, resolve) }))
    .filter(({ arg, type }) => {
      if (!SCALARS.includes(type)) {
        throw new FilterError(`${op} compares ${listTypes(SCALARS)}; ${describeOperand(arg, type)}`);
      }
      return type !== "json";
    });
  const hasTime = typed.some(({ type }) => type === "time");
  const types = typed.map(({ arg, type }) => (hasTime && arg.kind === "string" ? "time" : type));
  const other = types.findIndex((type) => type !== types[0]);
  if (other !== -1) {
    const [first, second] = [typed[0], typed[other]] as [(typeof typed)[0], (typeof typed)[0]];
    throw new FilterError(
      `${op} compares values of one type; ${describeOperand(first.arg, first.type)} and ${describeOperand(second.arg, second.type)}`,
    );
  }
}

function signatureOf(op: Operator): Signature {
  switch (op) {
    case "and":
    case "or":
      // The standard asks for two; STAC Browser and others send one where one filter is chosen.
      return many(CONDITIONS);
    case "not":
      return exactly(1, CONDITIONS);
    case "=":
    case "<>":
    case "<":
    case ">":
    case "<=":
    case ">=":
      return exactly(2, SCALARS, true);
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
    case "div":
    case "^":
      return exactly(2, NUMBERS);
    case "between":
      return exactly(3, SCALARS, true);
    case "in":
      return { operands: [SCALARS, ["list"]], count: [2, 2] };
    case "like":
      return { operands: [TEXTS, ["text"]], count: [2, 2] };
    case "casei":
    case "accenti":
      return exactly(1, TEXTS);
    case "isNull":
      return exactly(1, [...SCALARS, "geometry"]);
    case "s_intersects":
    case "s_disjoint":
    case "s_within":
    case "s_contains":
      return exactly(2, ["geometry"]);
    case "a_equals":
    case "a_contains":
    case "a_containedBy":
    case "a_overlaps":
      return exactly(2, LISTS);
    default:
      return exactly(2, TIMES);
  }
}

function hintOf(op: Operator, type: OperandType): string {
  const isComparison = op === "=" || op === "<>" || op === "in";
  if (type === "geometry" && isComparison) {
    return "; use S_INTERSECTS";
  }
  if (type === "interval") {
    return "; use the functions T_…";
  }
  return type === "list" && isComparison ? "; use A_EQUALS or A_CONTAINS" : "";
}
