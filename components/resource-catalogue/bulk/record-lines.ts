import type { NewRecord } from "../model/record.ts";
import { type PreparedRecord, prepareRecordCells, toCopyText } from "../store/copy-text.ts";

/** Records on their way out of the thread: their lines of COPY in one piece, which is handed over rather than copied. */
export interface PreparedLines {
  readonly ids: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where the line of each record ends. */
  readonly ends: readonly number[];
}

/** UTF-8 needs at most this many bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;

/** Gathers items as they stand in COPY. */
export class RecordLines {
  readonly #ids: string[] = [];
  readonly #ends: number[] = [];
  readonly #encoder = new TextEncoder();
  #bytes: Uint8Array<ArrayBuffer>;
  #end = 0;

  /** @param size bytes that are expected; it grows where they are more */
  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
  }

  add(record: NewRecord): void {
    const text = toCopyText(prepareRecordCells(record).cells as Parameters<typeof toCopyText>[0]);
    const needed = this.#end + text.length * MAX_BYTES_PER_UNIT;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.#end));
      this.#bytes = larger;
    }
    this.#end += this.#encoder.encodeInto(text, this.#bytes.subarray(this.#end)).written;
    this.#ids.push(record.id);
    this.#ends.push(this.#end);
  }

  /** Gives away what it has gathered. */
  finish(): PreparedLines {
    return { ids: this.#ids, bytes: new Uint8Array(this.#bytes.buffer.transfer(this.#end)), ends: this.#ends };
  }
}

/** The same as the store takes them. */
export function toPreparedRecords({ ids, bytes, ends }: PreparedLines): PreparedRecord[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let from = 0;
  return ids.map((id, index) => {
    const to = ends[index] as number;
    const cells = { bytes: buffer, from, to };
    from = to;
    return { id, isCollection: false, cells };
  });
}
