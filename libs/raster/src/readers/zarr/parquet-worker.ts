import { parentPort, workerData } from "node:worker_threads";
import { gunzipSync, zstdDecompressSync } from "node:zlib";

import { parquetMetadata, parquetReadObjects, snappyUncompress } from "hyparquet";

import type { RowsAnswer, RowsRequest } from "./parquet-rows.ts";

// One file a thread, started by `readReferenceRows`.
const MAX_PAGE_BYTES = 64 * 1024 * 1024;
const COLUMNS = ["path", "offset", "size", "raw"];

const port = parentPort;
if (port === null) {
  throw new Error("this file is the main module of a worker thread");
}
const { bytes, most } = workerData as RowsRequest;
const send = (answer: RowsAnswer) => port.postMessage(answer);

try {
  send({ rows: await readRows() });
} catch (error) {
  send({ error: error instanceof Error ? error.message.slice(0, 200) : "unknown" });
}

async function readRows() {
  const file = Uint8Array.from(bytes).buffer;
  const metadata = parquetMetadata(file);
  if (metadata.num_rows > BigInt(most)) {
    throw new Error(`it has ${metadata.num_rows} rows instead of ${most}`);
  }
  const there = new Set(metadata.schema.map(({ name }) => name));
  const rows = await parquetReadObjects({
    file,
    metadata,
    columns: COLUMNS.filter((name) => there.has(name)),
    utf8: false,
    compressors: {
      SNAPPY: (input, length) => {
        const page = new Uint8Array(checkLength(length));
        snappyUncompress(input, page);
        return page;
      },
      GZIP: (input, length) => gunzipSync(input, { maxOutputLength: checkLength(length) }),
      ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: checkLength(length) }),
    },
  });
  const column = (name: string) => rows.map((row): unknown => row[name] ?? null);
  const numbers = (name: string) => Float64Array.from(column(name), (value) => Number(value ?? 0));
  return {
    paths: column("path").map(toText),
    offsets: numbers("offset"),
    sizes: numbers("size"),
    raw: column("raw").map(toBytes),
  };
}

function checkLength(length: number): number {
  if (!(length >= 0 && length <= MAX_PAGE_BYTES)) {
    throw new Error(`a page claims ${length} bytes`);
  }
  return length;
}

function toText(value: unknown): string | null {
  return typeof value === "string" ? value : value instanceof Uint8Array ? new TextDecoder().decode(value) : null;
}

function toBytes(value: unknown): Uint8Array | null {
  return value instanceof Uint8Array ? value : typeof value === "string" ? new TextEncoder().encode(value) : null;
}
