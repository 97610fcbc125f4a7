import { parentPort, workerData } from "node:worker_threads";

import { type Dataset, File, ready } from "h5wasm";

import type { Samples } from "../raster.ts";
import { listContents } from "./list-contents.ts";
import { type FromHdf5, type Hdf5Start, MAILBOX_HEADER_BYTES, type ToHdf5 } from "./messages.ts";

// One file a thread, started by `Hdf5Thread`. The library may be given anything: what it does to its memory ends with the thread,
// it sees no file but this one, and a chunk that unpacks without end meets the limit of its memory.
const MAX_MEMORY_PAGES = (512 * 1024 * 1024) / 65_536;
const PAGE_BYTES = 64 * 1024;
const MAX_PAGES = 128;
const NAME = "source";

const port = parentPort;
if (port === null) {
  throw new Error("this file is the main module of a worker thread");
}
const { size, mailbox } = workerData as Hdf5Start;
const header = new Int32Array(mailbox, 0, 2);
const bbox = new Uint8Array(mailbox, MAILBOX_HEADER_BYTES);
const pages = new Map<number, Uint8Array>();
const send = (message: FromHdf5, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

limitMemory();
// The library says on the console what it stumbles over; clients are told in words of ours.
Object.assign(console, { error: () => undefined, warn: () => undefined, log: () => undefined });
const library = await ready;
library.activate_throwing_error_handler();
mountSource(library.FS);
let file: File | undefined;

port.on("message", (message: ToHdf5) => {
  try {
    file ??= new File(`/${NAME}`, "r");
    if (message.kind === "list") {
      send({ kind: "listed", contents: listContents(file) });
      return;
    }
    const { name, start, count } = message;
    const dataset = file.get(name) as Dataset;
    const value = dataset.slice(start.map((from, at): [number, number] => [from, from + count[at]!])) as
      | Samples
      | BigInt64Array
      | BigUint64Array;
    const samples: Samples =
      value instanceof BigInt64Array || value instanceof BigUint64Array ? Float64Array.from(value, Number) : value;
    send({ kind: "samples", samples }, samples.buffer instanceof ArrayBuffer ? [samples.buffer] : []);
  } catch (error) {
    send({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
});

interface Memory {
  readonly buffer: ArrayBuffer;
  grow: (delta: number) => number;
}

function limitMemory(): void {
  const { prototype } = (globalThis as unknown as { WebAssembly: { Memory: { prototype: Memory } } }).WebAssembly
    .Memory;
  const { grow } = prototype;
  prototype.grow = function growWithin(this: Memory, delta: number): number {
    if (this.buffer.byteLength / 65_536 + delta > MAX_MEMORY_PAGES) {
      throw new RangeError("the data needs more memory than is allowed");
    }
    return grow.call(this, delta);
  };
}

/** The part of the library's file system that is used here, which its types do not tell. */
interface FileSystem {
  readonly createDataFile: (folder: string, name: string, data: Uint8Array, read: boolean, write: boolean) => void;
  readonly lookupPath: (path: string) => { node: FileNode };
}

interface FileNode {
  stream_ops: Readonly<Record<string, unknown>>;
}

/** A file of the library's own file system whose bytes come from the thread that asks. */
function mountSource(provided: unknown): void {
  const fileSystem = provided as FileSystem;
  fileSystem.createDataFile("/", NAME, new Uint8Array(0), true, false);
  const { node } = fileSystem.lookupPath(`/${NAME}`);
  Object.defineProperty(node, "usedBytes", { get: () => size });
  node.stream_ops = {
    ...node.stream_ops,
    read: (_stream: unknown, buffer: Uint8Array, offset: number, length: number, position: number): number => {
      const end = Math.min(size, position + length);
      for (let at = position; at < end;) {
        const page = Math.floor(at / PAGE_BYTES);
        const bytes = readPage(page, Math.ceil(end / PAGE_BYTES));
        const from = at - page * PAGE_BYTES;
        const part = bytes.subarray(from, Math.min(bytes.length, from + end - at));
        if (part.length === 0) {
          throw new Error("the file ends early");
        }
        buffer.set(part, offset + at - position);
        at += part.length;
      }
      return Math.max(0, end - position);
    },
  };
}

/** A page, with those up to `end` (not included) that are missing after it, as far as they fit in the mailbox. */
function readPage(page: number, end: number): Uint8Array {
  const known = pages.get(page);
  if (known !== undefined) {
    pages.delete(page);
    pages.set(page, known);
    return known;
  }
  let count = 1;
  while (page + count < end && (count + 1) * PAGE_BYTES <= bbox.length && !pages.has(page + count)) {
    count += 1;
  }
  const offset = page * PAGE_BYTES;
  Atomics.store(header, 0, 0);
  send({ kind: "bytes", offset, length: Math.min(count * PAGE_BYTES, size - offset) });
  Atomics.wait(header, 0, 0);
  const length = header[1]!;
  if (length < 0) {
    throw new Error("the source cannot be read");
  }
  for (let at = 0; at < length; at += PAGE_BYTES) {
    pages.set(page + at / PAGE_BYTES, bbox.slice(at, Math.min(length, at + PAGE_BYTES)));
  }
  const requested = pages.get(page) ?? new Uint8Array(0);
  for (const oldest of pages.keys()) {
    if (pages.size <= MAX_PAGES) {
      break;
    }
    pages.delete(oldest);
  }
  return requested;
}
