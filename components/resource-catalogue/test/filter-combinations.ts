import { type Expression, OPERATORS, type Operator, call, property } from "../query/expression.ts";

const text = (value: string): Expression => ({ kind: "string", value });
const number = (value: number): Expression => ({ kind: "number", value });
const timestamp: Expression = { kind: "timestamp", value: "2024-06-01T00:00:00.000000Z" };
const date: Expression = { kind: "date", value: "2024-06-01" };
const point = { type: "Point", coordinates: [10.5, 45.5] };
const square = {
  type: "Polygon",
  coordinates: [
    [
      [10, 45],
      [12, 45],
      [12, 47],
      [10, 45],
    ],
  ],
};

/** One operand of each kind that a filter can hold. */
export const OPERANDS: Readonly<Record<string, Expression>> = {
  id: property("id"),
  collection: property("collection"),
  type: property("type"),
  geometry: property("geometry"),
  datetime: property("datetime"),
  "properties.datetime": property("properties.datetime"),
  cloud: property("eo:cloud_cover"),
  created: property("created"),
  title: property("title"),
  list: property("keywords"),
  "mixed property": property("mixed"),
  amount: property("amount"),
  flag: property("flag"),
  built: property("built"),
  missing: property("missing"),
  __proto__x: property("__proto__"),
  constructor: property("constructor"),
  text: text("a"),
  "empty text": text(""),
  "text of a time": text("2024-06-01T10:00:00Z"),
  "text of a day": text("2024-06-01"),
  "text of a number": text("10"),
  pattern: text("a%_\\%"),
  number: number(10),
  zero: number(0),
  huge: number(1e308),
  true: { kind: "boolean", value: true },
  timestamp,
  date,
  interval: { kind: "interval", start: date, end: timestamp },
  "open interval": { kind: "interval", start: undefined, end: undefined },
  "interval of properties": { kind: "interval", start: property("built"), end: property("datetime") },
  "interval of texts": { kind: "interval", start: text("a"), end: number(1) },
  point: { kind: "geometry", geometry: point },
  square: { kind: "geometry", geometry: square },
  bbox: { kind: "bbox", bbox: [9, 44, 11, 46] },
  "list of texts": { kind: "array", items: [text("a"), text("b")] },
  "list of numbers": { kind: "array", items: [number(1), number(10)] },
  "list of times": { kind: "array", items: [timestamp, date] },
  "mixed list": { kind: "array", items: [text("a"), number(1), { kind: "boolean", value: true }] },
  "empty list": { kind: "array", items: [] },
  "list of lists": { kind: "array", items: [{ kind: "array", items: [number(1)] }] },
  "list of properties": { kind: "array", items: [property("title"), property("id")] },
  sum: call("+", property("amount"), number(1)),
  power: call("^", property("amount"), property("eo:cloud_cover")),
  comparison: call("=", property("id"), text("a")),
  condition: call("and", property("flag"), { kind: "boolean", value: true }),
  casei: call("casei", property("title")),
  "casei of a text": call("casei", text("A%")),
  words: { kind: "words", query: { phrase: ["a"] } },
  "json-contains": { kind: "json-contains", name: "keywords", list: [{ a: 1 }] },
};

/** Those of which each type has one, for operators of three operands. */
const FEW = [
  "id",
  "cloud",
  "created",
  "title",
  "geometry",
  "text",
  "text of a time",
  "number",
  "true",
  "timestamp",
  "date",
];
const MORE = ["interval", "bbox", "list of texts", "sum", "comparison", "casei"];

export interface Combination {
  readonly name: string;
  readonly filter: Expression;
}

/** Every operator with every operand, pair of operands and, for a few of each type, three of them. */
export function* combineAll(): Generator<Combination> {
  const all = Object.entries(OPERANDS);
  for (const [name, operand] of all) {
    yield { name, filter: operand };
  }
  for (const op of OPERATORS) {
    yield* wrap(op, "", []);
    for (const [first, a] of all) {
      yield* wrap(op, first, [a]);
      for (const [second, b] of all) {
        yield* wrap(op, `${first}, ${second}`, [a, b]);
      }
    }
  }
  const some = [...FEW, ...MORE].map((name) => [name, OPERANDS[name] as Expression] as const);
  for (const op of ["between", "and", "="] as const) {
    for (const [first, a] of some) {
      for (const [second, b] of some) {
        for (const [third, c] of some) {
          yield* wrap(op, `${first}, ${second}, ${third}`, [a, b, c]);
        }
      }
    }
  }
}

/** The operator as a condition, and compared where it gives a value. */
function* wrap(op: Operator, names: string, args: readonly Expression[]): Generator<Combination> {
  const filter = call(op, ...args);
  const name = `${op}(${names})`;
  if (/^(?:[-+*/%^]|div|casei|accenti)$/.test(op)) {
    yield { name: `${name} = amount`, filter: call("=", filter, property("amount")) };
    return;
  }
  yield { name, filter };
}
