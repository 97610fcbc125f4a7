/** What may be in a JSON text. */
export interface JsonLimits {
  /** Arrays and objects within each other. */
  readonly maxDepth: number;
  /** Values and names in all. */
  readonly maxValues: number;
}

/** What a scan found. */
export interface JsonScan {
  /** Values and names, about. */
  readonly values: number;
  /** Escapes of NUL or of surrogates: only then a parsed text may hold what no store has a place for. */
  readonly hasSuspectEscape: boolean;
  /** Where arrays and objects of at least `largeBytes` end, by where they start. */
  readonly largeEnds: ReadonlyMap<number, number>;
}

/** A JSON text goes beyond a limit. */
export class JsonLimitError extends Error {
  readonly limit: "depth" | "values";
  constructor(limit: "depth" | "values", message: string) {
    super(message);
    this.limit = limit;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SMALL_U = 0x75;

/**
 * Counts what is in a JSON text without building anything, a piece at a time: depth and number of values are known before a parser
 * allocates for them. It does not check syntax; the parser does.
 */
export class JsonScanner {
  values = 0;
  hasSuspectEscape = false;
  readonly largeEnds = new Map<number, number>();
  readonly #limits: JsonLimits;
  readonly #largeBytes: number;
  readonly #starts: number[] = [];
  #isInString = false;

  constructor(limits: JsonLimits, largeBytes: number) {
    this.#limits = limits;
    this.#largeBytes = largeBytes;
  }

  /**
   * Scans from `from` to about `to`; returns where it stopped, which is where the next scan has to start.
   * @throws {JsonLimitError}
   */
  scan(bytes: Uint8Array, from: number, to: number): number {
    const starts = this.#starts;
    const { maxDepth, maxValues } = this.#limits;
    let isInString = this.#isInString;
    let values = this.values;
    let at = from;
    for (; at < to; at += 1) {
      const byte = bytes[at] as number;
      if (isInString) {
        if (byte === QUOTE) {
          isInString = false;
        } else if (byte === BACKSLASH) {
          at += 1;
          if (bytes[at] === SMALL_U && !this.hasSuspectEscape) {
            this.hasSuspectEscape = isSuspect(bytes, at + 1);
          }
        }
      } else if (byte === QUOTE) {
        isInString = true;
      } else if (byte === COMMA || byte === COLON) {
        values += 1;
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        values += 1;
        if (starts.push(at) > maxDepth) {
          throw new JsonLimitError("depth", `more than ${maxDepth} arrays and objects are within each other`);
        }
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        const start = starts.pop();
        if (start !== undefined && at - start >= this.#largeBytes) {
          this.largeEnds.set(start, at);
        }
      }
    }
    if (values > maxValues) {
      throw new JsonLimitError("values", `there are more than ${maxValues} values`);
    }
    this.#isInString = isInString;
    this.values = values;
    return at;
  }
}

/** `\u0000`, and every surrogate: whether it is one of a pair is for who looks at the text. */
function isSuspect(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at] as number;
  if (first === 0x30) {
    return bytes[at + 1] === 0x30 && bytes[at + 2] === 0x30 && bytes[at + 3] === 0x30;
  }
  // d800 to dfff
  return (first | 0x20) === 0x64 && ((bytes[at + 1] as number) | 0x20) !== 0x30 && !isBelow8(bytes[at + 1] as number);
}

const isBelow8 = (digit: number) => digit >= 0x30 && digit < 0x38;
