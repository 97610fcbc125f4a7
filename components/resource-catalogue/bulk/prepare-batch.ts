import { isAscii } from "node:buffer";

import { createItemValidator } from "@swath/stac/schema";

import { parseJsonBody, parseJsonText } from "../http/json-body.ts";
import type { NewRecord } from "../model/record.ts";
import { prepareItem, prepareItems } from "../stac/prepare.ts";
import { CopyLines, type PreparedLines } from "../store/copy-lines.ts";
import { toRecordCells, toRecordTime } from "../store/record-columns.ts";
import { onlyWhatIsNeeded } from "./lenient.ts";

/** Items to make ready for the store. */
export interface Batch {
  /** document: an item or an item collection. lines: an item a line. bulk: items by their ids. */
  readonly form: "document" | "lines" | "bulk";
  readonly bytes: Uint8Array;
  readonly collection: string;
  /** Number of the first line, for messages. */
  readonly firstLine?: number;
}

/** What a batch has become. */
export interface BatchResult {
  readonly lines: PreparedLines;
  readonly method?: "insert" | "upsert";
  /** Of a document: it is one item. */
  readonly isSingle?: boolean;
}

/** Columns take about as much again as the document, and some more. */
const EXPECTED_GROWTH = 2;
const ROOM = 64 * 1024;

/** Makes a function that reads, validates and maps batches; it takes long, and runs in a thread of its own. */
export function createBatchPreparer(isLenient: boolean): (batch: Batch) => BatchResult {
  const validators = {
    validateItem: isLenient ? onlyWhatIsNeeded : createItemValidator(),
    validateCollection: () => [],
  };
  return ({ form, bytes, collection, firstLine = 1 }) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines = new CopyLines(EXPECTED_GROWTH * buffer.length + ROOM);
    const add = (record: NewRecord): void =>
      lines.add({ id: record.id, time: toRecordTime(record), cells: toRecordCells(record) });
    if (form === "lines") {
      let line = firstLine;
      const isPlain = isAscii(buffer);
      for (const part of splitLines(buffer)) {
        if (part.length > 0) {
          const what = `Line ${line}`;
          // ASCII is decoded at a third of the cost.
          const body = isPlain ? parseJsonText(part.toString("latin1"), what) : parseJsonBody(part, what);
          add(prepareItem(validators, body, collection, what));
        }
        line += 1;
      }
      return { lines: lines.finish() };
    }
    const body = parseJsonBody(buffer);
    if (form === "document") {
      const isSingle = (body.value as { type?: unknown } | null)?.type !== "FeatureCollection";
      const records = isSingle
        ? [prepareItem(validators, body, collection)]
        : prepareItems(validators, body, collection);
      records.forEach(add);
      return { isSingle, lines: lines.finish() };
    }
    const { items, method = "insert" } = body.value as {
      items?: Record<string, unknown>;
      method?: "insert" | "upsert";
    };
    for (const [id, item] of Object.entries(items ?? {})) {
      add(prepareItem(validators, { text: JSON.stringify(item), value: item }, collection, `/items/${id}`));
    }
    return { method, lines: lines.finish() };
  };
}

function* splitLines(buffer: Buffer): Generator<Buffer> {
  let start = 0;
  while (start < buffer.length) {
    const end = buffer.indexOf(10, start);
    const stop = end === -1 ? buffer.length : end;
    // RFC 8142 begins each text with a record separator.
    const from = buffer[start] === 0x1e ? start + 1 : start;
    yield buffer.subarray(from, buffer[stop - 1] === 13 ? stop - 1 : stop);
    start = stop + 1;
  }
}
