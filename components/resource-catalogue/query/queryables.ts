/** A property that can be filtered by, as JSON Schema. */
export type QueryableSchema = Readonly<Record<string, unknown>>;

/** What every collection has. */
export const CORE_QUERYABLES: Readonly<Record<string, QueryableSchema>> = {
  id: { title: "Id", type: "string" },
  collection: { title: "Collection", type: "string" },
  geometry: { title: "Geometry", $ref: "https://geojson.org/schema/Geometry.json" },
  datetime: { title: "Date and time", type: "string", format: "date-time" },
  type: { title: "Kind of record", type: "string" },
  title: { title: "Title", type: "string" },
  created: { title: "Created", type: "string", format: "date-time" },
  updated: { title: "Updated", type: "string", format: "date-time" },
  "eo:cloud_cover": { title: "Cloud cover (%)", type: "number", minimum: 0, maximum: 100 },
};

/** Records that are looked at to find out which properties a collection has. */
export const SAMPLE_SIZE = 50;

/** Properties of documents as queryables: those whose values are texts, numbers, true or false, or lists of these. */
export function inferQueryables(
  documents: readonly Readonly<Record<string, unknown>>[],
): Readonly<Record<string, QueryableSchema>> {
  const types = new Map<string, Set<string>>();
  for (const document of documents) {
    for (const [name, value] of Object.entries(document)) {
      const type = typeOf(value);
      if (type !== undefined) {
        types.set(name, (types.get(name) ?? new Set()).add(type));
      }
    }
  }
  return Object.fromEntries(
    [...types]
      .filter(([name]) => !Object.hasOwn(CORE_QUERYABLES, name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, found]) => [name, { title: name, ...(found.size === 1 && { type: [...found][0] }) }]),
  );
}

function typeOf(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    return value.every((entry) => typeof entry !== "object") ? "array" : undefined;
  }
  return typeof value === "object" || value === undefined ? undefined : typeof value;
}
