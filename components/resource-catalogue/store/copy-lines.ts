import { type Cell, type CopyLine, PLACEMENT_BYTES, toCopyText } from "./copy-text.ts";

/** Lines of COPY in one piece, which is handed from thread to thread rather than copied. */
export interface PreparedLines {
  readonly ids: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where the line of each record ends. */
  readonly ends: readonly number[];
}

/** UTF-8 needs at most this many bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
const LINE_END = 10;

/** Gathers records as they stand in COPY, each behind room for its placement. */
export class CopyLines {
  readonly #ids: string[] = [];
  readonly #ends: number[] = [];
  #bytes: Buffer<ArrayBuffer>;
  #end = 0;

  /** @param size bytes that are expected; it grows where they are more */
  constructor(size: number) {
    this.#bytes = allocate(size);
  }

  add(id: string, cells: readonly Cell[]): void {
    const text = toCopyText(cells);
    const needed = this.#end + PLACEMENT_BYTES + text.length * MAX_BYTES_PER_UNIT + 1;
    if (needed > this.#bytes.length) {
      const larger = allocate(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
    }
    this.#end += PLACEMENT_BYTES;
    this.#end += this.#bytes.write(text, this.#end);
    this.#bytes[this.#end] = LINE_END;
    this.#end += 1;
    this.#ids.push(id);
    this.#ends.push(this.#end);
  }

  /** Gives away what it has gathered. */
  finish(): PreparedLines {
    return { ids: this.#ids, bytes: new Uint8Array(this.#bytes.buffer, 0, this.#end), ends: this.#ends };
  }
}

/** Nothing else is in its memory. */
const allocate = (size: number): Buffer<ArrayBuffer> => Buffer.from(new ArrayBuffer(size));

/** The same one by one. */
export function toCopyLines({ bytes, ends }: PreparedLines): CopyLine[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let from = 0;
  return ends.map((to) => {
    const line = { bytes: buffer, from, to };
    from = to;
    return line;
  });
}
