import type { Token } from "./cql2-tokens.ts";
import { FilterError } from "./expression.ts";

/** A parser of tokens that has come to a geometry. */
interface Parser {
  readonly token: Token;
  readonly next: () => Token;
  readonly take: (text: string) => boolean;
  readonly isSymbol: (text: string) => boolean;
  readonly expect: (text: string) => void;
  readonly fault: (expected: string) => FilterError;
}

/** Depth of the lists of coordinates of each type: a Point has none, a MultiPolygon three. */
const TYPES: Readonly<Record<string, readonly [type: string, depth: number]>> = {
  POINT: ["Point", 0],
  LINESTRING: ["LineString", 1],
  POLYGON: ["Polygon", 2],
  MULTIPOINT: ["MultiPoint", 1],
  MULTILINESTRING: ["MultiLineString", 2],
  MULTIPOLYGON: ["MultiPolygon", 3],
};
const MAX_POSITIONS = 5000;

export const isGeometryKeyword = (word: string): boolean => word === "GEOMETRYCOLLECTION" || Object.hasOwn(TYPES, word);

/** The geometry whose keyword has just been read, as GeoJSON (WKT of OGC 06-103r4; `Z` may be left out). */
export function readGeometry(parser: Parser, keyword: string): unknown {
  parser.take("Z");
  const counter = { positions: 0 };
  if (keyword !== "GEOMETRYCOLLECTION") {
    return readSimple(parser, keyword, counter);
  }
  parser.expect("(");
  const geometries: unknown[] = [];
  do {
    const word = parser.next().text.toUpperCase();
    if (!Object.hasOwn(TYPES, word)) {
      throw new FilterError(`a GEOMETRYCOLLECTION holds ${Object.keys(TYPES).join(", ")}, not ${word.slice(0, 40)}`);
    }
    parser.take("Z");
    geometries.push(readSimple(parser, word, counter));
  } while (parser.take(","));
  parser.expect(")");
  return { type: "GeometryCollection", geometries };
}

function readSimple(parser: Parser, keyword: string, counter: { positions: number }): unknown {
  const [type, depth] = TYPES[keyword] as readonly [string, number];
  parser.expect("(");
  const coordinates =
    depth === 0 ? readPosition(parser, counter) : readLists(parser, depth, type === "MultiPoint", counter);
  parser.expect(")");
  return { type, coordinates };
}

function readLists(
  parser: Parser,
  depth: number,
  mayHaveParentheses: boolean,
  counter: { positions: number },
): unknown[] {
  const lists: unknown[] = [];
  do {
    const isNested = depth > 1 || (mayHaveParentheses && parser.isSymbol("("));
    if (!isNested) {
      lists.push(readPosition(parser, counter));
      continue;
    }
    parser.expect("(");
    lists.push(depth === 1 ? readPosition(parser, counter) : readLists(parser, depth - 1, false, counter));
    parser.expect(")");
  } while (parser.take(","));
  return lists;
}

function readPosition(parser: Parser, counter: { positions: number }): number[] {
  counter.positions += 1;
  if (counter.positions > MAX_POSITIONS) {
    throw new FilterError(`a geometry of a filter has at most ${MAX_POSITIONS} positions`);
  }
  const position: number[] = [];
  while (parser.token.type === "number" || parser.isSymbol("-") || parser.isSymbol("+")) {
    const sign = parser.take("-") ? -1 : 1;
    parser.take("+");
    const token = parser.next();
    if (token.type !== "number") {
      throw parser.fault("a number");
    }
    position.push(sign * token.value);
  }
  if (position.length < 2 || position.length > 4) {
    throw parser.fault("a position of 2 or 3 numbers");
  }
  return position;
}
