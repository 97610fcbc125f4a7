import { cleanDate } from "../model/xml-record.ts";
import { wordsOf } from "../model/words.ts";
import {
  type Expression,
  FilterError,
  type Operator,
  type WordQuery,
  allOf,
  call,
  property,
} from "../query/expression.ts";
import { toInstant } from "./filter-xml.ts";
import { type Queryable, findQueryable } from "./queryables.ts";

const COMPARISONS = new Set<Operator>(["=", "<>", "<", ">", "<=", ">="]);
const FLIPPED: ReadonlyMap<string, Operator> = new Map(
  Object.entries<Operator>({
    "=": "=",
    "<>": "<>",
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
  }),
);

/**
 * A filter of CSW as one of the catalogue: names of queryables become properties, literals get the type of what they are compared with.
 * @throws {OwsError | FilterError} naming the property or the literal at fault
 */
export const toCatalogue = (expression: Expression): Expression => translate(expression, false);

/** @param isInNot whether a `not` is around the expression: spatial operators are false there, not null, for records without a place */
function translate(expression: Expression, isInNot: boolean): Expression {
  if (expression.kind === "property") {
    return property(nameOf(findQueryable(expression.name)));
  }
  if (expression.kind !== "call") {
    return expression;
  }
  const { op, args } = expression;
  if (op === "and" || op === "or" || op === "not") {
    return call(op, ...args.map((arg) => translate(arg, isInNot || op === "not")));
  }
  if (COMPARISONS.has(op)) {
    return toComparison(op, args);
  }
  if (op === "like") {
    return toLike(args);
  }
  if (op === "between") {
    const [subject, low, high] = args as readonly [Expression, Expression, Expression];
    return call("and", toComparison(">=", [subject, low]), toComparison("<=", [subject, high]));
  }
  if (op === "in") {
    const [subject, list] = args as readonly [Expression, Expression];
    const items = list.kind === "array" ? list.items : [];
    return items.length === 0
      ? { kind: "boolean", value: false }
      : items.length === 1
        ? toComparison("=", [subject, items[0] as Expression])
        : call("or", ...items.map((item) => toComparison("=", [subject, item])));
  }
  if (op === "isNull") {
    return toIsNull(args[0] as Expression);
  }
  if (op === "t_during") {
    return toDuring(args);
  }
  const translated = call(op, ...args.map((arg) => toOperand(op, arg)));
  return isInNot && op.startsWith("s_")
    ? call("and", call("not", call("isNull", property("geometry"))), translated)
    : translated;
}

/** The property that a queryable is. */
function nameOf(queryable: Queryable): string {
  switch (queryable.kind) {
    case "place":
      return "geometry";
    case "begin":
    case "end":
      return "datetime";
    case "relation":
      return "collection";
    case "words":
      throw new FilterError("AnyText takes PropertyIsLike and PropertyIsEqualTo only");
    default:
      return queryable.property;
  }
}

function toOperand(op: Operator, arg: Expression): Expression {
  return op.startsWith("s_") && arg.kind === "property" && findQueryable(arg.name).kind !== "place"
    ? fail(`${arg.name.slice(0, 80)} is no place; use ows:BoundingBox`)
    : toCatalogue(arg);
}

const fail = (message: string): never => {
  throw new FilterError(message);
};

function toComparison(op: Operator, args: readonly Expression[]): Expression {
  const [left, right] = args as readonly [Expression, Expression];
  const [first, second] = [unwrap(left), unwrap(right)];
  if (first.kind !== "property") {
    return second.kind === "property"
      ? toComparison(FLIPPED.get(op) as Operator, [right, left])
      : call(op, toNumeric(left), toNumeric(right));
  }
  const queryable = findQueryable(first.name);
  const isFolded = first !== left;
  const fold = (value: Expression): Expression => (isFolded ? call("casei", value) : value);
  if (second.kind === "call" || second.kind === "property") {
    return call(
      op,
      fold(property(nameOf(queryable))),
      second.kind === "property" ? fold(property(nameOf(findQueryable(second.name)))) : toNumeric(second),
    );
  }
  switch (queryable.kind) {
    case "words":
      return toWords(op, textOf(second));
    case "place":
      throw new FilterError("ows:BoundingBox takes spatial operators only");
    case "text": {
      const value = fold({ kind: "string", value: textOf(second) });
      const test = call(op, fold(property(queryable.property)), value);
      return queryable.fallback === undefined
        ? test
        : call(
            "or",
            test,
            call(
              "and",
              call("isNull", property(queryable.property)),
              call(op, fold(property(queryable.fallback)), value),
            ),
          );
    }
    case "list":
      return toListTest(op, queryable.property, textOf(second), isFolded);
    case "relation": {
      const value = textOf(second);
      const tests = RELATIONS.map((name) => toListTest(op, name, value, isFolded));
      return op === "<>" ? call("and", ...tests.map(orMissing)) : call("or", ...tests);
    }
    case "number":
      return call(op, property(queryable.property), toNumber(second));
    case "any":
      return toAnyTest(op, queryable.property, second, isFolded);
    case "time":
      return call(op, property(queryable.property), toTime(second));
    case "begin":
      return call(op, property("datetime"), toTime(second));
    case "end":
      return toEndTest(op, toTime(second));
  }
}

