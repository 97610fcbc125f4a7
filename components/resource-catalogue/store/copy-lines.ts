import { PLACEMENT_BYTES, boundOf, writeCells } from "./copy-binary.ts";
import type { Cell, CopyLine } from "./record-columns.ts";
import type { RecordTime } from "./partitions/part-map.ts";

/** Rows of COPY in one piece, which is handed from thread to thread rather than copied. */
export interface PreparedLines {
  readonly ids: readonly string[];
  readonly times: readonly (RecordTime | undefined)[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where the row of each record ends. */
  readonly ends: readonly number[];
}

export interface LineToAdd {
  readonly id: string;
  readonly time?: RecordTime | undefined;
  readonly cells: readonly Cell[];
}

/** Gathers records as they stand in COPY, each behind room for its placement. */
export class CopyLines {
  readonly #ids: string[] = [];
  readonly #times: (RecordTime | undefined)[] = [];
  readonly #ends: number[] = [];
  #bytes: Buffer<ArrayBuffer>;
  #end = 0;

  /** @param size bytes that are expected; it grows where they are more */
  constructor(size: number) {
    this.#bytes = allocate(size);
  }

  add({ id, time, cells }: LineToAdd): void {
    const needed = this.#end + PLACEMENT_BYTES + boundOf(cells);
    if (needed > this.#bytes.length) {
      const larger = allocate(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
    }
    this.#end = writeCells(this.#bytes, this.#end + PLACEMENT_BYTES, cells);
    this.#ids.push(id);
    this.#times.push(time);
    this.#ends.push(this.#end);
  }

  /** Gives away what it has gathered. */
  finish(): PreparedLines {
    return {
      ids: this.#ids,
      times: this.#times,
      bytes: new Uint8Array(this.#bytes.buffer, 0, this.#end),
      ends: this.#ends,
    };
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
