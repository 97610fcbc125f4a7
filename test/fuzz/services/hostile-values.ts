/** Values that clients send by mistake or on purpose: wrong types, deep, long, names of prototypes, what no text may hold. */
type Random = (below: number) => number;

const TEXTS = [
  "",
  "a",
  "constructor",
  "__proto__",
  "toString",
  "a\u0000b",
  "\ud800",
  "'; drop table x; --",
  "../../../etc/passwd",
  "%00",
  "${jndi:x}",
  "2020-13-45T99:99:99Z",
  "datetime BETWEEN 'a' AND 'b'",
  "\u{1f30d}".repeat(50),
  "x".repeat(5000),
];
const NUMBERS = [0, -0, -1, 1.5, 1e308, -1e308, 2 ** 31, 2 ** 53 + 2, 2 ** 63, Number.MIN_VALUE];

export const pick = <T>(random: Random, values: readonly T[]): T => values[random(values.length)] as T;

/** A hostile text for a path or a query. */
export const hostileText = (random: Random): string =>
  random(3) === 0 ? String(pick(random, NUMBERS)) : pick(random, TEXTS);

/** Bodies that are large, up to 5 MB, or strange; they are made when they are chosen. */
const BODIES: readonly (() => string)[] = [
  () => "[".repeat(100_000),
  () => `[${"1,".repeat(200_000)}1]`,
  () => `[${"1,".repeat(2_400_000)}1]`,
  () => `{"a":"${"x".repeat(1 << 20)}"}`,
  () => `{"a":"${"\\u0041".repeat(800_000)}"}`,
  () => `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":{}`).join(",")}}`,
  () =>
    `[${Array.from({ length: 60_000 }, (_, i) => `{"type":"Feature","id":"i${i}","a":["${"y".repeat(40)}"]}`).join(",")}]`,
  () => '{"__proto__":{"a":1},"constructor":{"prototype":1}}',
  () => `{"intersects":${polygon()}}`,
  () => `{"filter":{"op":"s_intersects","args":[{"property":"geometry"},${polygon()}]},"filter-lang":"cql2-json"}`,
  () => `{"type":"Feature","id":"a","geometry":${polygon()},"properties":{"datetime":"2020-01-01T00:00:00Z"}}`,
  () => `{"inputs":{"a":[${'{"href":"https://127.0.0.1/a"},'.repeat(160_000)}1]}}`,
  () => `[${'{"op":"add","path":"/a","value":[]},{"op":"copy","from":"/a","path":"/a/-"},'.repeat(1000)}1]`,
];

/** Of 100,000 positions, about 4 MB. */
const polygon = () =>
  JSON.stringify({
    type: "Polygon",
    coordinates: [
      Array.from({ length: 100_001 }, (_, i) => {
        const angle = ((i % 100_000) / 100_000) * 2 * Math.PI;
        return [10 * Math.cos(angle), 10 * Math.sin(angle)];
      }),
    ],
  });

/** A value that has or has not to do with what the schema asks for; JSON text, because some of them are no values. */
export function hostileJson(random: Random, schema: unknown): string {
  switch (random(8)) {
    case 0:
    case 1:
      return pick(random, BODIES)();
    case 2:
      return pick(random, ["", "{", "null", '"\\ud800"', '"\\u0000"', "1e999", "[]", "{}"]);
    default:
      return JSON.stringify(fromSchema(random, schema, 0));
  }
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly unknown[];
  readonly oneOf?: readonly unknown[];
}

/** About what the schema asks for, with one of several parts wrong. */
function fromSchema(random: Random, schema: unknown, depth: number): unknown {
  const { type, properties, items, enum: values, anyOf, oneOf } = (schema ?? {}) as Schema;
  if (random(6) === 0 || depth > 6) {
    return anyValue(random, depth);
  }
  const forms = anyOf ?? oneOf;
  if (forms !== undefined && forms.length > 0) {
    return fromSchema(random, pick(random, forms), depth + 1);
  }
  if (values !== undefined && values.length > 0) {
    return pick(random, values);
  }
  switch (typeof type === "string" ? type : type?.[0]) {
    case "object":
      return Object.fromEntries(
        Object.entries(properties ?? { a: {} })
          .filter(() => random(8) > 0)
          .map(([name, inner]) => [name, fromSchema(random, inner, depth + 1)]),
      );
    case "array":
      return Array.from({ length: pick(random, [0, 1, 2, 200]) }, () => fromSchema(random, items, depth + 3));
    case "number":
    case "integer":
      return pick(random, NUMBERS);
    case "boolean":
      return random(2) === 0;
    case "string":
      return pick(random, TEXTS);
    default:
      return anyValue(random, depth);
  }
}

function anyValue(random: Random, depth: number): unknown {
  return pick<unknown>(random, [
    null,
    true,
    ...NUMBERS,
    ...TEXTS,
    [],
    {},
    [[[[]]]],
    depth > 2 ? 1 : { a: [{ b: {} }] },
  ]);
}
