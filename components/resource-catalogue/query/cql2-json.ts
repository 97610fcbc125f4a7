import { parseDate, parseTimestamp } from "./cql2-literals.ts";
import {
  type Expression,
  FilterError,
  MAX_FILTER_DEPTH,
  MAX_FILTER_LENGTH,
  MAX_FILTER_NODES,
  OPERATORS,
  type Operator,
} from "./expression.ts";

const KNOWN = new Set<string>(OPERATORS);
const GEOMETRIES = new Set([
  "Point",
  "LineString",
  "Polygon",
  "MultiPoint",
  "MultiLineString",
  "MultiPolygon",
  "GeometryCollection",
]);

interface State {
  depth: number;
  nodes: number;
}

/**
 * Parses a filter in CQL2 JSON (OGC 21-065r2 §10, cql2.json), given as the JSON value or its text.
 * @throws {FilterError} naming the member at fault and what is expected there
 */
export function parseCql2Json(filter: unknown): Expression {
  return read(typeof filter === "string" ? parseJson(filter) : filter, "filter", { depth: 0, nodes: 0 });
}

function parseJson(text: string): unknown {
  if (text.length > MAX_FILTER_LENGTH) {
    throw new FilterError(`the filter has ${text.length} characters; at most ${MAX_FILTER_LENGTH} are taken`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new FilterError("the filter is not JSON; send CQL2 text with filter-lang=cql2-text");
  }
}

function read(value: unknown, path: string, state: State): Expression {
  state.nodes += 1;
  if (state.depth > MAX_FILTER_DEPTH || state.nodes > MAX_FILTER_NODES) {
    throw new FilterError(
      state.nodes > MAX_FILTER_NODES
        ? `the filter has more than ${MAX_FILTER_NODES} operands`
        : `the filter has more than ${MAX_FILTER_DEPTH} operators inside each other`,
    );
  }
  switch (typeof value) {
    case "string":
      return { kind: "string", value };
    case "number":
      return { kind: "number", value };
    case "boolean":
      return { kind: "boolean", value };
    case "object":
      break;
    default:
      throw new FilterError(`${path} must be a CQL2 expression`);
  }
  if (value === null) {
    throw new FilterError(`${path} must not be null; use the operator isNull`);
  }
  if (Array.isArray(value)) {
    return { kind: "array", items: readAll(value, path, state) };
  }
  return readObject(value as Record<string, unknown>, path, state);
}

function readAll(values: readonly unknown[], path: string, state: State): Expression[] {
  state.depth += 1;
  const all = values.map((item, index) => read(item, `${path}[${index}]`, state));
  state.depth -= 1;
  return all;
}

function readObject(value: Record<string, unknown>, path: string, state: State): Expression {
  const { op, args, property: name, date, timestamp, interval, bbox, type } = value;
  if (op !== undefined) {
    if (typeof op !== "string" || !KNOWN.has(op)) {
      throw new FilterError(
        `${path}.op, ${JSON.stringify(op)?.slice(0, 60)}, is not an operator of this catalogue; it has ${OPERATORS.join(", ")}`,
      );
    }
    if (!Array.isArray(args)) {
      throw new FilterError(`${path}.args must be a list`);
    }
    return { kind: "call", op: op as Operator, args: readAll(flattenBetween(op, args), `${path}.args`, state) };
  }
  if (name !== undefined) {
    if (typeof name !== "string" || name === "") {
      throw new FilterError(`${path}.property must be a name`);
    }
    return { kind: "property", name };
  }
  if (typeof date === "string") {
    return parseDate(date);
  }
  if (typeof timestamp === "string") {
    return parseTimestamp(timestamp);
  }
  if (interval !== undefined) {
    if (!Array.isArray(interval) || interval.length !== 2) {
      throw new FilterError(`${path}.interval must be a list of two ends`);
    }
    const [start, end] = interval.map((item, index) => readEnd(item, `${path}.interval[${index}]`, state));
    return { kind: "interval", start, end };
  }
  if (bbox !== undefined) {
    if (!Array.isArray(bbox) || !bbox.every((entry) => typeof entry === "number")) {
      throw new FilterError(`${path}.bbox must be a list of 4 or 6 numbers`);
    }
    return { kind: "bbox", bbox };
  }
  if (typeof type === "string" && GEOMETRIES.has(type)) {
    return { kind: "geometry", geometry: value };
  }
  throw new FilterError(
    `${path} must have "op" and "args", or be "property", "date", "timestamp", "interval", "bbox" or a GeoJSON geometry`,
  );
}

/** Drafts of CQL2 had the two bounds of `between` in a list of their own, and clients still send it. */
function flattenBetween(op: string, args: readonly unknown[]): readonly unknown[] {
  const [value, bounds] = args;
  return op === "between" && args.length === 2 && Array.isArray(bounds)
    ? [value, ...(bounds as readonly unknown[])]
    : args;
}

function readEnd(value: unknown, path: string, state: State): Expression | undefined {
  if (value === ".." || value === "") {
    return undefined;
  }
  if (typeof value === "string") {
    return value.length === 10 ? parseDate(value) : parseTimestamp(value);
  }
  return read(value, path, state);
}
