import { BoxValue, PolygonsValue } from "../model/postgres-geometry.ts";
import type { NewRecord } from "../model/record.ts";
import type { RecordTime } from "./partitions/part-map.ts";

/** Columns of `record` that its placement gives, then those that the record itself gives. */
const PLACED = ["part", "n", "version", "collection", "made_at", "changed_at"] as const;
export const OWN_COLUMNS = [
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
] as const;
export const COLUMNS = [...PLACED, ...OWN_COLUMNS];

/** A value as `pg` takes it. */
export type Cell = string | number | BoxValue | PolygonsValue | null;

/** Where a record goes, and what it has from before. */
export interface Placement {
  readonly part: number;
  readonly n: string;
  readonly version: number;
  readonly collection: number;
  readonly madeAt: string;
  readonly changedAt: string;
}

/** A row of COPY in its binary form, a piece of the bytes of many: room for the placement, then the columns of the record's own. */
export interface CopyLine {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

/** A record that is ready to be stored: the columns of its own as values, or as they stand in COPY. */
export interface PreparedRecord {
  readonly id: string;
  readonly isCollection: boolean;
  /** Left out for a record without time. */
  readonly time?: RecordTime | undefined;
  readonly cells: readonly Cell[] | CopyLine;
}

export const isCopyLine = (cells: PreparedRecord["cells"]): cells is CopyLine => !Array.isArray(cells);

export const prepareRecordCells = (record: NewRecord): PreparedRecord => ({
  id: record.id,
  isCollection: record.kind === "c",
  time: toRecordTime(record),
  cells: toRecordCells(record),
});

/** What is less than a millisecond is cut off. */
export const toRecordTime = ({ time }: Pick<NewRecord, "time">): RecordTime | undefined =>
  time && { at: Date.parse(time.at), start: Date.parse(time.start), end: Date.parse(time.end) };

/** Columns of the record's own. */
export function toRecordCells(record: NewRecord): readonly Cell[] {
  const { time, document, source } = record;
  return [
    record.kind,
    record.id,
    record.type,
    time?.at ?? "-infinity",
    time === undefined ? null : `[${time.start},${time.end}]`,
    record.bbox === undefined ? null : new BoxValue(record.bbox),
    record.shapes === undefined ? null : new PolygonsValue(record.shapes),
    record.holes === undefined ? null : new PolygonsValue(record.holes),
    toReal(record.heights?.[0]),
    toReal(record.heights?.[1]),
    toReal(record.cloud),
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
  ];
}

/** As PostgreSQL keeps it: a number that is out of its range is infinite or zero there, which sorts as it should. */
const toReal = (value: number | undefined): number | null => (value === undefined ? null : Math.fround(value));

export const toCells = ({ part, n, version, collection, madeAt, changedAt }: Placement): readonly Cell[] => [
  part,
  n,
  version,
  collection,
  madeAt,
  changedAt,
];
