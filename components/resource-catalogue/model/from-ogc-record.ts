import { findGeometryIssues } from "@swath/stac/geometry";
import type { StacIssue } from "@swath/stac/schema";

import { toPlace } from "./from-stac.ts";
import { parseInstant } from "./instant.ts";
import { findMembers } from "./json-members.ts";
import type { NewRecord } from "./record.ts";
import { toTsVector } from "./words.ts";

type Json = Readonly<Record<string, unknown>>;

/** What is wrong with an OGC record (Records Part 1 §7, recordGeoJSON.yaml); nothing for a valid one. */
export function checkOgcRecord(value: Json): readonly StacIssue[] {
  const { type, id, properties, geometry, time, links } = value;
  const issues: StacIssue[] = [];
  const add = (path: string, rule: string, found: unknown): void => {
    issues.push({ path, rule, ...(found !== undefined && { value: found }) });
  };
  if (type !== "Feature") {
    add("/type", 'must be "Feature"', type);
  }
  if (typeof id !== "string" || id === "") {
    add("/id", "must be a text that is not empty", id);
  }
  if (geometry === undefined) {
    add("/geometry", "is required; null where the record has no place", undefined);
  }
  for (const { path, rule } of findGeometryIssues(geometry)) {
    add(`/geometry${path}`, rule, undefined);
  }
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) {
    add("/properties", "must be an object", properties);
  } else {
    const { type: kind, title, keywords } = properties as Json;
    if (typeof kind !== "string" || kind === "") {
      add("/properties/type", "must be a text: dataset, service, application, process …", kind);
    }
    if (typeof title !== "string") {
      add("/properties/title", "must be a text", title);
    }
    if (keywords !== undefined && !(Array.isArray(keywords) && keywords.every((word) => typeof word === "string"))) {
      add("/properties/keywords", "must be a list of texts", keywords);
    }
  }
  if (time !== undefined && time !== null && toRecordTime(time) === undefined) {
    add("/time", "must be null, or have date, timestamp or interval", time);
  }
  if (links !== undefined && !(Array.isArray(links) && links.every((link) => isLink(link)))) {
    add("/links", "must be a list of objects with rel and href", undefined);
  }
  return issues;
}

/** The record of an OGC record that has been checked. */
export function ogcRecordToRecord(text: string, value: Json): NewRecord {
  const members = findMembers(text);
  const { id, geometry, bbox, time, links = [] } = value as Json & { id: string; links?: readonly { rel: string }[] };
  const properties = value["properties"] as Json;
  const place = members.get("properties") as { from: number; to: number };
  const end = text.lastIndexOf("}");
  const slot = members.get("links") ?? { from: end, to: end };
  const found = toRecordTime(time ?? null);
  return {
    kind: "r",
    id,
    type: properties["type"] as string,
    ...(found !== undefined && { time: found }),
    ...toPlace(geometry, bbox),
    words: toTsVector([
      id,
      ...[properties["title"], properties["description"], properties["type"]].filter(
        (entry) => typeof entry === "string",
      ),
      ...((properties["keywords"] ?? []) as readonly string[]),
    ]),
    properties: text.slice(place.from, place.to),
    document: {
      text,
      linksFrom: slot.from,
      linksTo: slot.to,
      links: JSON.stringify(links.filter(({ rel }) => rel !== "self" && rel !== "collection" && rel !== "root")).slice(
        1,
        -1,
      ),
      extra: "",
    },
    format: "ogc",
  };
}

/** The member `time` of a record: `{date}`, `{timestamp}`, `{interval: [start, end]}`. */
export function toRecordTime(time: unknown): NewRecord["time"] | undefined {
  if (typeof time !== "object" || time === null) {
    return undefined;
  }
  const { date, timestamp, interval } = time as Json;
  if (typeof timestamp === "string") {
    const at = parseInstant(timestamp);
    return at === undefined ? undefined : { at, start: at, end: at };
  }
  if (typeof date === "string") {
    const [start, end] = [toInstant(date), toInstant(date, true)];
    return start === undefined || end === undefined ? undefined : { at: start, start, end };
  }
  if (!Array.isArray(interval) || interval.length !== 2) {
    return undefined;
  }
  const [from, to] = interval as readonly unknown[];
  const start = from === ".." ? "-infinity" : toInstant(from);
  const end = to === ".." ? "infinity" : toInstant(to, true);
  const isOrdered = start === "-infinity" || end === "infinity" || (start ?? "") <= (end ?? "");
  return start === undefined || end === undefined || !isOrdered ? undefined : { at: start, start, end };
}

function toInstant(value: unknown, isEnd = false): string | undefined {
  if (typeof value !== "string") {
    return undefined;
  }
  return parseInstant(value.length === 10 ? `${value}T${isEnd ? "23:59:59.999999" : "00:00:00"}Z` : value);
}

const isLink = (link: unknown): boolean =>
  typeof link === "object" &&
  link !== null &&
  typeof (link as Json)["href"] === "string" &&
  typeof (link as Json)["rel"] === "string";