/** Without the functions that fold case and marks. */
const unwrap = (expression: Expression): Expression =>
  expression.kind === "call" && (expression.op === "casei" || expression.op === "accenti")
    ? unwrap(expression.args[0] as Expression)
    : expression;

function textOf(literal: Expression): string {
  switch (literal.kind) {
    case "string":
    case "date":
    case "timestamp":
      return literal.value;
    case "number":
    case "boolean":
      return String(literal.value);
    default:
      throw new FilterError(`a ${literal.kind} cannot be compared with a text`);
  }
}

function toNumber(literal: Expression): Expression {
  const text = textOf(literal);
  return isNumber(text)
    ? { kind: "number", value: Number(text) }
    : fail(`${JSON.stringify(text.slice(0, 60))} is not a number`);
}

const isNumber = (text: string): boolean => /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text.trim());

/** Arithmetic: literals of XML are numbers there. */
function toNumeric(expression: Expression): Expression {
  return expression.kind === "call"
    ? call(expression.op, ...expression.args.map(toNumeric))
    : expression.kind === "property"
      ? toCatalogue(expression)
      : expression.kind === "string"
        ? toNumber(expression)
        : expression;
}

function toTime(literal: Expression): Expression {
  if (literal.kind === "date" || literal.kind === "timestamp") {
    return literal;
  }
  const text = textOf(literal);
  return (
    toInstant(cleanDate(text)) ??
    fail(`${JSON.stringify(text.slice(0, 60))} is not a time; write it as 2020-12-31 or 2020-12-31T23:59:59Z`)
  );
}

function toListTest(op: Operator, name: string, value: string, isFolded: boolean): Expression {
  const pattern: Expression = { kind: "string", value: value.replaceAll(/[\\%_]/g, "\\$&") };
  const test = isFolded
    ? call("like", call("casei", property(name)), call("casei", pattern))
    : call("like", property(name), pattern);
  switch (op) {
    case "=":
      return test;
    case "<>":
      return call("not", test);
    default:
      return call(op, property(name), { kind: "string", value });
  }
}

/** Literals of XML have no type: `10` is the number and the text. */
function toAnyTest(op: Operator, name: string, literal: Expression, isFolded: boolean): Expression {
  if (literal.kind !== "string" || isFolded) {
    return call(
      op,
      isFolded ? call("casei", property(name)) : property(name),
      isFolded ? call("casei", literal) : literal,
    );
  }
  const { value } = literal;
  const asText = op === "=" || op === "<>" ? toListTest(op, name, value, false) : call(op, property(name), literal);
  const instant = toInstant(cleanDate(value));
  if (isNumber(value)) {
    const asNumber = call(op, property(name), { kind: "number", value: Number(value) });
    return op === "=" ? call("or", asNumber, asText) : asNumber;
  }
  if (value === "true" || value === "false") {
    return call(
      op === "=" ? "or" : "and",
      call(op, property(name), { kind: "boolean", value: value === "true" }),
      asText,
    );
  }
  return instant === undefined || instant.kind === "date" ? asText : call(op, property(name), instant);
}

