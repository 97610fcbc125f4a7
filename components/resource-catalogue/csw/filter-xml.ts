import { toCircle } from "../model/circle.ts";
import { parseInstant } from "../model/instant.ts";
import { cleanDate } from "../model/xml-record.ts";
import {
  type Expression,
  FilterError,
  MAX_FILTER_CONDITIONS,
  MAX_FILTER_DEPTH,
  type Operator,
  call,
  property,
} from "../query/expression.ts";
import { type XmlElement, childOf, descendantsOf, textOf } from "../xml/element.ts";
import { GEOMETRIES, parseGml } from "../xml/gml.ts";
import { NS } from "../xml/namespaces.ts";
import { XmlError } from "../xml/xml-error.ts";

const COMPARISONS: ReadonlyMap<string, Operator> = new Map(
  Object.entries<Operator>({
    PropertyIsEqualTo: "=",
    PropertyIsNotEqualTo: "<>",
    PropertyIsLessThan: "<",
    PropertyIsGreaterThan: ">",
    PropertyIsLessThanOrEqualTo: "<=",
    PropertyIsGreaterThanOrEqualTo: ">=",
  }),
);
const SPATIAL: ReadonlyMap<string, Operator> = new Map(
  Object.entries<Operator>({
    BBOX: "s_intersects",
    Intersects: "s_intersects",
    Within: "s_within",
    Contains: "s_contains",
    Disjoint: "s_disjoint",
  }),
);
const TEMPORAL: ReadonlyMap<string, Operator> = new Map(
  Object.entries<Operator>({
    After: "t_after",
    Before: "t_before",
    During: "t_during",
    TEquals: "t_equals",
    Begins: "t_starts",
    BegunBy: "t_startedBy",
    Ends: "t_finishes",
    EndedBy: "t_finishedBy",
    Meets: "t_meets",
    MetBy: "t_metBy",
    TContains: "t_contains",
    TOverlaps: "t_overlaps",
    OverlappedBy: "t_overlappedBy",
    AnyInteracts: "t_intersects",
  }),
);
const ARITHMETIC: ReadonlyMap<string, Operator> = new Map(
  Object.entries<Operator>({ Add: "+", Sub: "-", Mul: "*", Div: "/" }),
);
/** Key-value pairs may have a filter without prefixes. */
const NAMESPACES = new Set<string>([NS.ogc, NS.fes2, ""]);
const LOGICAL = new Set(["And", "Or", "Not"]);
const IDS = new Set(["FeatureId", "GmlObjectId", "ResourceId", "_Id"]);
const METRES: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({
    m: 1,
    metre: 1,
    metres: 1,
    meter: 1,
    meters: 1,
    km: 1000,
    kilometers: 1000,
    kilometres: 1000,
  }),
);

/**
 * A filter of Filter Encoding 1.1 or 2.0 (OGC 04-095, 09-026r2). Names of properties and literals are as they stand there: `toCatalogue`
 * makes them the catalogue's.
 * @throws {FilterError} naming the element at fault
 */
export function parseFilterXml(filter: XmlElement): Expression | undefined {
  if (!NAMESPACES.has(filter.namespace)) {
    throw new FilterError(
      `the Filter must be in the namespace ${NS.ogc} or ${NS.fes2}, not ${filter.namespace.slice(0, 80)}`,
    );
  }
  const state = { conditions: 0 };
  try {
    const conditions = filter.children.map((child) => readCondition(child, state, 0));
    const ids = filter.children.filter(({ name }) => IDS.has(name));
    // Several ids mean any of them; several of anything else are no filter.
    if (conditions.length > 1 && ids.length < conditions.length) {
      throw new FilterError("the Filter must hold one operator, or identifiers");
    }
    return conditions.length <= 1 ? conditions[0] : call("or", ...conditions);
  } catch (error) {
    throw error instanceof XmlError ? new FilterError(`the filter ${error.message}`) : error;
  }
}

