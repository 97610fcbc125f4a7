import { type ScalarContext, compileAs } from "./compile-scalar.ts";
import { type Expression, FilterError } from "./expression.ts";
import { toPropertySql } from "./properties.ts";

/** A time as two ends in SQL; the same one twice for an instant. */
interface Ends {
  readonly start: string;
  readonly end: string;
  readonly isInstant: boolean;
}

/** Relations of two closed intervals (OGC 21-065r2 §7.5). `a` and `b` are the operands. */
const RELATIONS: ReadonlyMap<string, (a: Ends, b: Ends) => string> = new Map(
  Object.entries<(a: Ends, b: Ends) => string>({
    t_after: (a, b) => `${a.start} > ${b.end}`,
    t_before: (a, b) => `${a.end} < ${b.start}`,
    t_contains: (a, b) => `${a.start} < ${b.start} and ${a.end} > ${b.end}`,
    t_disjoint: (a, b) => `not (${a.start} <= ${b.end} and ${a.end} >= ${b.start})`,
    t_during: (a, b) => `${a.start} > ${b.start} and ${a.end} < ${b.end}`,
    t_equals: (a, b) => `${a.start} = ${b.start} and ${a.end} = ${b.end}`,
    t_finishedBy: (a, b) => `${a.start} < ${b.start} and ${a.end} = ${b.end}`,
    t_finishes: (a, b) => `${a.start} > ${b.start} and ${a.end} = ${b.end}`,
    t_intersects: (a, b) => `${a.start} <= ${b.end} and ${a.end} >= ${b.start}`,
    t_meets: (a, b) => `${a.end} = ${b.start}`,
    t_metBy: (a, b) => `${a.start} = ${b.end}`,
    t_overlappedBy: (a, b) => `${a.start} > ${b.start} and ${a.start} < ${b.end} and ${a.end} > ${b.end}`,
    t_overlaps: (a, b) => `${a.start} < ${b.start} and ${a.end} > ${b.start} and ${a.end} < ${b.end}`,
    t_startedBy: (a, b) => `${a.start} = ${b.start} and ${a.end} > ${b.end}`,
    t_starts: (a, b) => `${a.start} = ${b.start} and ${a.end} < ${b.end}`,
  }),
);
const FOR_INSTANTS = new Set(["t_after", "t_before", "t_disjoint", "t_equals", "t_intersects"]);

/** A temporal function. @throws {FilterError} for instants where it takes intervals only */
export function compileTimes(op: string, args: readonly Expression[], context: ScalarContext): string {
  const [a, b] = args.map((arg) => toEnds(arg, context)) as [Ends, Ends];
  if ((a.isInstant || b.isInstant) && !FOR_INSTANTS.has(op)) {
    throw new FilterError(`${op} takes two intervals; only ${[...FOR_INSTANTS].join(", ")} take instants as well`);
  }
  return `(${(RELATIONS.get(op) as (a: Ends, b: Ends) => string)(a, b)})`;
}

function toEnds(expression: Expression, context: ScalarContext): Ends {
  const time = (value: Expression) => () => compileAs(value, "time", context);
  if (expression.kind === "interval") {
    const { start, end } = expression;
    return lazyEnds(
      start === undefined ? () => "'-infinity'::timestamptz" : time(start),
      end === undefined
        ? () => "'infinity'::timestamptz"
        : end.kind === "date"
          ? () => endOfDay(end.value, context)
          : time(end),
      false,
    );
  }
  if (expression.kind === "date") {
    return lazyEnds(time(expression), () => endOfDay(expression.value, context), true);
  }
  if (expression.kind === "property" && toPropertySql(expression.name).sql === toPropertySql("datetime").sql) {
    // The record's time may be an interval itself.
    return { start: "lower(r.span)", end: "upper(r.span)", isInstant: true };
  }
  const sql = compileAs(expression, "time", context);
  return { start: sql, end: sql, isInstant: true };
}

/** Ends whose parameters are added when a relation reads them: PostgreSQL refuses a parameter that the statement does not use. */
function lazyEnds(toStart: () => string, toEnd: () => string, isInstant: boolean): Ends {
  let start: string | undefined;
  let end: string | undefined;
  return {
    get start() {
      start ??= toStart();
      return start;
    },
    get end() {
      end ??= toEnd();
      return end;
    },
    isInstant,
  };
}

function endOfDay(day: string, { parameters }: ScalarContext): string {
  return parameters.add(`${day}T23:59:59.999999Z`, "timestamptz");
}

/** A function of arrays, which are sets: order and repetition say nothing. */
export function compileArrays(op: string, args: readonly Expression[], context: ScalarContext): string {
  const [a, b] = args.map((arg) => toJsonArray(arg, context)) as [string, string];
  const areArrays = `jsonb_typeof(${a}) = 'array' and jsonb_typeof(${b}) = 'array'`;
  const test: Readonly<Record<string, string>> = {
    a_equals: `${a} @> ${b} and ${b} @> ${a}`,
    a_contains: `${a} @> ${b}`,
    a_containedBy: `${b} @> ${a}`,
    a_overlaps: `exists (select 1 from jsonb_array_elements(${a}) x where ${b} @> jsonb_build_array(x))`,
  };
  return `(case when ${areArrays} then ${test[op]} end)`;
}

function toJsonArray(expression: Expression, context: ScalarContext): string {
  if (expression.kind === "property") {
    return compileAs(expression, "json", context);
  }
  if (expression.kind !== "array") {
    throw new FilterError("functions of arrays take properties and lists");
  }
  return context.parameters.add(JSON.stringify(expression.items.map(toJsonItem)), "jsonb");
}

/** JSON has no times: they are compared in the shortest form of RFC 3339 in UTC, `2012-08-10T05:30:00Z`. */
function toJsonItem(item: Expression): string | number | boolean {
  switch (item.kind) {
    case "string":
    case "number":
    case "boolean":
    case "date":
      return item.value;
    case "timestamp":
      return item.value.replace(/\.?0*Z$/, "Z");
    default:
      throw new FilterError("a list holds texts, numbers, times and true or false");
  }
}
