import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";

import { type JournalRecord, decodeBody, hasRecordBeyond, readRecord } from "./journal-record.ts";

/** A segment begins with `MAGIC` and the id of its journal. */
const MAGIC = "SWJOURN1";
export const SEGMENT_HEADER_BYTES = 32;

export function journalDirectory(directory: string): string {
  return join(directory, "journal");
}

export function basePath(directory: string): string {
  return join(journalDirectory(directory), "base.db");
}

export function segmentName(firstBatch: number): string {
  return `${String(firstBatch).padStart(16, "0")}.log`;
}

/** `id`: 24 hexadecimal digits. */
export function segmentHeader(id: string): Buffer {
  return Buffer.from(MAGIC + id, "latin1");
}

export interface Segment {
  readonly path: string;
  readonly first: number;
}

/** Segments in their order. */
export function listSegments(directory: string): readonly Segment[] {
  const folder = journalDirectory(directory);
  if (!existsSync(folder)) {
    return [];
  }
  return readdirSync(folder)
    .filter((name) => /^\d{16}\.log$/.test(name))
    .sort()
    .map((name) => ({ path: join(folder, name), first: Number(name.slice(0, 16)) }));
}

/** How far a journal could be read. */
export interface JournalEnd {
  /** The last batch that follows on those before without a gap; `after` when there is none. */
  readonly batch: number;
  /** Time of that batch. */
  readonly time: number | undefined;
  /** Batches after a gap or damage exist, and cannot be read. */
  readonly isDamaged: boolean;
}

/** Gives the records after batch `after` in their order; returns where they end. */
export function* readJournal(directory: string, id: string, after: number): Generator<JournalRecord, JournalEnd> {
  let batch = after;
  let time: number | undefined;
  const segments = listSegments(directory);
  for (const [index, { path, first }] of segments.entries()) {
    const next = segments[index + 1];
    if (next !== undefined && next.first <= after + 1) {
      continue;
    }
    if (first > batch + 1) {
      return { batch, time, isDamaged: segments.slice(index).some((each) => holdsRecords(each, id)) };
    }
    const bytes = readFileSync(path);
    if (!bytes.subarray(0, SEGMENT_HEADER_BYTES).equals(segmentHeader(id))) {
      continue;
    }
    const texts = new Map<number, string>();
    let position = SEGMENT_HEADER_BYTES;
    for (let expected = first; ; expected += 1) {
      const record = readRecord(bytes, position);
      if (record?.batch !== expected) {
        break;
      }
      const statements = decodeBody(record.body, texts);
      position = record.end;
      if (record.batch > batch) {
        yield { batch: record.batch, time: record.time, statements };
        ({ batch, time } = record);
      }
    }
    if (hasRecordBeyond(bytes, position, batch + 1)) {
      return { batch, time, isDamaged: true };
    }
  }
  return { batch, time, isDamaged: false };
}

function holdsRecords({ path, first }: Segment, id: string): boolean {
  const bytes = readFileSync(path);
  return (
    bytes.subarray(0, SEGMENT_HEADER_BYTES).equals(segmentHeader(id)) &&
    readRecord(bytes, SEGMENT_HEADER_BYTES)?.batch === first
  );
}

/** The last batch that the journal holds; `base` when it holds none. */
export function findLastBatch(directory: string, id: string, base: number): number {
  const last = listSegments(directory).at(-1);
  return last === undefined ? base : Math.max(base, findEnd(last, id));
}

/** A segment without records was begun when the batch before it was the last one. */
function findEnd({ path, first }: Segment, id: string): number {
  const bytes = readFileSync(path);
  let batch = first - 1;
  if (bytes.subarray(0, SEGMENT_HEADER_BYTES).equals(segmentHeader(id))) {
    let record = readRecord(bytes, SEGMENT_HEADER_BYTES);
    while (record?.batch === batch + 1) {
      batch = record.batch;
      record = readRecord(bytes, record.end);
    }
  }
  return batch;
}

/** Moves a journal away that belongs to another index. */
export function setJournalAside(directory: string, time: number): void {
  const folder = journalDirectory(directory);
  if (existsSync(folder)) {
    renameSync(folder, `${folder}-before-${new Date(time).toISOString().replace(/\D/g, "").slice(0, 17)}`);
  }
}

export function makeJournalDirectory(directory: string): void {
  mkdirSync(journalDirectory(directory), { recursive: true, mode: 0o700 });
}