function readCondition(element: XmlElement, state: { conditions: number }, depth: number): Expression {
  const { name, children, attributes } = element;
  state.conditions += LOGICAL.has(name) || IDS.has(name) ? 0 : 1;
  if (depth > MAX_FILTER_DEPTH) {
    throw new FilterError(`the filter has more than ${MAX_FILTER_DEPTH} operators inside each other`);
  }
  if (state.conditions > MAX_FILTER_CONDITIONS) {
    throw new FilterError(`the filter has more than ${MAX_FILTER_CONDITIONS} conditions`);
  }
  const inner = (child: XmlElement): Expression => readCondition(child, state, depth + 1);
  const comparison = COMPARISONS.get(name);
  if (comparison !== undefined) {
    const [left, right] = pair(
      element,
      children.map((child) => readValue(child, depth)),
    );
    return attributes.get("matchCase") === "false"
      ? call(comparison, call("casei", left), call("casei", right))
      : call(comparison, left, right);
  }
  const spatial = SPATIAL.get(name);
  if (spatial !== undefined) {
    return call(spatial, ...readPlaces(element));
  }
  const temporal = TEMPORAL.get(name);
  if (temporal !== undefined) {
    const [left, right] = pair(
      element,
      children.map((child) => readTime(child)),
    );
    return call(temporal, left, right);
  }
  switch (name) {
    case "And":
    case "Or":
      if (children.length === 0) {
        throw new FilterError(`${name} must hold operators`);
      }
      return children.length === 1
        ? inner(children[0] as XmlElement)
        : call(name === "And" ? "and" : "or", ...children.map(inner));
    case "Not":
      if (children.length !== 1) {
        throw new FilterError("Not must hold one operator");
      }
      return call("not", inner(children[0] as XmlElement));
    case "PropertyIsLike":
      return readLike(element);
    case "PropertyIsNull":
    case "PropertyIsNil":
      return call("isNull", readName(element));
    case "PropertyIsBetween": {
      const [low, high] = ["LowerBoundary", "UpperBoundary"].map((side) => childOf(element, side)?.children[0]);
      const subject = children[0];
      if (subject === undefined || low === undefined || high === undefined) {
        throw new FilterError("PropertyIsBetween must hold a property, a LowerBoundary and an UpperBoundary");
      }
      return call("between", readValue(subject, depth), readValue(low, depth), readValue(high, depth));
    }
    case "DWithin":
      return readDistance(element);
    default:
      if (IDS.has(name)) {
        const id = attributes.get("rid") ?? attributes.get("fid") ?? attributes.get("id");
        if (id === undefined) {
          throw new FilterError(`${name} must have the attribute rid, fid or gml:id`);
        }
        return call("=", property("dc:identifier"), { kind: "string", value: id });
      }
      throw new FilterError(
        `${name.slice(0, 60)} is not an operator of this catalogue; it has And, Or, Not, ${[...COMPARISONS.keys(), "PropertyIsLike", "PropertyIsNull", "PropertyIsBetween", ...SPATIAL.keys(), "DWithin", ...TEMPORAL.keys()].join(", ")}`,
      );
  }
}

function pair({ name }: XmlElement, operands: readonly Expression[]): readonly [Expression, Expression] {
  const [left, right] = operands;
  if (left === undefined || right === undefined || operands.length > 2) {
    throw new FilterError(`${name} takes 2 operands, not ${operands.length}`);
  }
  return [left, right];
}

function readValue(element: XmlElement, depth: number): Expression {
  if (depth > MAX_FILTER_DEPTH) {
    throw new FilterError(`the filter has more than ${MAX_FILTER_DEPTH} operators inside each other`);
  }
  const op = ARITHMETIC.get(element.name);
  if (op !== undefined) {
    return call(
      op,
      ...pair(
        element,
        element.children.map((child) => readValue(child, depth + 1)),
      ),
    );
  }
  switch (element.name) {
    case "PropertyName":
    case "ValueReference":
      return toProperty(element);
    case "Literal":
      return {
        kind: "string",
        value:
          element.children.length === 0
            ? element.text.trim()
            : (textOf(descendantsOf(element, "timePosition")[0]) ?? ""),
      };
    default:
      throw new FilterError(
        `${element.name.slice(0, 60)} is not a value of this catalogue; it has PropertyName, ValueReference, Literal, Add, Sub, Mul and Div`,
      );
  }
}

function toProperty(element: XmlElement): Expression {
  const name = textOf(element);
  if (name === undefined) {
    throw new FilterError(`${element.name} must name a property`);
  }
  return property(name);
}

function readName(element: XmlElement): Expression {
  const named = childOf(element, "PropertyName") ?? childOf(element, "ValueReference");
  if (named === undefined) {
    throw new FilterError(`${element.name} must hold a PropertyName or ValueReference`);
  }
  return toProperty(named);
}

/** A pattern with wild cards of its own becomes one with `%`, `_` and `\`. */
function readLike(element: XmlElement): Expression {
  const { attributes } = element;
  const literal = childOf(element, "Literal");
  if (literal === undefined) {
    throw new FilterError("PropertyIsLike must hold a Literal");
  }
  const pattern = toLikePattern(literal.text.trim(), {
    wild: attributes.get("wildCard") ?? "%",
    single: attributes.get("singleChar") ?? "_",
    escape: attributes.get("escapeChar") ?? attributes.get("escape") ?? "\\",
  });
  const value: Expression = { kind: "string", value: pattern };
  const name = readName(element);
  return attributes.get("matchCase") === "false"
    ? call("like", call("casei", name), call("casei", value))
    : call("like", name, value);
}

