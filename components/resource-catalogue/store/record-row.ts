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
  readonly made_at: Date;
  readonly changed_at: Date;
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
    madeAt: row.made_at,
    changedAt: row.changed_at,
  };
}
