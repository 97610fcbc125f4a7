import type { NewRecord } from "../model/record.ts";

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

type Cell = string | number | null;

/** Where a record goes, and what it has from before. */
export interface Placement {
  readonly part: number;
  readonly n: string;
  readonly version: number;
  readonly collection: number;
  readonly madeAt: string;
  readonly changedAt: string;
}

/** Columns of a record's own as they stand in a line of COPY, in UTF-8: a piece of the bytes of many. */
export interface CopyLine {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

/** A record that is ready to be stored: the columns of its own as values, or as they stand in COPY. */
export interface PreparedRecord {
  readonly id: string;
  readonly isCollection: boolean;
  readonly cells: readonly Cell[] | CopyLine;
}

export const isCopyLine = (cells: PreparedRecord["cells"]): cells is CopyLine => !Array.isArray(cells);

/** Columns of the record's own. */
export function prepareRecordCells(record: NewRecord): PreparedRecord {
  const { time, document, source } = record;
  return {
    id: record.id,
    isCollection: record.kind === "c",
    cells: [
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
    ],
  };
}

export const toCells = ({ part, n, version, collection, madeAt, changedAt }: Placement): readonly Cell[] => [
  part,
  n,
  version,
  collection,
  madeAt,
  changedAt,
];

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
