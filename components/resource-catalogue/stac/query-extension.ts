import { badParameter } from "../http/errors.ts";
import { parseJson, toText } from "../http/parameters.ts";
import { type Expression, allOf, call, property } from "../query/expression.ts";
import { toPropertySql } from "../query/properties.ts";

const NUMBER = /^-?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:e[+-]?\d{1,2})?$/i;
const COMPARISONS = { eq: "=", neq: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

/** The query extension: `{"eo:cloud_cover": {"lt": 10}}`; everything must hold. */
export function parseQuery(value: unknown, isBody: boolean): Expression | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const query = isBody ? value : parseJson(toText(value, "query"), "query");
  if (typeof query !== "object" || query === null || Array.isArray(query)) {
    throw badParameter("query", 'must be an object such as {"eo:cloud_cover": {"lt": 10}}');
  }
  return allOf(
    Object.entries(query).flatMap(([name, tests]) => {
      if (typeof tests !== "object" || tests === null || Array.isArray(tests)) {
        throw badParameter("query", `must have an object of operators for ${JSON.stringify(name)}`);
      }
      return Object.entries(tests as Record<string, unknown>).map(([op, operand]) => toTest(name, op, operand));
    }),
  );
}

function toTest(name: string, op: string, operand: unknown): Expression {
  const subject = property(name);
  switch (op) {
    case "eq":
    case "neq":
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return orAsNumber(name, operand, (value) => call(COMPARISONS[op], subject, toLiteral(value)));
    case "startsWith":
      return call("like", subject, { kind: "string", value: `${escapeLike(operand)}%` });
    case "endsWith":
      return call("like", subject, { kind: "string", value: `%${escapeLike(operand)}` });
    case "contains":
      return call("like", subject, { kind: "string", value: `%${escapeLike(operand)}%` });
    case "in":
      if (!Array.isArray(operand)) {
        throw badParameter("query", "must have a list for the operator in");
      }
      return orAsNumber(name, operand, (value) =>
        call("in", subject, { kind: "array", items: (value as readonly unknown[]).map(toLiteral) }),
      );
    default:
      throw badParameter(
        "query",
        `has no operator ${JSON.stringify(op)}; it has eq, neq, lt, lte, gt, gte, startsWith, endsWith, contains, in`,
      );
  }
}

/**
 * Clients that make queries from texts (`eo:cloud_cover<10`) send numbers as texts: these stand for the number as well, in properties
 * that may hold one.
 */
function orAsNumber(name: string, operand: unknown, toCondition: (operand: unknown) => Expression): Expression {
  const { type } = toPropertySql(name);
  const operands = Array.isArray(operand) ? operand : [operand];
  if (
    !operands.every((each) => typeof each === "string" && NUMBER.test(each)) ||
    (type !== "number" && type !== "json")
  ) {
    return toCondition(operand);
  }
  const asNumber = toCondition(Array.isArray(operand) ? operands.map(Number) : Number(operand));
  return type === "number" ? asNumber : call("or", asNumber, toCondition(operand));
}

function toLiteral(value: unknown): Expression {
  switch (typeof value) {
    case "string":
      return { kind: "string", value };
    case "number":
      return { kind: "number", value };
    case "boolean":
      return { kind: "boolean", value };
    default:
      throw badParameter("query", "must compare with texts, numbers, true or false");
  }
}

function escapeLike(value: unknown): string {
  return toText(value, "query").replaceAll(/[\\%_]/g, "\\$&");
}
