import type { XmlElement } from "./element.ts";
import { childOf, childrenOf, descendantsOf, textOf } from "./element.ts";
import { XmlError } from "./xml-error.ts";

type Position = readonly [lon: number, lat: number];

/** Positions of one geometry at most. */
const MAX_POSITIONS = 20_000;

/** How a box or a geometry is handed on: an antimeridian box has west > east. */
export type Place =
  | { readonly bbox: readonly [number, number, number, number] }
  | { readonly geometry: { readonly type: string; readonly coordinates: unknown } };

/** Names of elements that are geometries of GML 2, 3.1 or 3.2. */
export const GEOMETRIES: ReadonlySet<string> = new Set([
  "Envelope",
  "Box",
  "Point",
  "LineString",
  "Curve",
  "LinearRing",
  "Polygon",
  "Surface",
  "MultiPoint",
  "MultiLineString",
  "MultiCurve",
  "MultiPolygon",
  "MultiSurface",
  "MultiGeometry",
]);

/**
 * A geometry of GML in degrees of longitude and latitude.
 * @throws {XmlError} saying what is wrong with it
 */
export function parseGml(element: XmlElement, outer?: Axes): Place {
  const axes = axesOf(element, outer);
  switch (element.name) {
    case "Envelope":
    case "Box":
      return { bbox: readBox(element, axes) };
    case "Point":
      return toGeometry("Point", readPositions(element, axes)[0]);
    case "LineString":
    case "Curve":
      return toGeometry("LineString", readPositions(element, axes));
    case "LinearRing":
      return toGeometry("Polygon", [readRing(element, axes)]);
    case "Polygon":
    case "Surface":
      return toGeometry("Polygon", readPolygon(element, axes));
    case "MultiPoint":
      return toGeometry(
        "MultiPoint",
        descendantsOf(element, "Point").map((point) => readPositions(point, axesOf(point, axes))[0]),
      );
    case "MultiLineString":
    case "MultiCurve":
      return toGeometry(
        "MultiLineString",
        descendantsOf(element, "LineString").map((line) => readPositions(line, axesOf(line, axes))),
      );
    case "MultiPolygon":
    case "MultiSurface":
      return toGeometry(
        "MultiPolygon",
        descendantsOf(element, "Polygon").map((polygon) => readPolygon(polygon, axesOf(polygon, axes))),
      );
    default:
      throw new XmlError(`has the geometry ${element.name}, which is not one of ${[...GEOMETRIES].join(", ")}`);
  }
}

/** Whether latitude comes first, and how many numbers a position has. */
interface Axes {
  readonly isLatitudeFirst: boolean;
  readonly dimension: number;
}

const toGeometry = (type: string, coordinates: unknown): Place => ({ geometry: { type, coordinates } });

function axesOf({ attributes }: XmlElement, outer?: Axes): Axes {
  const srs = attributes.get("srsName");
  const dimension = Number(attributes.get("srsDimension") ?? outer?.dimension ?? 2);
  return {
    isLatitudeFirst: srs === undefined || srs === "" ? (outer?.isLatitudeFirst ?? false) : isLatitudeFirst(srs),
    dimension: dimension === 3 ? 3 : 2,
  };
}

/**
 * `urn:ogc:def:crs:EPSG::4326` and `http://www.opengis.net/def/crs/EPSG/0/4326` have latitude first; `EPSG:4326` and CRS84 longitude.
 * @throws {XmlError} for other reference systems
 */
