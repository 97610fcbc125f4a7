/** West, south, east, north in degrees. */
export type Box = readonly [number, number, number, number];

/** Where something lies. */
export interface Footprint {
  readonly id: string;
  /** A GeoJSON geometry. */
  readonly geometry: unknown;
  readonly box: Box;
}

const MOST = 1000;

/** The places that a GeoJSON or STAC document is about: its features, the extent of a collection. */
export function findFootprints(document: unknown): readonly Footprint[] {
  if (!isRecord(document)) {
    return [];
  }
  if (document["type"] === "FeatureCollection" && Array.isArray(document["features"])) {
    return document["features"].slice(0, MOST).flatMap((feature) => findFootprints(feature));
  }
  if (document["type"] === "Collection") {
    const extent = isRecord(document["extent"]) ? document["extent"]["spatial"] : undefined;
    const boxes = isRecord(extent) && Array.isArray(extent["bbox"]) ? (extent["bbox"] as unknown[]) : [];
    return boxes.slice(0, 1).flatMap((bbox) => {
      const read = readBox(bbox);
      return read === undefined ? [] : [{ id: toId(document), geometry: toPolygon(read), box: read }];
    });
  }
  const geometry = document["type"] === "Feature" ? document["geometry"] : document;
  const bbox = isRecord(geometry) ? bboxOf(geometry["coordinates"]) : undefined;
  return bbox === undefined ? [] : [{ id: toId(document), geometry, box: bbox }];
}

/** The box around several. */
export function mergeBboxes(footprints: readonly Footprint[]): Box {
  return footprints
    .map(({ box: bbox }) => bbox)
    .reduce((a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]);
}

export function toPolygon([west, south, east, north]: Box): object {
  return {
    type: "Polygon",
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  };
}

/** STAC and GeoJSON boxes have four numbers, or six with heights. */
function readBox(value: unknown): Box | undefined {
  const numbers = Array.isArray(value) && value.every((each) => typeof each === "number") ? (value as number[]) : [];
  const [a, b, c, d, e] = numbers;
  if (numbers.length === 4) {
    return checkBox([a, b, c, d]);
  }
  return numbers.length === 6 ? checkBox([a, b, d, e]) : undefined;
}

function bboxOf(coordinates: unknown): Box | undefined {
  const bbox: [number, number, number, number] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ];
  const visit = (value: unknown, depth: number): void => {
    if (!Array.isArray(value) || depth > 5) {
      return;
    }
    const [x, y] = value as unknown[];
    if (typeof x === "number" && typeof y === "number") {
      bbox[0] = Math.min(bbox[0], x);
      bbox[1] = Math.min(bbox[1], y);
      bbox[2] = Math.max(bbox[2], x);
      bbox[3] = Math.max(bbox[3], y);
      return;
    }
    for (const part of value) {
      visit(part, depth + 1);
    }
  };
  visit(coordinates, 0);
  return checkBox(bbox);
}

function checkBox(bbox: readonly (number | undefined)[]): Box | undefined {
  return bbox.every((each) => each !== undefined && Number.isFinite(each) && Math.abs(each) <= 360)
    ? (bbox as unknown as Box)
    : undefined;
}

function toId(document: Readonly<Record<string, unknown>>): string {
  const { id } = document;
  return typeof id === "string" || typeof id === "number" ? String(id) : "feature";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
