import { reach } from "./identity-of.ts";

/**
 * A condition of a decision policy of variant B: an object with one operator. `AND`, `OR`, `XOR` and `NOT` hold conditions,
 * comparisons hold attributes with values: `{ "AND": [{ "EQUAL": { "user_name": "eric" } }, { "LESS": { "age": 30 } }] }`.
 */
export type RuleNode = Readonly<Record<string, unknown>>;

export const COMBINATIONS = ["AND", "OR", "XOR", "NOT"] as const;
export const COMPARISONS = ["EQUAL", "LESS", "LESSEQUAL", "GREATER", "GREATEREQUAL"] as const;

const MAX_DEPTH = 20;
const MAX_NODES = 500;
const MAX_TEXT = 2000;

/** What is wrong with rules that somebody sent, or `undefined`. */
export function findRuleMistake(rules: unknown): string | undefined {
  let nodes = 0;
  const check = (node: unknown, depth: number): string | undefined => {
    nodes += 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH) {
      return `rules are larger than ${MAX_NODES} conditions or deeper than ${MAX_DEPTH}`;
    }
    if (!isRecord(node)) {
      return "a rule must be an object with one operator";
    }
    const entries = Object.entries(node);
    const [[operator, operand] = ["", undefined]] = entries;
    if (entries.length !== 1) {
      return `a rule must have one operator; this one has ${entries.length}`;
    }
    if (isOneOf(COMBINATIONS, operator)) {
      const list = Array.isArray(operand) ? operand : [operand];
      return list.length === 0
        ? `${operator} needs at least one rule`
        : list.map((item) => check(item, depth + 1)).find((mistake) => mistake !== undefined);
    }
    if (!isOneOf(COMPARISONS, operator)) {
      return `${JSON.stringify(operator.slice(0, 50))} is no operator; there are ${[...COMBINATIONS, ...COMPARISONS].join(", ")}`;
    }
    if (!isRecord(operand) || Object.keys(operand).length === 0) {
      return `${operator} needs an object of attributes with their values`;
    }
    return JSON.stringify(operand).length > MAX_TEXT
      ? `values of ${operator} are longer than ${MAX_TEXT} characters`
      : undefined;
  };
  if (!Array.isArray(rules) || rules.length === 0) {
    return "rules must be a list with at least one rule";
  }
  return rules.map((rule) => check(rule, 1)).find((mistake) => mistake !== undefined);
}

/**
 * Whether all of the rules hold. `undefined` when it cannot be told: an attribute that is not known, an operator that is none. Nobody
 * is let in by a condition on what is not known, whatever negations stand around it.
 */
export function evaluateRules(
  rules: readonly RuleNode[],
  attributes: Readonly<Record<string, unknown>>,
): boolean | undefined {
  return rules.length === 0 ? undefined : all(rules.map((rule) => evaluate(rule, attributes, 1)));
}

function evaluate(node: unknown, attributes: Readonly<Record<string, unknown>>, depth: number): boolean | undefined {
  if (!isRecord(node) || depth > MAX_DEPTH) {
    return undefined;
  }
  const [[operator, operand] = ["", undefined], ...others] = Object.entries(node);
  if (others.length > 0) {
    return undefined;
  }
  if (isOneOf(COMBINATIONS, operator)) {
    const list = (Array.isArray(operand) ? operand : [operand]) as readonly unknown[];
    return combineVotes(
      operator,
      list.map((item) => evaluate(item, attributes, depth + 1)),
    );
  }
  if (!isOneOf(COMPARISONS, operator) || !isRecord(operand)) {
    return undefined;
  }
  const votes = Object.entries(operand).map(([name, expected]) => compare(operator, reach(attributes, name), expected));
  return votes.length === 0 ? undefined : all(votes);
}

function combineVotes(
  operator: (typeof COMBINATIONS)[number],
  votes: readonly (boolean | undefined)[],
): boolean | undefined {
  if (votes.length === 0) {
    return undefined;
  }
  switch (operator) {
    case "AND":
      return all(votes);
    case "OR":
      return votes.includes(true) ? true : votes.includes(undefined) ? undefined : false;
    case "XOR":
      return votes.includes(undefined) ? undefined : votes.filter(Boolean).length === 1;
    default: {
      const inner = all(votes);
      return inner === undefined ? undefined : !inner;
    }
  }
}

const all = (votes: readonly (boolean | undefined)[]): boolean | undefined =>
  votes.includes(false) ? false : votes.includes(undefined) ? undefined : true;

function compare(operator: (typeof COMPARISONS)[number], actual: unknown, expected: unknown): boolean | undefined {
  if (actual === undefined || actual === null) {
    return undefined;
  }
  if (operator === "EQUAL") {
    return isEqual(actual, expected) || (Array.isArray(actual) && actual.some((item) => isEqual(item, expected)));
  }
  const [left, right] = [toComparable(actual), toComparable(expected)];
  if (left === undefined || right === undefined || typeof left !== typeof right) {
    return undefined;
  }
  switch (operator) {
    case "LESS":
      return left < right;
    case "LESSEQUAL":
      return left <= right;
    case "GREATER":
      return left > right;
    default:
      return left >= right;
  }
}

/** Numbers as numbers, also where they stand in texts; other texts as they are. */
function toComparable(value: unknown): number | string | undefined {
  if (typeof value === "number") {
    return value;
  }
  if (typeof value !== "string") {
    return undefined;
  }
  return value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
}

function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one === "object" || typeof other === "object") {
    return JSON.stringify(one) === JSON.stringify(other);
  }
  const text = (value: unknown) => (typeof value === "number" ? String(value) : value);
  return text(one) === text(other);
}

function isOneOf<T extends string>(list: readonly T[], text: string): text is T {
  return (list as readonly string[]).includes(text);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
