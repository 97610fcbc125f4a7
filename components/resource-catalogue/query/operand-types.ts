import type { Expression } from "./expression.ts";
import type { PropertySql, SqlType } from "./properties.ts";

/** `json`: a property whose type only its values tell. */
export type OperandType = SqlType | "list";

const ARITHMETIC = new Set<string>(["+", "-", "*", "/", "%", "div", "^"]);
const TEXT_FUNCTIONS = new Set<string>(["casei", "accenti"]);
const NAMES: Readonly<Record<OperandType, string>> = {
  text: "a text",
  number: "a number",
  boolean: "true, false or a condition",
  time: "a time",
  interval: "an interval",
  geometry: "a geometry",
  list: "a list",
  json: "a property of that type",
};
const MAX_SHOWN = 60;

export function typeOfOperand(expression: Expression, resolve: (name: string) => PropertySql): OperandType {
  switch (expression.kind) {
    case "string":
      return "text";
    case "timestamp":
    case "date":
      return "time";
    case "bbox":
      return "geometry";
    case "array":
      return "list";
    case "words":
    case "json-contains":
      return "boolean";
    case "property":
      return resolve(expression.name).type;
    case "call":
      return ARITHMETIC.has(expression.op) ? "number" : TEXT_FUNCTIONS.has(expression.op) ? "text" : "boolean";
    case "number":
    case "boolean":
    case "interval":
    case "geometry":
      return expression.kind;
  }
}

/** `a number, a time or a property of that type` */
export function listTypes(types: readonly OperandType[]): string {
  const names = types.map((type) => NAMES[type]);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** What an operand is, as a sentence: `the property id is a text` */
export function describeOperand(expression: Expression, type: OperandType): string {
  const isWhat =
    type === "json" ? "is a property of any type" : `is ${type === "boolean" ? "true or false" : NAMES[type]}`;
  switch (expression.kind) {
    case "property":
      return `the property ${shorten(expression.name)} ${isWhat}`;
    case "string":
      return `'${shorten(expression.value)}' ${isWhat}`;
    case "number":
    case "boolean":
    case "timestamp":
    case "date":
      return `${String(expression.value)} ${isWhat}`;
    case "call":
      return `what ${expression.op} gives ${isWhat}`;
    case "geometry":
    case "bbox":
      return "it is a geometry";
    case "interval":
      return "it is an interval";
    case "array":
      return "it is a list";
    case "words":
    case "json-contains":
      return "it is a condition";
  }
}

const shorten = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