export function toLikePattern(
  text: string,
  { wild, single, escape }: { readonly wild: string; readonly single: string; readonly escape: string },
): string {
  let pattern = "";
  for (let at = 0; at < text.length;) {
    if (escape !== "" && text.startsWith(escape, at) && at + escape.length < text.length) {
      at += escape.length;
      pattern += quote(text.charAt(at));
      at += 1;
    } else if (wild !== "" && text.startsWith(wild, at)) {
      pattern += "%";
      at += wild.length;
    } else if (single !== "" && text.startsWith(single, at)) {
      pattern += "_";
      at += single.length;
    } else {
      pattern += quote(text.charAt(at));
      at += 1;
    }
  }
  return pattern;
}

const quote = (character: string): string => (/[\\%_]/.test(character) ? `\\${character}` : character);

/** The property, which BBOX may leave out, and the geometry, in their order. */
function readPlaces(element: XmlElement): readonly [Expression, Expression] {
  const operands = element.children.flatMap((child): Expression[] => {
    if (child.name === "PropertyName" || child.name === "ValueReference") {
      return [toProperty(child)];
    }
    return GEOMETRIES.has(child.name) ? [toPlace(child)] : [];
  });
  const [first, second] = operands.length === 1 ? [property("ows:BoundingBox"), ...operands] : operands;
  if (first === undefined || second === undefined) {
    throw new FilterError(`${element.name} must hold a property and a geometry of GML`);
  }
  return [first, second];
}

function toPlace(element: XmlElement): Expression {
  // OGC 07-006 names no default; pycsw has latitude first where no reference system is named, and its clients send that.
  const place = parseGml(element, { isLatitudeFirst: true, dimension: 2 });
  if ("bbox" in place && !element.attributes.get("srsName")) {
    // OWSLib's BBox has longitude first all the same: numbers that are no latitudes tell.
    const [west, south, east, north] = place.bbox;
    const isSwapped = Math.max(Math.abs(south), Math.abs(north)) > 90;
    return { kind: "bbox", bbox: isSwapped ? [south, west, north, east] : place.bbox };
  }
  return "bbox" in place ? { kind: "bbox", bbox: place.bbox } : { kind: "geometry", geometry: place.geometry };
}

function readDistance(element: XmlElement): Expression {
  const [name, place] = readPlaces(element);
  const distance = childOf(element, "Distance");
  const unit = METRES.get((distance?.attributes.get("units") ?? distance?.attributes.get("uom") ?? "m").toLowerCase());
  const { type, coordinates } = (place.kind === "geometry" ? place.geometry : {}) as {
    type?: string;
    coordinates?: readonly [number, number];
  };
  const circle =
    type === "Point" && coordinates && unit !== undefined
      ? toCircle(coordinates[0], coordinates[1], Number(textOf(distance)) * unit)
      : undefined;
  if (circle === undefined) {
    throw new FilterError("DWithin takes a Point and a Distance in m or km, at most 20,000 km");
  }
  return call("s_intersects", name, { kind: "geometry", geometry: circle });
}

/** An operand of a temporal operator: a property, an instant or a period. */
function readTime(element: XmlElement): Expression {
  const at = (name: string, isEnd: boolean): string | undefined =>
    cleanDate(textOf(descendantsOf(element, name)[0]), isEnd);
  switch (element.name) {
    case "PropertyName":
    case "ValueReference":
      return toProperty(element);
    case "TimePeriod": {
      const [start, end] = [at("beginPosition", false) ?? at("timePosition", false), at("endPosition", true)];
      return { kind: "interval", start: toInstant(start), end: toInstant(end) };
    }
    default: {
      const instant = toInstant(cleanDate(textOf(element) ?? textOf(descendantsOf(element, "timePosition")[0])));
      if (instant === undefined) {
        throw new FilterError(
          `${element.name.slice(0, 60)} is not a time; write it as gml:TimeInstant or gml:TimePeriod`,
        );
      }
      return instant;
    }
  }
}

/** A date or a timestamp in the form of `cleanDate`. */
export function toInstant(text: string | undefined): Expression | undefined {
  if (text === undefined || text.length === 10) {
    return text === undefined ? undefined : { kind: "date", value: text };
  }
  const value = parseInstant(text);
  return value === undefined ? undefined : { kind: "timestamp", value };
}
