import { findGeometryIssues } from "@swath/stac/geometry";

import { toPlace } from "./from-stac.ts";
import { parseInstant } from "./instant.ts";
import type { NewRecord } from "./record.ts";
import { toTsVector } from "./words.ts";

/** A document that is no metadata record; its message names what is missing. */
export class RecordError extends Error {
  override readonly name = "RecordError";
}

/** What a record in XML says, as the members of an OGC record (OGC API Records Part 1 §7). */
export interface XmlRecordContent {
  readonly id: string;
  readonly type: string;
  readonly geometry: unknown;
  readonly bbox?: readonly number[];
  readonly time?: { readonly start: string | undefined; readonly end: string | undefined };
  readonly properties: Readonly<Record<string, unknown>>;
  readonly links: readonly Readonly<Record<string, unknown>>[];
  /** All texts that it can be found by. */
  readonly texts: readonly string[];
  readonly format: "iso" | "dc";
  readonly source: Buffer;
}

const MAX_ID_LENGTH = 500;

/** The record of it. @throws {RecordError} for ids that cannot be one, and for polygons that cross themselves */
export function toXmlRecord(content: XmlRecordContent): NewRecord {
  const { id, type, geometry, bbox, time, properties, links, texts, format, source } = content;
  if (id.length > MAX_ID_LENGTH || /\p{Cc}/u.test(id)) {
    throw new RecordError(
      `must have an identifier of at most ${MAX_ID_LENGTH} characters, none of them a control character`,
    );
  }
  const [issue] = findGeometryIssues(geometry);
  if (issue !== undefined) {
    throw new RecordError(`has a polygon that ${issue.rule}`);
  }
  const cloud = properties["eo:cloud_cover"];
  const document = {
    id,
    type: "Feature",
    geometry,
    ...(bbox && { bbox }),
    time: toTimeMember(time),
    properties: { type, ...properties },
  };
  const text = JSON.stringify(document);
  const end = text.length - 1;
  return {
    kind: "r",
    id,
    type,
    ...toSpan(time),
    ...toPlace(geometry, bbox),
    ...(typeof cloud === "number" && { cloud }),
    words: toTsVector([id, ...texts]),
    properties: JSON.stringify(document.properties),
    document: {
      text: `${text.slice(0, -1)},"links":${JSON.stringify(links)}}`,
      linksFrom: end + 9,
      linksTo: end + 9 + JSON.stringify(links).length,
      links: JSON.stringify(links).slice(1, -1),
      extra: "",
    },
    format,
    source: { bytes: source, type: "application/xml" },
  };
}

function toTimeMember(time: XmlRecordContent["time"]): unknown {
  if (time === undefined) {
    return null;
  }
  const { start, end } = time;
  if (start === end && start !== undefined) {
    return start.length === 10 ? { date: start } : { timestamp: start };
  }
  return { interval: [start ?? "..", end ?? ".."] };
}

function toSpan(time: XmlRecordContent["time"]): Pick<NewRecord, "time"> {
  if (time === undefined) {
    return {};
  }
  const start = time.start === undefined ? "-infinity" : parseInstant(fullTime(time.start, false));
  const end = time.end === undefined ? "infinity" : parseInstant(fullTime(time.end, true));
  const isOrdered = start === "-infinity" || end === "infinity" || (start ?? "") <= (end ?? "");
  return start === undefined || end === undefined || !isOrdered ? {} : { time: { at: start, start, end } };
}

const fullTime = (text: string, isEnd: boolean): string =>
  text.length === 10 ? `${text}T${isEnd ? "23:59:59.999999" : "00:00:00"}Z` : text;

/**
 * A date as people write it in metadata, in the form that filters and JSON have it: `2020` and `2020-05` are their first day (the last
 * one for an end), a time without a zone is in UTC. `undefined` for any other text.
 */
export function cleanDate(text: string | undefined, isEnd = false): string | undefined {
  const match =
    /^(-?\d{4})(?:-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?)?)?)?Z?$/.exec(
      text?.trim() ?? "",
    );
  if (match === null) {
    return undefined;
  }
  const [, year = "", month, day, hours, seconds = ":00", zone = "Z"] = match;
  const date = `${year}-${month ?? (isEnd ? "12" : "01")}-${day ?? (isEnd ? lastDay(year, month) : "01")}`;
  const whole =
    hours === undefined
      ? date
      : `${date}T${hours}${seconds}${zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()}`;
  return parseInstant(whole.length === 10 ? `${whole}T00:00:00Z` : whole) === undefined ? undefined : whole;
}

const lastDay = (year: string, month = "12"): string =>
  String(new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate());

/** A box as a polygon of GeoJSON; a point where it has no area. Two parts where it crosses the antimeridian (RFC 7946 §3.1.9). */
export function boxToGeometry([west, south, east, north]: readonly [number, number, number, number]): unknown {
  if (west === east && south === north) {
    return { type: "Point", coordinates: [west, south] };
  }
  const ring = (left: number, right: number): unknown => [
    [
      [left, south],
      [right, south],
      [right, north],
      [left, north],
      [left, south],
    ],
  ];
  return west <= east
    ? { type: "Polygon", coordinates: ring(west, east) }
    : { type: "MultiPolygon", coordinates: [ring(west, 180), ring(-180, east)] };
}
