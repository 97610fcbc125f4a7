import type { StoredRecord } from "../model/record.ts";
import { type OgcRecord, toOgcRecord } from "./to-ogc-record.ts";

type Json = Readonly<Record<string, unknown>>;

/** A record that is no STAC as a STAC item without links: its links `enclosure` and `preview` are assets. */
export function recordToStacItem(record: StoredRecord): Json {
  const { id, geometry, bbox, time, properties, links } = toOgcRecord(record);
  const files = links.filter(({ rel }) => rel === "enclosure" || rel === "preview" || rel === "data");
  return {
    type: "Feature",
    stac_version: "1.1.0",
    id,
    collection: record.collection,
    geometry,
    ...(geometry !== null && { bbox: bbox ?? boundsOf(geometry) }),
    properties: { ...properties, ...toTimes(time, record) },
    assets: Object.fromEntries(
      files.map(({ rel, href, type, title }, index) => [
        `${rel}-${index + 1}`,
        { href, ...(type && { type }), ...(title && { title }), roles: [rel === "preview" ? "thumbnail" : "data"] },
      ]),
    ),
    links: links.filter((link) => !files.includes(link)),
  };
}

/** An item must have a time; a record without one has that of its last change. */
function toTimes(time: OgcRecord["time"], { changedAt }: StoredRecord): Json {
  const { timestamp, date, interval } = (time ?? {}) as { timestamp?: string; date?: string; interval?: string[] };
  if (timestamp !== undefined) {
    return { datetime: timestamp };
  }
  if (date !== undefined) {
    return { datetime: `${date}T00:00:00Z` };
  }
  const [start, end] = interval ?? [];
  return start !== undefined && end !== undefined && start !== ".." && end !== ".."
    ? { datetime: null, start_datetime: toInstant(start), end_datetime: toInstant(end) }
    : { datetime: start !== undefined && start !== ".." ? toInstant(start) : changedAt.toISOString() };
}

const toInstant = (text: string): string => (text.length === 10 ? `${text}T00:00:00Z` : text);

function boundsOf(geometry: unknown): readonly number[] {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  const visit = (value: unknown): void => {
    if (Array.isArray(value) && typeof value[0] === "number") {
      [west, east] = [Math.min(west, value[0]), Math.max(east, value[0])];
      [south, north] = [Math.min(south, value[1] as number), Math.max(north, value[1] as number)];
    } else if (Array.isArray(value)) {
      value.forEach(visit);
    } else if (typeof value === "object" && value !== null) {
      const { coordinates, geometries } = value as Json;
      visit(coordinates ?? geometries);
    }
  };
  visit(geometry);
  return [west, south, east, north];
}
