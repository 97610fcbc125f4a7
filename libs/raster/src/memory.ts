import { type SampleArrays, type SampleType, constructorOf } from "./readers/raster.ts";

/** Gives arrays to calculate in; they hold zeros. */
export interface Memory {
  readonly take: <T extends SampleType>(type: T, length: number) => SampleArrays[T];
}

/** Arrays that belong to whoever asked. */
export const OWN_MEMORY: Memory = {
  take: (type, length) => new (constructorOf(type))(length),
};

/** Memory that is lent for one calculation. */
export interface Loan extends Memory {
  /** Only once nothing reads or writes the arrays any more: the next calculation has them. What is not given back is garbage. */
  readonly giveBack: () => void;
}

/** Smaller arrays cost less than their bookkeeping. */
const MIN_BYTES = 4096;

/**
 * Memory of calculations, kept for the next ones. Fresh memory for each is most of what a small picture costs: pages that the kernel
 * gives and takes, for all threads of the process one after another, and collections of garbage.
 */
export class KeptMemory {
  readonly #maxBytes: number;
  /** The last given back is the last. */
  readonly #free: ArrayBuffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What is kept and not lent. */
  get bytes(): number {
    return this.#bytes;
  }

  lend(): Loan {
    let taken: ArrayBuffer[] = [];
    return {
      take: (type, length) => {
        const create = constructorOf(type);
        const bytes = length * create.BYTES_PER_ELEMENT;
        if (bytes < MIN_BYTES || bytes > this.#maxBytes) {
          return new create(length);
        }
        const kept = this.#find(bytes);
        const buffer = kept ?? new ArrayBuffer(roundUp(bytes));
        taken.push(buffer);
        const array = new create(buffer, 0, length);
        if (kept !== undefined) {
          array.fill(0);
        }
        return array;
      },
      giveBack: () => {
        const given = taken;
        taken = [];
        for (const buffer of given) {
          this.#free.push(buffer);
          this.#bytes += buffer.byteLength;
        }
        while (this.#bytes > this.#maxBytes) {
          this.#bytes -= this.#free.shift()?.byteLength ?? 0;
        }
      },
    };
  }

  #find(bytes: number): ArrayBuffer | undefined {
    for (let at = this.#free.length - 1; at >= 0; at -= 1) {
      const buffer = this.#free[at]!;
      if (buffer.byteLength >= bytes && buffer.byteLength <= bytes * 2) {
        this.#free.splice(at, 1);
        this.#bytes -= buffer.byteLength;
        return buffer;
      }
    }
    return undefined;
  }
}

/** To an eighth of a power of two, so that sizes that differ by little fit each other. */
function roundUp(bytes: number): number {
  const unit = 2 ** Math.max(12, Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / unit) * unit;
}
