import { checkFilter } from "./check-filter.ts";
import { compileArrays, compileTimes } from "./compile-relations.ts";
import { type ScalarContext, commonType, compileAs, resolve } from "./compile-scalar.ts";
import { type Expression, FilterError, type Operator } from "./expression.ts";
import { type SearchedPlace, parseBbox, parseGeometry } from "./places.ts";
import { castProperty } from "./properties.ts";
import { INDEXED_LENGTH } from "./queryable-index.ts";
import { toTsQuery } from "./words.ts";

/** What compiling takes and gathers. */
export type CompileContext = Omit<ScalarContext, "compileCondition">;

/** Shapes that are tested one by one. */
const MAX_INLINE_SHAPES = 4;
const COMPARISON = new Set<string>(["=", "<>", "<", ">", "<=", ">="]);

/**
 * A filter as a condition of SQL on the record `r`, true, false or null as CQL2 §6 wants it.
 * @throws {FilterError} for operands that do not go together
 */
export function compileFilter(expression: Expression, provided: CompileContext): string {
  checkFilter(expression, (name) => resolve(name, provided));
  const context: ScalarContext = { ...provided, compileCondition: (op, args) => compileCall(op, args, context) };
  return compileCondition(expression, context);
}

function compileCondition(expression: Expression, context: ScalarContext): string {
  switch (expression.kind) {
    case "boolean":
      return expression.value ? "true" : "false";
    case "property":
      return castProperty(resolve(expression.name, context), "boolean", expression.name);
    case "words":
      return `r.words @@ ${context.parameters.add(toTsQuery(expression.query), "tsquery")}`;
    case "json-contains":
      return `${castProperty(resolve(expression.name, context), "json", expression.name)} @> ${context.parameters.add(JSON.stringify(expression.list), "jsonb")}`;
    case "call":
      return compileCall(expression.op, expression.args, context);
    case "string":
    case "number":
    case "timestamp":
    case "date":
    case "interval":
    case "geometry":
    case "bbox":
    case "array":
      throw new FilterError(`a filter must be a condition; it holds a ${expression.kind} where one is expected`);
  }
}

function compileCall(op: Operator, args: readonly Expression[], context: ScalarContext): string {
  switch (op) {
    case "and":
    case "or":
      return `(${args.map((arg) => compileCondition(arg, context)).join(op === "and" ? " and " : " or ")})`;
    case "not":
      return `(not ${compileCondition(args[0] as Expression, context)})`;
    case "isNull":
      return compileIsNull(args[0] as Expression, context);
    case "like":
      return compileLike(args, context);
    case "between": {
      const [value, low, high] = args.map((arg) => compileAs(arg, commonType(args, context), context));
      return `(${value} between ${low} and ${high})`;
    }
    case "in":
      return compileIn(args, context);
    case "s_intersects":
    case "s_disjoint":
    case "s_within":
    case "s_contains":
      return compilePlaces(op, args, context);
    default:
      if (COMPARISON.has(op)) {
        return compileComparison(op, args, context);
      }
      if (op.startsWith("t_")) {
        return compileTimes(op, args, context);
      }
      if (op.startsWith("a_")) {
        return compileArrays(op, args, context);
      }
      throw new FilterError(`a filter must be a condition; it holds ${op} where one is expected`);
  }
}

function compileComparison(op: string, args: readonly Expression[], context: ScalarContext): string {
  const type = commonType(args, context);
  const [first, second] = args as readonly [Expression, Expression];
  // A date is the whole day.
  if (second.kind === "date" || first.kind === "date") {
    return first.kind === "date"
      ? compileDay(FLIPPED.get(op) as string, second, first.value, context)
      : compileDay(op, first, (second as { value: string }).value, context);
  }
  const [left, right] = args.map((arg) => compileAs(arg, type, context)) as [string, string];
  // Two properties of unknown type compare only where they have the same one.
  if (type === "text" && op === "=") {
    return compileSameText(left, right);
  }
  return type === "json"
    ? `(case when jsonb_typeof(${left}) = jsonb_typeof(${right}) and jsonb_typeof(${left}) <> 'null' then ${left} ${op} ${right} end)`
    : `(${left} ${op} ${right})`;
}

