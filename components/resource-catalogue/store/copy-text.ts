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

export type Cell = string | number | null;

/** Where a record goes, and what it has from before. */
export interface Placement {
  readonly part: number;
  readonly n: string;
  readonly version: number;
  readonly collection: number;
  readonly madeAt: string;
  readonly changedAt: string;
}

/** A line of COPY in UTF-8, a piece of the bytes of many: room for the placement, the columns of the record's own, and a line end. */
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
  ];
}

export const toCells = ({ part, n, version, collection, madeAt, changedAt }: Placement): readonly Cell[] => [
  part,
  n,
  version,
  collection,
  madeAt,
  changedAt,
];

/** Columns of the placement in COPY always have the same width, so that they are written where room was left for them. */
const WIDTHS = [10, 19, 10, 10, 24, 24] as const;
export const PLACEMENT_BYTES = WIDTHS.reduce((sum, width) => sum + width + 1, 0);

/** The placement as it stands in COPY: numbers with zeros before them. */
export function toPlacedText(placement: Placement): string {
  let text = "";
  for (const [index, cell] of toCells(placement).entries()) {
    text += `${String(cell).padStart(WIDTHS[index] as number, "0")}\t`;
  }
  return text;
}

const SPECIAL = /[\\\n\r\t]/;
const ALL_SPECIAL = /[\\\n\r\t]/g;
const ESCAPED: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Cells in the text format of COPY, without a line end. */
export function toCopyText(cells: readonly Cell[]): string {
  let line = "";
  let tab = "";
  for (const cell of cells) {
    line += tab + (cell === null ? "\\N" : typeof cell === "number" ? String(cell) : escape(cell));
    tab = "\t";
  }
  return line;
}

function escape(text: string): string {
  return SPECIAL.test(text) ? text.replace(ALL_SPECIAL, (character) => ESCAPED[character] as string) : text;
}
