import { ScimError } from "./errors.ts";

/** A filter of SCIM (RFC 7644 §3.4.2.2). */
export type ScimFilter =
  | { readonly kind: "and" | "or"; readonly left: ScimFilter; readonly right: ScimFilter }
  | { readonly kind: "not"; readonly inner: ScimFilter }
  | { readonly kind: "present"; readonly attribute: string }
  | {
      readonly kind: "compare";
      readonly attribute: string;
      readonly operator: Operator;
      readonly value: string | number | boolean | null;
    };

const OPERATORS = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"] as const;
export type Operator = (typeof OPERATORS)[number];

const MAX_FILTER_CHARACTERS = 2000;
const MAX_DEPTH = 20;
const TOKEN = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y;

const refuse = (message: string) => new ScimError(400, `the filter cannot be read: ${message}`, "invalidFilter");

/** @throws {ScimError} 400 invalidFilter */
export function parseFilter(text: string): ScimFilter {
  if (text.length > MAX_FILTER_CHARACTERS) {
    throw refuse(`it is longer than ${MAX_FILTER_CHARACTERS} characters`);
  }
  const tokens = tokenize(text);
  let at = 0;
  const next = () => tokens[at]?.toLowerCase();
  const take = (what: string): string => {
    const token = tokens[at];
    if (token === undefined) {
      throw refuse(`it ends where ${what} belongs`);
    }
    at += 1;
    return token;
  };
  const expect = (token: string) => {
    if (take(`"${token}"`) !== token) {
      throw refuse(`"${token}" is missing`);
    }
  };
  const parseOr = (depth: number, prefix: string): ScimFilter => {
    if (depth > MAX_DEPTH) {
      throw refuse(`it is nested deeper than ${MAX_DEPTH}`);
    }
    let left = parseAnd(depth, prefix);
    while (next() === "or") {
      at += 1;
      left = { kind: "or", left, right: parseAnd(depth, prefix) };
    }
    return left;
  };
  const parseAnd = (depth: number, prefix: string): ScimFilter => {
    let left = parseTerm(depth, prefix);
    while (next() === "and") {
      at += 1;
      left = { kind: "and", left, right: parseTerm(depth, prefix) };
    }
    return left;
  };
  const parseTerm = (depth: number, prefix: string): ScimFilter => {
    if (next() === "not") {
      at += 1;
      expect("(");
      const inner = parseOr(depth + 1, prefix);
      expect(")");
      return { kind: "not", inner };
    }
    if (next() === "(") {
      at += 1;
      const inner = parseOr(depth + 1, prefix);
      expect(")");
      return inner;
    }
    const attribute = `${prefix}${readAttribute(take("an attribute"))}`;
    if (next() === "[") {
      if (prefix !== "") {
        throw refuse("a value path inside another one");
      }
      at += 1;
      const inner = parseOr(depth + 1, `${attribute}.`);
      expect("]");
      return inner;
    }
    const operator = take("an operator").toLowerCase();
    if (operator === "pr") {
      return { kind: "present", attribute };
    }
    if (!OPERATORS.includes(operator as Operator)) {
      throw refuse(`${JSON.stringify(operator)} is no operator; there are ${OPERATORS.join(", ")}, pr`);
    }
    return { kind: "compare", attribute, operator: operator as Operator, value: readValue(take("a value")) };
  };
  const filter = parseOr(0, "");
  if (at < tokens.length) {
    throw refuse(`${JSON.stringify(tokens[at])} is too much`);
  }
  return filter;
}

function tokenize(text: string): readonly string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const before = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) {
      throw refuse(`character ${before + 1} cannot stand there`);
    }
    tokens.push((match[1] ?? match[2] ?? match[3]) as string);
  }
  return tokens;
}

/** Without the name of its schema, in lower case: names of attributes have none (RFC 7643 §2.1). */
function readAttribute(token: string): string {
  const name = token.replace(/^urn:[\w:.]+:(?=[A-Za-z]\w*(?:\.\w+)?$)/i, "");
  if (!/^[A-Za-z$][\w$-]*(?:\.[A-Za-z$][\w$-]*)?$/.test(name)) {
    throw refuse(`${JSON.stringify(token.slice(0, 100))} is no name of an attribute`);
  }
  return name.toLowerCase();
}

function readValue(token: string): string | number | boolean | null {
  try {
    const value: unknown = JSON.parse(token);
    if (value === null || ["string", "number", "boolean"].includes(typeof value)) {
      return value as string | number | boolean | null;
    }
  } catch {
    // Not JSON: refused below.
  }
  throw refuse(`${JSON.stringify(token.slice(0, 100))} is no value; texts stand in double quotes`);
}
