import type { NewRecord } from "../model/record.ts";

/** Columns of `record` in the order that `toValues` gives them. */
export const COLUMNS = [
  "part",
  "n",
  "version",
  "collection",
  "kind",
  "id",
  "type",
  "at",
  "span",
  "bbox",
  "shapes",
  "holes",
  "low",
  "high",
  "cloud",
  "words",
  "properties",
  "doc",
  "links_from",
  "links_to",
  "links",
  "extra",
  "format",
  "source",
  "source_type",
  "made_at",
  "changed_at",
] as const;

/** Where a record goes, and what it has from before. */
export interface Placement {
  readonly part: number;
  readonly n: string;
  readonly version: number;
  readonly collection: number;
  readonly madeAt: string;
  readonly changedAt: string;
}

/** A record's row. */
export function toValues(record: NewRecord, placement: Placement): (string | number | null)[] {
  const { part, n, version, collection, madeAt, changedAt } = placement;
  const { time, document, source } = record;
  return [
    part,
    n,
    version,
    collection,
    record.kind,
    record.id,
    record.type,
    time?.at ?? "-infinity",
    time === undefined ? null : `[${time.start},${time.end}]`,
    record.bbox ?? null,
    record.shapes ?? null,
    record.holes ?? null,
    record.heights?.[0] ?? null,
    record.heights?.[1] ?? null,
    record.cloud ?? null,
    record.words,
    record.properties,
    document.text,
    document.linksFrom,
    document.linksTo,
    document.links,
    document.extra,
    record.format,
    source === undefined ? null : `\\x${source.bytes.toString("hex")}`,
    source?.type ?? null,
    madeAt,
    changedAt,
  ];
}

const SPECIAL = /[\\\n\r\t]/;
const ALL_SPECIAL = /[\\\n\r\t]/g;
const ESCAPED: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A row in the text format of COPY, with its line end. */
export function toCopyLine(values: readonly (string | number | null)[]): string {
  let line = "";
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    const text =
      value === null || value === undefined ? "\\N" : typeof value === "number" ? String(value) : escape(value);
    line += index === 0 ? text : `\t${text}`;
  }
  return `${line}\n`;
}

function escape(text: string): string {
  return SPECIAL.test(text) ? text.replace(ALL_SPECIAL, (character) => ESCAPED[character] as string) : text;
}