/** Texts of documents are compared by their beginnings first, which is what the index of a declared queryable has. */
function compileSameText(left: string, right: string): string {
  const beginning = (sql: string): string => `left(${sql}, ${INDEXED_LENGTH})`;
  return left.startsWith("txt(") || right.startsWith("txt(")
    ? `(${beginning(left)} = ${beginning(right)} and ${left} = ${right})`
    : `(${left} = ${right})`;
}

const FLIPPED: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ "=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<=" }),
);

function compileDay(op: string, value: Expression, day: string, context: ScalarContext): string {
  const sql = compileAs(value, "time", context);
  const start = context.parameters.add(`${day}T00:00:00Z`, "timestamptz");
  const end = `(${start} + interval '1 day')`;
  switch (op) {
    case "=":
      return `(${sql} >= ${start} and ${sql} < ${end})`;
    case "<>":
      return `(${sql} < ${start} or ${sql} >= ${end})`;
    case "<":
      return `(${sql} < ${start})`;
    case "<=":
      return `(${sql} < ${end})`;
    case ">":
      return `(${sql} >= ${end})`;
    default:
      return `(${sql} >= ${start})`;
  }
}

function compileIsNull(value: Expression, context: ScalarContext): string {
  if (value.kind !== "property") {
    throw new FilterError("isNull takes a property");
  }
  const { sql, type } = resolve(value.name, context);
  return type === "geometry"
    ? "(r.bbox is null)"
    : type === "json"
      ? `(${sql} is null or ${sql} = 'null'::jsonb)`
      : `(${sql} is null)`;
}

function compileLike(args: readonly Expression[], context: ScalarContext): string {
  const [value, pattern] = args as readonly [Expression, Expression];
  const literal = literalOf(pattern);
  if (literal === undefined) {
    throw new FilterError("LIKE takes a text as its pattern");
  }
  if (/(?:^|[^\\])(?:\\\\)*\\$/.test(literal)) {
    throw new FilterError("the pattern of LIKE must not end with a single \\; write \\\\ for one");
  }
  const text = `${compileAs(value, "text", context)} like ${compileAs(pattern, "text", context)}`;
  const listed = arrayOf(value, context);
  if (listed === undefined) {
    return `(${text})`;
  }
  // A list of texts is like a pattern when one of them is: keywords, instruments.
  const one = listed.wrappers.reduce((sql, wrapper) => `${wrapper}(${sql})`, 'e collate "C"');
  return `(case jsonb_typeof(${listed.sql}) when 'array' then exists (select 1 from jsonb_array_elements_text(${listed.sql}) e where ${one} like ${compileAs(pattern, "text", context)}) else ${text} end)`;
}

/** A property that may hold a list, and the functions around it, innermost first. */
function arrayOf(
  value: Expression,
  context: ScalarContext,
): { readonly sql: string; readonly wrappers: readonly string[] } | undefined {
  if (value.kind === "property") {
    const { sql, type } = resolve(value.name, context);
    return type === "json" ? { sql, wrappers: [] } : undefined;
  }
  const [inner] = value.kind === "call" && (value.op === "casei" || value.op === "accenti") ? value.args : [];
  const found = inner && arrayOf(inner, context);
  return found && { sql: found.sql, wrappers: [...found.wrappers, (value as { op: string }).op] };
}

function literalOf(expression: Expression): string | undefined {
  if (expression.kind === "string") {
    return expression.value;
  }
  return expression.kind === "call" && (expression.op === "casei" || expression.op === "accenti")
    ? literalOf(expression.args[0] ?? { kind: "boolean", value: true })
    : undefined;
}

