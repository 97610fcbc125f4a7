import { type Polygon, bboxOf, findPolygonProblem, toPolygon } from "./areas.ts";

/** Larger files are no areas. */
export const MAX_AREA_FILE_BYTES = 5 * 1024 * 1024;

/**
 * The area of a GeoJSON or KML file: its polygon, or the box around everything in it when it has none or several.
 * @throws {Error} saying what the file lacks
 */
export function parseAreaFile(name: string, text: string): Polygon {
  const geometries = /\.kml$/i.test(name) || text.trimStart().startsWith("<") ? readKml(text) : readGeoJson(text);
  const polygons = geometries.filter((geometry) => findPolygonProblem(geometry) === undefined);
  const [only] = polygons;
  if (polygons.length === 1 && geometries.length === 1 && only !== undefined) {
    return only as Polygon;
  }
  const bbox = bboxOf({ type: "GeometryCollection", geometries });
  if (bbox === undefined || bbox[0] === bbox[2] || bbox[1] === bbox[3]) {
    throw new Error(`${name} has no area: a polygon, or several points of which the area around them is taken.`);
  }
  const area = toPolygon(bbox);
  const problem = findPolygonProblem(area);
  if (problem !== undefined) {
    throw new Error(`${name}: ${problem}`);
  }
  return area;
}

/** Every geometry of a GeoJSON document. */
function readGeoJson(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error("The file is neither GeoJSON nor KML.", { cause });
  }
  return listGeometries(value);
}

function listGeometries(value: unknown): readonly unknown[] {
  const { type, features, geometry, geometries } = (
    typeof value === "object" && value !== null ? value : {}
  ) as Readonly<Record<string, unknown>>;
  if (Array.isArray(features)) {
    return features.flatMap(listGeometries);
  }
  if (Array.isArray(geometries)) {
    return geometries.flatMap(listGeometries);
  }
  return type === "Feature" ? listGeometries(geometry) : typeof type === "string" ? [value] : [];
}

/** Polygons, lines and points of a KML document, by their coordinates (OGC 12-007r2 §16.11); nothing of it is run or fetched. */
function readKml(text: string): readonly unknown[] {
  const outer = [...text.matchAll(/<(?:\w+:)?outerBoundaryIs\b[^>]*>([\s\S]*?)<\/(?:\w+:)?outerBoundaryIs>/g)].map(
    ([, inner = ""]) => inner,
  );
  const toPositions = (part: string) =>
    [...part.matchAll(/<(?:\w+:)?coordinates\b[^>]*>([^<]*)</g)].flatMap(([, list = ""]) =>
      list
        .trim()
        .split(/\s+/)
        .map((tuple) => tuple.split(",").slice(0, 2).map(Number))
        .filter((position) => position.length === 2 && position.every(Number.isFinite)),
    );
  if (outer.length > 0) {
    return outer.map((part) => ({ type: "Polygon", coordinates: [toPositions(part)] }));
  }
  const positions = toPositions(text);
  return positions.length === 0 ? [] : [{ type: "MultiPoint", coordinates: positions }];
}
