import type { RecordFormat, RecordKind, StoredRecord } from "../model/record.ts";

/** A row of RECORD_COLUMNS, and of sort keys. */
export interface RecordRow {
  readonly n: string;
  readonly version: number;
  readonly kind: RecordKind;
  readonly collection: string;
  readonly workspace: string | null;
  readonly id: string;
  readonly type: string;
  readonly format: RecordFormat;
  readonly doc: string;
  readonly links_from: number;
  readonly links_to: number;
  readonly links: string;
  readonly extra: string;
  /** Milliseconds. */
  readonly made_at: number;
  readonly changed_at: number;
  /** How many match, where they were all collected. */
  readonly matched?: number;
  readonly [key: `k${number}`]: unknown;
}

export function toStoredRecord(row: RecordRow): StoredRecord {
  return {
    n: row.n,
    version: row.version,
    kind: row.kind,
    collection: row.collection,
    workspace: row.workspace,
    id: row.id,
    type: row.type,
    format: row.format,
    text: row.doc,
    linksFrom: row.links_from,
    linksTo: row.links_to,
    links: row.links,
    extra: row.extra,
    madeAt: toDate(row.made_at),
    changedAt: toDate(row.changed_at),
  };
}

/** Half a microsecond more: what was written to the millisecond may come back a hair below it. */
const toDate = (milliseconds: number): Date => new Date(milliseconds + 0.0005);