function compileIn(args: readonly Expression[], context: ScalarContext): string {
  const [value, list] = args as readonly [Expression, Expression];
  if (list.kind !== "array") {
    throw new FilterError("IN takes a list");
  }
  if (list.items.length === 0) {
    return "false";
  }
  const type = commonType([value, ...list.items], context);
  const sql = compileAs(value, type, context);
  const { items } = list;
  if (items.every((item) => item.kind === "string") && type === "text") {
    const values = items.map((item) => item.value);
    const isOne = `${sql} = any(${context.parameters.add(values, "text[]")})`;
    if (!sql.startsWith("txt(")) {
      return `(${isOne})`;
    }
    const beginnings = context.parameters.add(
      values.map((value) => Array.from(value).slice(0, INDEXED_LENGTH).join("")),
      "text[]",
    );
    return `(left(${sql}, ${INDEXED_LENGTH}) collate "C" = any(${beginnings}) and ${isOne})`;
  }
  if (items.every((item) => item.kind === "number") && type === "number") {
    return `(${sql} = any(${context.parameters.add(
      items.map((item) => item.value),
      "float8[]",
    )}))`;
  }
  return `(${sql} in (${items.map((item) => compileAs(item, type, context)).join(", ")}))`;
}

function compilePlaces(op: string, args: readonly Expression[], context: ScalarContext): string {
  const [first, second] = args as readonly [Expression, Expression];
  const isFirst = first.kind === "property";
  const [named, literal] = isFirst ? [first, second] : [second, first];
  const isPlace = literal.kind === "geometry" || literal.kind === "bbox";
  if (named.kind !== "property" || !isPlace || resolve(named.name, context).type !== "geometry") {
    throw new FilterError(`${op} takes the property geometry and a geometry`);
  }
  const place = literal.kind === "bbox" ? parseBbox(literal.bbox, "BBOX") : parseGeometry(literal.geometry);
  return compilePlace(
    isFirst ? op : op === "s_within" ? "s_contains" : op === "s_contains" ? "s_within" : op,
    place,
    context,
  );
}

/** A box as the index of places within collections has it: moved by the collection's key, so that no two collections touch. */
const toScoped = (bbox: string, collection: string): string => `(${bbox} + point(0, 1000.0::float8 * ${collection}))`;

/**
 * Where a record is: the boxes find candidates by the index, the shapes decide.
 * @param collection SQL of the key of the one collection that is searched, where its places are looked up
 */
export function compilePlace(
  op: string,
  place: SearchedPlace,
  { parameters }: Pick<ScalarContext, "parameters">,
  collection?: string,
): string {
  const shapes = parameters.add(`{${place.shapes.map((shape) => `"${shape}"`).join(",")}}`, "polygon[]");
  const boxes = place.boxes.map((bbox) => parameters.add(bbox, "box"));
  const near = boxes
    .map((bbox) =>
      collection === undefined
        ? `r.bbox && ${bbox}`
        : `${toScoped("r.bbox", "r.collection")} && ${toScoped(bbox, collection)}`,
    )
    .join(" or ");
  const heights =
    place.heights === undefined
      ? ""
      : ` and coalesce(r.low, 0) <= ${parameters.add(place.heights[1], "float8")} and coalesce(r.high, 0) >= ${parameters.add(place.heights[0], "float8")}`;
  switch (op) {
    case "s_within":
      return `((${near}) and lies_within(r.bbox, r.shapes, ${shapes}))`;
    case "s_contains":
      return `((${near}) and holds(r.bbox, r.shapes, r.holes, ${shapes}))`;
    case "s_disjoint":
      return `(not (${near}) or not ${touches()})`;
    default:
      return `((${near}) and ${touches()}${heights})`;
  }

  /** What lies inside of a searched box touches it; a single shape is tested without a call of a function. */
  function touches(): string {
    const inside = place.isBox ? boxes.map((bbox) => `r.bbox <@ ${bbox} or `).join("") : "";
    if (place.shapes.length > MAX_INLINE_SHAPES) {
      return `(${inside}touches(r.bbox, r.shapes, r.holes, ${shapes}))`;
    }
    const single = place.shapes.map((_, index) => `r.shapes[1] && (${shapes})[${index + 1}]`).join(" or ");
    return `(${inside}case when r.holes is null and cardinality(r.shapes) = 1 then ${single} else touches(r.bbox, r.shapes, r.holes, ${shapes}) end)`;
  }
}
