import { LRUCache } from "lru-cache";
import { withRangeCoalescing } from "zarrita";

import { RasterError, invalidRaster } from "../../errors.ts";
import { openSource } from "../../sources/open-source.ts";
import type { SourceLocation } from "../../sources/source.ts";
import { recordOf } from "../cube/record-of.ts";
import { checkCount } from "./check-count.ts";
import type { Hierarchy } from "./hierarchy.ts";
import { METADATA, pathOf, withPath } from "./location-path.ts";
import { MAX_PARQUET_ROWS, type ReferenceRows, readReferenceRows } from "./parquet-rows.ts";
import { type Reference, createReferenceStore, locateReference } from "./references.ts";
import { createZarrStore } from "./zarr-store.ts";

/** One file of references; with 10,000, as kerchunk writes them, it has some 100 KB. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Files of references that are kept. */
const MAX_FILES = 8;

/**
 * Reads references in Parquet (fsspec `LazyReferenceMapper`, written by kerchunk): a folder with the metadata of all arrays in `.zmetadata`, and for each
 * array files of so many references to its chunks, in their order. They lead where those in JSON may lead.
 * @throws {RasterError} `unsupported` for a folder that has none
 */
export async function readParquetReferences(location: SourceLocation, signal?: AbortSignal): Promise<Hierarchy> {
  const store = createZarrStore(location);
  const bytes = await store.get("/.zmetadata", signal === undefined ? {} : { signal });
  const document = recordOf(bytes === undefined ? undefined : parse(bytes));
  const metadata = recordOf(document?.["metadata"]);
  const size = Number(document?.["record_size"]);
  if (metadata === undefined || !Number.isInteger(size) || size < 1 || size > MAX_PARQUET_ROWS) {
    throw (
      store.refusal() ??
      new RasterError(
        "unsupported",
        "There are no references to Zarr data in Parquet (.zmetadata with a record_size) at the address.",
      )
    );
  }
  const arrays = Object.keys(metadata).flatMap((key) =>
    key.endsWith("/.zarray") ? [key.slice(0, -"/.zarray".length)] : [],
  );
  checkCount(arrays);
  const counts = new Map(arrays.map((name) => [name, countChunks(metadata[`${name}/.zarray`])]));
  const files = new LRUCache<string, Promise<ReferenceRows>>({ max: MAX_FILES });
  const readFile = (name: string): Promise<ReferenceRows> => {
    const known = files.get(name);
    if (known !== undefined) {
      return known;
    }
    // Without the signal of who asks first: others may wait for it, too.
    const reading = readRows(withPath(location, `${pathOf(location)}/${name}`), size);
    files.set(name, reading);
    reading.catch(() => files.delete(name));
    return reading;
  };
  return {
    files: withRangeCoalescing(
      createReferenceStore(
        async (key) => {
          const path = key.slice(1);
          if (METADATA.test(key)) {
            const own = recordOf(Object.hasOwn(metadata, path) ? metadata[path] : undefined);
            return own === undefined ? undefined : Buffer.from(JSON.stringify(own));
          }
          const place = placeOf(path, counts, size);
          return place === undefined ? undefined : toReference(await readFile(place.file), place.row);
        },
        (address) => locateReference(address, location),
      ),
    ),
    digest: store.digest,
    version: 2,
    path: "",
    arrays,
  };
}

/** Chunks along each dimension; an array without dimensions has one. */
function countChunks(array: unknown): readonly number[] | undefined {
  const { shape, chunks } = recordOf(array) ?? {};
  if (!Array.isArray(shape) || !Array.isArray(chunks) || shape.length !== chunks.length) {
    return undefined;
  }
  const counts = shape.map((length, at) => Math.ceil(Number(length) / Number(chunks[at])));
  return counts.every((count) => Number.isSafeInteger(count) && count >= 0)
    ? counts.length === 0
      ? [1]
      : counts
    : undefined;
}

/** The file and row of a chunk: chunks are numbered by rows, the last dimension fastest. */
function placeOf(path: string, all: ReadonlyMap<string, readonly number[] | undefined>, size: number) {
  const name = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const counts = all.get(name);
  const indices = path
    .slice(name.length + 1)
    .split(".")
    .map(Number);
  if (counts?.length !== indices.length || indices.some((index, at) => !(index >= 0 && index < counts[at]!))) {
    return undefined;
  }
  const number = indices.reduce((sum, index, at) => sum * counts[at]! + index, 0);
  return { file: `${name}/refs.${Math.floor(number / size)}.parq`, row: number % size };
}

function toReference({ paths, offsets, sizes, raw }: ReferenceRows, row: number): Uint8Array | Reference | undefined {
  const [path, offset = 0, length = 0, content] = [paths[row], offsets[row], sizes[row], raw[row]];
  if (content !== null && content !== undefined) {
    return content;
  }
  return typeof path !== "string" ? undefined : offset === 0 && length === 0 ? [path] : [path, offset, length];
}

async function readRows(location: SourceLocation, most: number): Promise<ReferenceRows> {
  const source = await openSource(location).catch(noFile);
  try {
    const bytes = await source?.read(0, MAX_FILE_BYTES).catch(noFile);
    if (bytes?.length === MAX_FILE_BYTES) {
      throw new RasterError("too-large", "A file of references is larger than what is read.");
    }
    return bytes === undefined ? { paths: [], offsets: [], sizes: [], raw: [] } : await readReferenceRows(bytes, most);
  } finally {
    await source?.close();
  }
}

/** Files are left out that would have no reference. */
function noFile(error: unknown): undefined {
  if (error instanceof RasterError && error.code === "not-found") {
    return undefined;
  }
  throw error;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (cause) {
    throw invalidRaster("The metadata of the references is not JSON.", cause);
  }
}
