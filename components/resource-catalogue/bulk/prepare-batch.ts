import { createItemValidator } from "@swath/stac/schema";

import { parseJsonBody } from "../http/json-body.ts";
import { onlyWhatIsNeeded } from "./lenient.ts";
import { prepareItem, prepareItems } from "../stac/prepare.ts";
import { type PreparedRecord, prepareRecordCells, toCopyText } from "../store/copy-text.ts";

/** Items to make ready for the store. */
export interface Batch {
  /** document: an item or an item collection. lines: an item a line. bulk: items by their ids. */
  readonly form: "document" | "lines" | "bulk";
  readonly bytes: Uint8Array;
  readonly collection: string;
  /** Number of the first line, for messages. */
  readonly firstLine?: number;
}

export interface PreparedBatch {
  readonly records: readonly PreparedRecord[];
  readonly method?: "insert" | "upsert";
  /** Of a document: it is one item. */
  readonly isSingle?: boolean;
}

/** Makes a function that reads, validates and maps batches; it takes long, and runs in a thread of its own. */
export function createBatchPreparer(isLenient: boolean): (batch: Batch) => PreparedBatch {
  const validators = {
    validateItem: isLenient ? onlyWhatIsNeeded : createItemValidator(),
    validateCollection: () => [],
  };
  return ({ form, bytes, collection, firstLine = 1 }) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (form === "lines") {
      const records: PreparedRecord[] = [];
      let line = firstLine;
      for (const part of splitLines(buffer)) {
        if (part.length > 0) {
          records.push(toCopied(prepareItem(validators, parseJsonBody(part), collection, `Line ${line}`)));
        }
        line += 1;
      }
      return { records };
    }
    const body = parseJsonBody(buffer);
    if (form === "document") {
      const isSingle = (body.value as { type?: unknown } | null)?.type !== "FeatureCollection";
      const records = isSingle
        ? [prepareItem(validators, body, collection)]
        : prepareItems(validators, body, collection);
      return { isSingle, records: records.map(toCopied) };
    }
    const { items, method = "insert" } = body.value as {
      items?: Record<string, unknown>;
      method?: "insert" | "upsert";
    };
    return {
      method,
      records: Object.entries(items ?? {}).map(([id, item]) =>
        toCopied(prepareItem(validators, { text: JSON.stringify(item), value: item }, collection, `/items/${id}`)),
      ),
    };
  };
}

function toCopied(record: Parameters<typeof prepareRecordCells>[0]): PreparedRecord {
  const { id, isCollection, cells } = prepareRecordCells(record);
  return { id, isCollection, cells: typeof cells === "string" ? cells : toCopyText(cells) };
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