/** Filter Encoding has instants during periods too. Days of a period count whole. */
function toDuring([left, right]: readonly Expression[]): Expression {
  if (left?.kind !== "property" || right?.kind !== "interval") {
    throw new FilterError("During takes a property and a gml:TimePeriod");
  }
  const subject = toCatalogue(left);
  const { start, end } = right;
  const whole = (time: Expression, clock: string): Expression =>
    time.kind === "date" ? { kind: "timestamp", value: `${time.value}T${clock}Z` } : time;
  const tests = [
    start && call("t_after", subject, whole(start, "00:00:00.000000")),
    end && call("t_before", subject, whole(end, "23:59:59.999999")),
  ];
  return allOf(tests) ?? fail("a period must have a beginning or an end");
}

/** When a record's time ends. */
function toEndTest(op: Operator, time: Expression): Expression {
  const isBefore = call("t_before", property("datetime"), time);
  const isAfter = call(
    "not",
    call("or", isBefore, call("t_intersects", property("datetime"), { kind: "interval", start: undefined, end: time })),
  );
  switch (op) {
    case "<":
      return isBefore;
    case ">=":
      return call("not", isBefore);
    case ">":
      return isAfter;
    case "<=":
      return call("or", isBefore, call("t_intersects", property("datetime"), time));
    case "=":
      return call("t_intersects", property("datetime"), time);
    default:
      return call("not", call("t_intersects", property("datetime"), time));
  }
}

function toLike([left, right]: readonly Expression[]): Expression {
  const subject = unwrap(left as Expression);
  const pattern = unwrap(right as Expression);
  if (subject.kind !== "property" || pattern.kind !== "string") {
    throw new FilterError("LIKE takes a property and a pattern");
  }
  const queryable = findQueryable(subject.name);
  const rewrap = (name: string): Expression => replaceInner(left as Expression, property(name));
  switch (queryable.kind) {
    case "words":
      return toWords("like", pattern.value);
    case "text":
      return queryable.fallback === undefined
        ? call("like", rewrap(queryable.property), right as Expression)
        : call(
            "or",
            call("like", rewrap(queryable.property), right as Expression),
            call(
              "and",
              call("isNull", property(queryable.property)),
              call("like", rewrap(queryable.fallback), right as Expression),
            ),
          );
    case "list":
    case "any":
      return call("like", rewrap(queryable.property), right as Expression);
    case "relation":
      return call("or", ...RELATIONS.map((name) => call("like", rewrap(name), right as Expression)));
    default:
      throw new FilterError(`${subject.name.slice(0, 80)} is no text; LIKE does not compare it`);
  }
}

/** Where dc:relation of a record comes from. */
const RELATIONS = ["relation", "collection"] as const;

/** `<>` of a property that is not there is true. */
const orMissing = (test: Expression, index: number): Expression =>
  call("or", call("isNull", property(RELATIONS[index] as string)), test);

function replaceInner(expression: Expression, inner: Expression): Expression {
  return expression.kind === "call"
    ? call(expression.op, replaceInner(expression.args[0] as Expression, inner))
    : inner;
}

/** AnyText: whole words, and words that begin as the pattern ends; words between wild cards may stand anywhere. */
function toWords(op: Operator, pattern: string): Expression {
  const isLike = op === "like";
  if (!isLike && op !== "=" && op !== "<>") {
    throw new FilterError("AnyText takes PropertyIsLike and PropertyIsEqualTo only");
  }
  const fragments = isLike ? pattern.split(/(?<!\\)[%_]/) : [pattern];
  const phrases = fragments.flatMap((fragment, index): WordQuery[] => {
    const phrase = wordsOf(fragment.replaceAll(/\\([\\%_])/g, "$1"));
    return phrase.length === 0 ? [] : [{ phrase, isPrefix: isLike && index < fragments.length - 1 }];
  });
  if (phrases.length === 0) {
    return { kind: "boolean", value: isLike };
  }
  const words: Expression = { kind: "words", query: { all: phrases } };
  return op === "<>" ? call("not", words) : words;
}

function toIsNull(subject: Expression): Expression {
  if (subject.kind !== "property") {
    throw new FilterError("PropertyIsNull takes a property");
  }
  const queryable = findQueryable(subject.name);
  // Every record has words, and a title: its identifier where it says none.
  return queryable.kind === "words" || (queryable.kind === "text" && queryable.fallback !== undefined)
    ? { kind: "boolean", value: false }
    : call("isNull", property(nameOf(queryable)));
}
