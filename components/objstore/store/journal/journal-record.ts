import type { SQLInputValue } from "node:sqlite";
import { deserialize, serialize } from "node:v8";
import { crc32 } from "node:zlib";

/** A statement that changed the index, and its values. */
export type Statement = readonly [sql: string, ...values: SQLInputValue[]];

/** All changes that one commit of the index made. */
export interface JournalRecord {
  /** Counts from 1, without a gap. */
  readonly batch: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly statements: readonly Statement[];
}

/** Texts of statements by number: each segment of the journal holds a text once. */
export interface RecordBody {
  readonly texts: readonly (readonly [number: number, sql: string])[];
  readonly statements: readonly (readonly [text: number, ...values: SQLInputValue[]])[];
}

export const RECORD_HEADER_BYTES = 32;
const MAGIC = 0x53574a01;
/** Where the checksummed part of the header begins: after magic, length and the checksum itself. */
const CHECKED_FROM = 12;

export function encodeRecord(batch: number, time: number, body: RecordBody): readonly [header: Buffer, body: Buffer] {
  const bytes = serialize(body);
  const header = Buffer.alloc(RECORD_HEADER_BYTES);
  header.writeUInt32BE(MAGIC, 0);
  header.writeUInt32LE(bytes.length, 4);
  header.writeBigUInt64LE(BigInt(batch), 16);
  header.writeDoubleLE(time, 24);
  header.writeUInt32LE(crc32(bytes, crc32(header.subarray(CHECKED_FROM))), 8);
  return [header, bytes];
}

export interface RawRecord {
  readonly batch: number;
  readonly time: number;
  readonly end: number;
  readonly body: Buffer;
}

/** The record at `position`; undefined when there is none that is whole. */
export function readRecord(segment: Buffer, position: number): RawRecord | undefined {
  const start = position + RECORD_HEADER_BYTES;
  if (start > segment.length || segment.readUInt32BE(position) !== MAGIC) {
    return undefined;
  }
  const end = start + segment.readUInt32LE(position + 4);
  if (end > segment.length) {
    return undefined;
  }
  const body = segment.subarray(start, end);
  const checksum = crc32(body, crc32(segment.subarray(position + CHECKED_FROM, start)));
  if (checksum !== segment.readUInt32LE(position + 8)) {
    return undefined;
  }
  return {
    batch: Number(segment.readBigUInt64LE(position + 16)),
    time: segment.readDoubleLE(position + 24),
    end,
    body,
  };
}

/** Whether a whole record of batch `least` or a later one begins after `position`: what lies between is damaged. */
export function hasRecordBeyond(segment: Buffer, position: number, least: number): boolean {
  const magic = Buffer.alloc(4);
  magic.writeUInt32BE(MAGIC);
  for (let at = segment.indexOf(magic, position + 1); at !== -1; at = segment.indexOf(magic, at + 1)) {
    if ((readRecord(segment, at)?.batch ?? 0) >= least) {
      return true;
    }
  }
  return false;
}

/** Reads a body; `texts` grows by those that it brings. */
export function decodeBody(body: Buffer, texts: Map<number, string>): readonly Statement[] {
  const decoded = deserialize(body) as RecordBody;
  for (const [number, sql] of decoded.texts) {
    texts.set(number, sql);
  }
  return decoded.statements.map(([number, ...values]) => {
    const sql = texts.get(number);
    if (sql === undefined) {
      throw new Error(`a record of the journal names statement ${number}, which no record before it brought`);
    }
    return [sql, ...values];
  });
}
