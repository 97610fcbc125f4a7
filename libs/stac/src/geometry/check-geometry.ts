import { type Position, closeAroundPole, unwrap } from "./ring.ts";
import { createWorkBudget, findSelfIntersection } from "./self-intersection.ts";

export interface GeometryIssue {
  /** JSON pointer inside of the geometry. */
  readonly path: string;
  /** The rule that it breaks, as a text that goes on from the path: "must not …". */
  readonly rule: string;
}

const MAX_ISSUES = 5;
const MAX_COLLECTIONS = 4;

/**
 * Rings of a GeoJSON geometry that cross, touch or cover themselves. Whatever else is wrong with it is not looked at: parts of another form are passed
 * over.
 */
export function findGeometryIssues(geometry: unknown): readonly GeometryIssue[] {
  const issues: GeometryIssue[] = [];
  const budget = createWorkBudget();
  visitRings(geometry, "", 0, (ring, path) => {
    const at = issues.length < MAX_ISSUES ? findSelfIntersection(closeAroundPole(unwrap(ring)), budget) : undefined;
    if (at !== undefined) {
      const [longitude, latitude] = at.map((value) => Number(value.toFixed(6)));
      issues.push({ path, rule: `must not cross or touch itself, as it does at ${longitude} ${latitude}` });
    }
  });
  return issues;
}

/** Calls `visit` with each ring of polygons, without its last position. */
function visitRings(
  geometry: unknown,
  path: string,
  depth: number,
  visit: (ring: readonly Position[], path: string) => void,
): void {
  const { type, coordinates, geometries } = (geometry ?? {}) as Readonly<Record<string, unknown>>;
  const visitPolygon = (polygon: unknown, at: string): void =>
    listOf(polygon).forEach((ring, index) => {
      const positions = listOf(ring);
      if (positions.length >= 4 && positions.every((position) => isPosition(position))) {
        visit(positions.slice(0, -1) as unknown as readonly Position[], `${at}/${index}`);
      }
    });
  if (type === "Polygon") {
    visitPolygon(coordinates, `${path}/coordinates`);
  } else if (type === "MultiPolygon") {
    listOf(coordinates).forEach((polygon, index) => visitPolygon(polygon, `${path}/coordinates/${index}`));
  } else if (type === "GeometryCollection" && depth < MAX_COLLECTIONS) {
    listOf(geometries).forEach((part, index) => visitRings(part, `${path}/geometries/${index}`, depth + 1, visit));
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isPosition = (value: unknown): boolean =>
  Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1]);
