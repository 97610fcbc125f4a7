/** West, south, east, north in degrees. */
export type Box = readonly [number, number, number, number];

export interface Polygon {
  readonly type: "Polygon";
  readonly coordinates: readonly (readonly (readonly number[])[])[];
}

/** What is wrong with a box, in one sentence; `undefined` when it is right. */
export function findBoxProblem(bbox: readonly number[]): string | undefined {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = bbox;
  if (bbox.length !== 4 || bbox.some((value) => !Number.isFinite(value))) {
    return "A box needs four numbers: west, south, east, north.";
  }
  if (west < -180 || east > 180 || south < -90 || north > 90) {
    return "Longitudes lie between -180 and 180, latitudes between -90 and 90.";
  }
  if (west >= east) {
    return "West must be less than east.";
  }
  return south >= north ? "South must be less than north." : undefined;
}

/** `5.1,51.2,5.4,51.3` (or with spaces) as a box; `undefined` for any other text. */
export function parseBox(text: string): Box | undefined {
  const parts = text
    .trim()
    .replace(/^\[|\]$/g, "")
    .split(/[\s,;]+/)
    .filter((part) => part !== "");
  const numbers = parts.map(Number);
  return findBoxProblem(numbers) === undefined ? (numbers as unknown as Box) : undefined;
}

export const formatBox = (bbox: Box): string => bbox.join(",");

/** Rounds to a tenth of a metre or so: what is drawn with a pointer is not more exact. */
export const roundBox = (bbox: readonly number[]): Box =>
  bbox.map((value) => Number(value.toFixed(6))) as unknown as Box;

export function toPolygon([west, south, east, north]: Box): Polygon {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: "Polygon", coordinates: [ring] };
}

/** The box around a GeoJSON geometry of any kind; `undefined` when it has no position. */
export function bboxOf(geometry: unknown): Box | undefined {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  const visit = (value: unknown): void => {
    if (!Array.isArray(value)) {
      return;
    }
    const [x, y] = value as readonly unknown[];
    if (typeof x === "number" && typeof y === "number") {
      [west, south, east, north] = [Math.min(west, x), Math.min(south, y), Math.max(east, x), Math.max(north, y)];
      return;
    }
    value.forEach(visit);
  };
  if (typeof geometry === "object" && geometry !== null) {
    const { coordinates, geometries, geometry: inner } = geometry as Readonly<Record<string, unknown>>;
    visit(coordinates);
    for (const part of [...(Array.isArray(geometries) ? (geometries as unknown[]) : []), inner]) {
      const bbox = bboxOf(part);
      if (bbox !== undefined) {
        visit([
          [bbox[0], bbox[1]],
          [bbox[2], bbox[3]],
        ]);
      }
    }
  }
  return west <= east && south <= north ? [west, south, east, north] : undefined;
}

/** What is wrong with a GeoJSON polygon. */
export function findPolygonProblem(value: unknown): string | undefined {
  const { type, coordinates } = (typeof value === "object" && value !== null ? value : {}) as Partial<Polygon>;
  if (type !== "Polygon" || !Array.isArray(coordinates)) {
    return "The area must be a polygon.";
  }
  const [ring] = coordinates as Polygon["coordinates"];
  if (!Array.isArray(ring) || ring.length < 4) {
    return "A polygon needs three corners at least.";
  }
  const isPlace = (place: unknown) =>
    Array.isArray(place) && place.length >= 2 && Math.abs(Number(place[0])) <= 180 && Math.abs(Number(place[1])) <= 90;
  return ring.every(isPlace) ? undefined : "Longitudes lie between -180 and 180, latitudes between -90 and 90.";
}

/** Well-known text of a polygon. */
export const formatWkt = ({ coordinates }: Polygon): string =>
  `POLYGON(${coordinates.map((ring) => `(${ring.map(([x, y]) => `${x} ${y}`).join(", ")})`).join(", ")})`;

/** A polygon from well-known text; `undefined` for any other text. */
export function parseWkt(text: string): Polygon | undefined {
  const match = /^\s*POLYGON\s*\(\s*(\(.*\))\s*\)\s*$/is.exec(text);
  if (match?.[1] === undefined) {
    return undefined;
  }
  const coordinates = [...match[1].matchAll(/\(([^()]*)\)/g)].map(([, ring = ""]) =>
    ring.split(",").map((place) => place.trim().split(/\s+/).map(Number)),
  );
  const polygon: Polygon = { type: "Polygon", coordinates };
  return findPolygonProblem(polygon) === undefined ? polygon : undefined;
}

/** A polygon from whatever people paste: GeoJSON (geometry or feature), well-known text, or a box. */
export function parseArea(text: string): Polygon | undefined {
  const bbox = parseBox(text);
  if (bbox !== undefined) {
    return toPolygon(bbox);
  }
  const wkt = parseWkt(text);
  if (wkt !== undefined) {
    return wkt;
  }
  try {
    const value = JSON.parse(text) as { type?: unknown; geometry?: unknown; features?: unknown };
    const first = Array.isArray(value.features) ? (value.features[0] as { geometry?: unknown } | undefined) : value;
    const geometry = first?.geometry ?? value;
    return findPolygonProblem(geometry) === undefined ? (geometry as Polygon) : undefined;
  } catch {
    return undefined;
  }
}
