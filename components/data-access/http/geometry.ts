import { type Bbox, type Clip, type Crs, boundsOfClip, parseCrs } from "@swath/raster";
import { Problem } from "@swath/service";

type Point = readonly [x: number, y: number];

const MAX_FEATURES = 100;
const MAX_TEXT = 200_000;

/** What GeoJSON calls an area: a polygon, several, or a feature of one. @throws {Problem} 400 */
export function parseArea(value: unknown, crs: Crs = parseCrs("OGC:CRS84")): Clip {
  const { type, coordinates, geometry } = (typeof value === "object" && value !== null ? value : {}) as {
    type?: unknown;
    coordinates?: unknown;
    geometry?: unknown;
  };
  if (type === "Feature") {
    return parseArea(geometry, crs);
  }
  if (type === "Polygon") {
    return { crs, rings: toRings(coordinates) };
  }
  if (type === "MultiPolygon" && Array.isArray(coordinates)) {
    return { crs, rings: coordinates.flatMap(toRings) };
  }
  throw new Problem(400, "The body must be a GeoJSON Feature, Polygon or MultiPolygon.");
}

/** Features of a body: of a collection, or the one that it is. @throws {Problem} 400 */
export function parseFeatures(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  const { type, features } = (typeof value === "object" && value !== null ? value : {}) as {
    type?: unknown;
    features?: unknown;
  };
  const list: unknown[] = type === "FeatureCollection" && Array.isArray(features) ? features : [value];
  if (list.length > MAX_FEATURES) {
    throw new Problem(400, `A request may have up to ${MAX_FEATURES} features.`);
  }
  return list.map((each) => {
    if (typeof each !== "object" || each === null || (each as { type?: unknown }).type !== "Feature") {
      throw new Problem(400, "The body must be a GeoJSON Feature or FeatureCollection.");
    }
    return each as Readonly<Record<string, unknown>>;
  });
}

export function boundsOf(area: Clip, crs: Crs): Bbox {
  const bounds = boundsOfClip(area, crs);
  if (bounds === undefined || bounds[0] >= bounds[2] || bounds[1] >= bounds[3]) {
    throw new Problem(400, "The area is empty, or cannot be shown in this coordinate reference system.");
  }
  return bounds;
}

export interface WktGeometry {
  readonly type: "POINT" | "MULTIPOINT" | "LINESTRING" | "POLYGON" | "MULTIPOLYGON";
  /** Rings of polygons; one list of points of anything else. */
  readonly parts: readonly (readonly Point[])[];
}

/** `coords` of EDR: well-known text, of which heights and measures are left aside. @throws {Problem} 400 */
export function parseWkt(text: string): WktGeometry {
  const [, type = "", body = ""] =
    /^\s*(POINT|MULTIPOINT|LINESTRING|POLYGON|MULTIPOLYGON)\s*(?:Z|M|ZM)?\s*(\(.*\))\s*$/is.exec(text) ?? [];
  if (type === "" || text.length > MAX_TEXT) {
    throw new Problem(400, "coords must be well-known text: a POINT, MULTIPOINT, LINESTRING, POLYGON or MULTIPOLYGON.");
  }
  const name = type.toUpperCase() as WktGeometry["type"];
  const lists = name === "MULTIPOINT" ? [body.replaceAll(/[()]/g, " ")] : body.split(/\)\s*,\s*\(/);
  return { type: name, parts: lists.map((list) => toPoints(list.replaceAll(/[()]/g, " "))) };
}

function toPoints(list: string): readonly Point[] {
  return list.split(",").map((pair): Point => {
    const [x = Number.NaN, y = Number.NaN] = pair.trim().split(/\s+/).map(Number);
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      throw new Problem(400, "coords must hold points of two numbers, with a blank between them.");
    }
    return [x, y];
  });
}

function toRings(value: unknown): Clip["rings"] {
  if (!Array.isArray(value)) {
    throw new Problem(400, "The coordinates of a polygon must be lists of points.");
  }
  return value.map((ring: unknown) => {
    if (!Array.isArray(ring)) {
      throw new Problem(400, "The coordinates of a polygon must be lists of points.");
    }
    return ring.map((point: unknown): Point => {
      const [x, y] = Array.isArray(point) ? (point as unknown[]) : [];
      if (typeof x !== "number" || typeof y !== "number") {
        throw new Problem(400, "A point must be two numbers.");
      }
      return [x, y];
    });
  });
}
