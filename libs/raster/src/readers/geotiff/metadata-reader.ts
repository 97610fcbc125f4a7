import { invalidRaster } from "../../errors.ts";
import { MAX_METADATA_BYTES } from "../../limits.ts";
import type { Source } from "../../sources/source.ts";

/** The head of a cloud-optimised file fits one page, so that opening one costs one request. */
const PAGE_BYTES = 32 * 1024;

/** Reads small parts of a file by pages that are kept, with a bound on all of them together. */
export class MetadataReader {
  readonly #source: Source;
  readonly #pages = new Map<number, Promise<Uint8Array>>();

  constructor(source: Source) {
    this.#source = source;
  }

  get size(): number | undefined {
    return this.#source.size;
  }

  /** @throws {RasterError} `invalid-raster` where the file ends before, or claims more metadata than allowed */
  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const size = this.#source.size ?? Number.MAX_SAFE_INTEGER;
    if (
      !Number.isSafeInteger(offset) ||
      !Number.isSafeInteger(length) ||
      offset < 0 ||
      length < 0 ||
      offset + length > size
    ) {
      throw invalidRaster(`The file refers to ${length} bytes at ${offset}, which it does not have.`);
    }
    const first = Math.floor(offset / PAGE_BYTES);
    const last = Math.floor((offset + Math.max(length, 1) - 1) / PAGE_BYTES);
    await this.#load(first, last, signal);
    const start = first * PAGE_BYTES;
    const pages = await Promise.all(
      Array.from({ length: last - first + 1 }, async (_, index) => this.#pages.get(first + index)),
    );
    const bytes =
      pages.length === 1 && pages[0] !== undefined
        ? pages[0].subarray(offset - start, offset - start + length)
        : Buffer.concat(pages as Uint8Array[]).subarray(offset - start, offset - start + length);
    if (bytes.length < length) {
      throw invalidRaster("The file is truncated.");
    }
    return bytes;
  }

  /** Reads runs of missing pages with one request each. */
  async #load(first: number, last: number, signal: AbortSignal | undefined): Promise<void> {
    const pending: Promise<unknown>[] = [];
    for (let page = first; page <= last; page += 1) {
      if (this.#pages.has(page)) {
        continue;
      }
      let end = page;
      while (end < last && !this.#pages.has(end + 1)) {
        end += 1;
      }
      if ((this.#pages.size + end - page + 1) * PAGE_BYTES > MAX_METADATA_BYTES) {
        throw invalidRaster(`The file has more than ${MAX_METADATA_BYTES} bytes of metadata.`);
      }
      const run = this.#source.read(page * PAGE_BYTES, (end - page + 1) * PAGE_BYTES, signal);
      for (let each = page; each <= end; each += 1) {
        const part = run.then((bytes) => bytes.subarray((each - page) * PAGE_BYTES, (each - page + 1) * PAGE_BYTES));
        this.#pages.set(each, part);
        // A failed read is tried again by the next caller.
        part.catch(() => this.#pages.delete(each));
        pending.push(part);
      }
      page = end;
    }
    await Promise.all(pending);
  }
}