export function isLatitudeFirst(srs: string): boolean {
  if (
    /^urn:(?:x-)?ogc:def:crs:OGC:(?:[\d.]*:)?CRS84$/i.test(srs) ||
    /\/crs\/OGC\/[\d.]+\/CRS84h?$/i.test(srs) ||
    /^(?:OGC:)?CRS:?84$/i.test(srs)
  ) {
    return false;
  }
  if (
    /^urn:(?:x-)?ogc:def:crs:EPSG:[\d.]*:(?:4326|4258|4979)$/i.test(srs) ||
    /\/crs\/EPSG\/[\d.]+\/(?:4326|4258|4979)$/i.test(srs)
  ) {
    return true;
  }
  if (/^(?:EPSG:|http:\/\/www\.opengis\.net\/gml\/srs\/epsg\.xml#)(?:4326|4258|4979)$/i.test(srs)) {
    return false;
  }
  throw new XmlError(
    `has the reference system ${srs.slice(0, 80)}; use urn:ogc:def:crs:EPSG::4326 or urn:ogc:def:crs:OGC:1.3:CRS84`,
  );
}

function readBox(element: XmlElement, axes: Axes): readonly [number, number, number, number] {
  const corners = [childOf(element, "lowerCorner"), childOf(element, "upperCorner")].filter(
    (corner) => corner !== undefined,
  );
  const positions =
    corners.length === 2
      ? corners.flatMap((corner) => toPositions(numbersOf(corner), axes))
      : readPositions(element, axes);
  const [lower, upper] = positions;
  if (lower === undefined || upper === undefined || positions.length > 2) {
    throw new XmlError(`must have two corners in ${element.name}`);
  }
  return [lower[0], lower[1], upper[0], upper[1]];
}

function readPolygon(element: XmlElement, axes: Axes): Position[][] {
  const outer = [...descendantsOf(element, "exterior"), ...descendantsOf(element, "outerBoundaryIs")];
  const inner = [...descendantsOf(element, "interior"), ...descendantsOf(element, "innerBoundaryIs")];
  if (outer.length !== 1) {
    throw new XmlError(`must have one outer ring in ${element.name}`);
  }
  return [...outer, ...inner].map((ring) => readRing(ring, axes));
}

function readRing(element: XmlElement, axes: Axes): Position[] {
  const ring = readPositions(element, axes);
  const [first, last] = [ring[0], ring.at(-1)];
  if (first === undefined || last === undefined || ring.length < 4 || first[0] !== last[0] || first[1] !== last[1]) {
    throw new XmlError("must have rings of at least four positions that end where they begin");
  }
  return ring;
}

/** Positions below an element in any of the ways that GML writes them. */
function readPositions(element: XmlElement, axes: Axes): Position[] {
  const lists = descendantsOf(element, "posList");
  const single = descendantsOf(element, "pos");
  const coordinates = descendantsOf(element, "coordinates");
  const coords = descendantsOf(element, "coord");
  const positions = [
    ...lists.flatMap((list) => toPositions(numbersOf(list), axesOf(list, axes))),
    ...single.flatMap((pos) => toPositions(numbersOf(pos), axesOf(pos, axes))),
    ...coordinates.flatMap((list) =>
      (textOf(list) ?? "")
        .split(/\s+/)
        .flatMap((pair) => toPositions(toNumbers(pair.split(",")), { ...axes, dimension: pair.split(",").length })),
    ),
    ...coords.flatMap((coord) =>
      toPositions(toNumbers(["X", "Y"].map((axis) => textOf(childrenOf(coord, axis)[0]) ?? "")), {
        ...axes,
        dimension: 2,
      }),
    ),
  ];
  if (positions.length === 0 || positions.length > MAX_POSITIONS) {
    throw new XmlError(`must have 1 to ${MAX_POSITIONS} positions in ${element.name}`);
  }
  return positions;
}

const numbersOf = (element: XmlElement): number[] => toNumbers((textOf(element) ?? "").split(/\s+/));

function toNumbers(texts: readonly string[]): number[] {
  return texts.map((text) => {
    if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) {
      throw new XmlError(`has ${JSON.stringify(text.slice(0, 40))} where a coordinate is expected`);
    }
    return Number(text);
  });
}

function toPositions(numbers: readonly number[], { isLatitudeFirst: isSwapped, dimension }: Axes): Position[] {
  if (numbers.length === 0 || numbers.length % dimension !== 0) {
    throw new XmlError(`must have ${dimension} numbers for each position`);
  }
  return Array.from({ length: numbers.length / dimension }, (_, index): Position => {
    const [first, second] = numbers.slice(index * dimension, index * dimension + 2) as [number, number];
    return isSwapped ? [second, first] : [first, second];
  });
}
