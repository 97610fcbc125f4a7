import { setImmediate as nextTurn } from "node:timers/promises";

import { type JsonLimits, JsonScanner } from "./scan-json.ts";

export { JsonLimitError } from "./scan-json.ts";

/** Generous for documents and requests, far below what stalls a service. */
export const JSON_LIMITS: JsonLimits = { maxDepth: 100, maxValues: 250_000 };

/** Bytes that are scanned or parsed in one turn of the event loop: about a millisecond. */
const TURN_BYTES = 64 << 10;

/** What is known of a body that `parseJson` has read. */
interface BodyFacts {
  readonly values: number;
  readonly hasSuspectEscape: boolean;
}

const facts = new WeakMap<object, BodyFacts>();

/** What `parseJson` found when it read this value; undefined for values from elsewhere. */
export function factsOf(body: unknown): BodyFacts | undefined {
  return typeof body === "object" && body !== null ? facts.get(body) : undefined;
}

/**
 * Parses JSON in UTF-8 within limits. Others have their turn every `turnBytes`: large arrays and objects are parsed in parts, so that no
 * text stalls the process.
 * @throws {JsonLimitError} before anything is built
 * @throws {SyntaxError} for what is not JSON, or sets the prototype of an object
 */
export async function parseJson(
  bytes: Buffer,
  limits: JsonLimits = JSON_LIMITS,
  turnBytes = TURN_BYTES,
): Promise<unknown> {
  // A byte order mark is not JSON's, but known clients send one.
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const scanner = await scanJson(bytes, start, limits, turnBytes);
  const value = await new Parts(bytes, scanner.largeEnds, turnBytes).parse(start, bytes.length);
  if (typeof value === "object" && value !== null) {
    facts.set(value, { values: scanner.values, hasSuspectEscape: scanner.hasSuspectEscape });
  }
  return value;
}

/**
 * Checks the size of a JSON text for a parser of another library. Others have their turn meanwhile.
 * @throws {JsonLimitError} before anything is built
 */
export async function checkJson(bytes: Uint8Array, limits: JsonLimits = JSON_LIMITS): Promise<void> {
  await scanJson(bytes, 0, limits, TURN_BYTES);
}

async function scanJson(bytes: Uint8Array, start: number, limits: JsonLimits, turnBytes: number): Promise<JsonScanner> {
  const scanner = new JsonScanner(limits, turnBytes);
  for (let at = start; at < bytes.length;) {
    at = scanner.scan(bytes, at, Math.min(at + turnBytes, bytes.length));
    if (at < bytes.length) {
      await nextTurn();
    }
  }
  return scanner;
}

/** A JSON text of which large arrays and objects are parsed a part at a time. */
class Parts {
  readonly #bytes: Buffer;
  readonly #largeEnds: ReadonlyMap<number, number>;
  readonly #turnBytes: number;
  #sinceTurn = 0;

  constructor(bytes: Buffer, largeEnds: ReadonlyMap<number, number>, turnBytes: number) {
    this.#bytes = bytes;
    this.#largeEnds = largeEnds;
    this.#turnBytes = turnBytes;
  }

  /** The one value between two places. */
  async parse(from: number, to: number): Promise<unknown> {
    const start = this.#skipSpace(from, to);
    const end = this.#largeEnds.get(start);
    if (end === undefined && this.#bytes[start] === 0x22 && to - start > this.#turnBytes) {
      return this.#parseString(start, to);
    }
    if (end === undefined) {
      return this.#parseText("", from, to, "");
    }
    const isArray = this.#bytes[start] === 0x5b;
    if (this.#bytes[end] !== (isArray ? 0x5d : 0x7d)) {
      throw new SyntaxError("an array or object ends with the wrong bracket");
    }
    if (this.#skipSpace(end + 1, to) !== to) {
      throw new SyntaxError("there is more after the end of the value");
    }
    return isArray ? this.#parseArray(start + 1, end) : this.#parseObject(start + 1, end);
  }

  /** A long string, decoded a part at a time. */
  async #parseString(start: number, to: number): Promise<string> {
    const end = this.#endOfString(start, to);
    if (end >= to || this.#skipSpace(end + 1, to) !== to) {
      throw new SyntaxError("a string does not end, or there is more after its end");
    }
    const parts: string[] = [];
    for (let from = start + 1; from < end;) {
      const next = findCut(this.#bytes, from, Math.min(from + this.#turnBytes, end), end);
      parts.push(JSON.parse(`"${this.#bytes.toString("utf8", from, next)}"`) as string);
      from = next;
      await nextTurn();
    }
    return parts.join("");
  }

  async #parseArray(from: number, to: number): Promise<unknown[]> {
    const items: unknown[] = [];
    await this.#eachPart(
      from,
      to,
      "[",
      "]",
      (part) => {
        for (const item of part as readonly unknown[]) {
          items.push(item);
        }
      },
      async (start, end) => {
        items.push(await this.parse(start, end));
      },
    );
    return items;
  }

  async #parseObject(from: number, to: number): Promise<Record<string, unknown>> {
    const members: Record<string, unknown> = {};
    await this.#eachPart(
      from,
      to,
      "{",
      "}",
      (part) => Object.assign(members, part),
      async (start, end) => {
        const colon = this.#findColon(start, end);
        const [name] = this.#parseText("[", start, colon, "]") as [unknown];
        if (typeof name !== "string" || name === "__proto__") {
          throw new SyntaxError(name === "__proto__" ? POISONED : "a name of an object is not a string");
        }
        const value = await this.parse(colon + 1, end);
        if (
          name === "constructor" &&
          typeof value === "object" &&
          value !== null &&
          Object.hasOwn(value, "prototype")
        ) {
          throw new SyntaxError(POISONED);
        }
        members[name] = value;
      },
    );
    return members;
  }

  /** Gives small members together, as much as is parsed in one turn, and each that holds something large alone. */
  async #eachPart(
    from: number,
    to: number,
    open: string,
    close: string,
    onPart: (part: object) => void,
    onLarge: (start: number, end: number) => Promise<void>,
  ): Promise<void> {
    let start = from;
    let count = 0;
    let isFirst = true;
    const flush = (end: number) => {
      if (count > 0) {
        const part = this.#parseText(open, start, end, close) as object;
        if (this.#skipSpace(start, end) === end && !(isFirst && end === to)) {
          throw new SyntaxError("a value is missing between two commas");
        }
        isFirst = false;
        onPart(part);
      }
      count = 0;
    };
    for (let at = from; at < to;) {
      const { end, isLarge } = this.#findEnd(at, to);
      if (isLarge) {
        flush(at - 1);
        await onLarge(at, end);
        isFirst = false;
        start = end + 1;
      } else {
        count += 1;
        if (end - start >= this.#turnBytes || end === to) {
          flush(end);
          start = end + 1;
        }
      }
      this.#sinceTurn += end - at + 1;
      if (this.#sinceTurn >= this.#turnBytes) {
        this.#sinceTurn = 0;
        await nextTurn();
      }
      at = end + 1;
      if (end < to && at >= to) {
        throw new SyntaxError("a comma ends the list");
      }
    }
  }

  /** Where the member that starts at `from` ends: at a comma, or at the end of what holds it. */
  #findEnd(from: number, to: number): { readonly end: number; readonly isLarge: boolean } {
    const bytes = this.#bytes;
    let depth = 0;
    let isLarge = false;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at];
      if (byte === 0x22) {
        const end = this.#endOfString(at, to);
        isLarge ||= depth === 0 && end - at > this.#turnBytes;
        at = end;
      } else if (byte === 0x2c && depth === 0) {
        return { end: at, isLarge };
      } else if (byte === 0x5b || byte === 0x7b) {
        const end = depth === 0 ? this.#largeEnds.get(at) : undefined;
        if (end === undefined) {
          depth += 1;
        } else {
          isLarge = true;
          at = end;
        }
      } else if (byte === 0x5d || byte === 0x7d) {
        depth -= 1;
      }
    }
    return { end: to, isLarge };
  }

  #findColon(from: number, to: number): number {
    const start = this.#skipSpace(from, to);
    const end = this.#bytes[start] === 0x22 ? this.#endOfString(start, to) : start;
    const colon = this.#skipSpace(end + 1, to);
    if (this.#bytes[colon] !== 0x3a) {
      throw new SyntaxError("a colon is missing after a name");
    }
    return colon;
  }

  #endOfString(from: number, to: number): number {
    let at = from + 1;
    while (at < to && this.#bytes[at] !== 0x22) {
      at += this.#bytes[at] === 0x5c ? 2 : 1;
    }
    return at;
  }

  #skipSpace(from: number, to: number): number {
    let at = from;
    while (at < to && isSpace(this.#bytes[at] as number)) {
      at += 1;
    }
    return at;
  }

  /** @throws {SyntaxError} also for `__proto__`, and for `constructor` with `prototype`, which later code could merge into an object */
  #parseText(open: string, from: number, to: number, close: string): unknown {
    const text = open + this.#bytes.toString("utf8", from, to) + close;
    const value: unknown = JSON.parse(text);
    if (POISON.test(text) && isPoisoned(value)) {
      throw new SyntaxError(POISONED);
    }
    return value;
  }
}

const POISONED = "it holds a name that would change the prototype of an object";
/** Names that are spelled with or without escapes. */
const POISON = /"(?:_|\\u005f|c|\\u0063)(?:_|\\u005f|o|\\u006f)/i;

function isPoisoned(value: unknown): boolean {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const one = pending.pop();
    if (typeof one !== "object" || one === null) {
      continue;
    }
    if (Object.hasOwn(one, "__proto__")) {
      return true;
    }
    const constructor = Object.hasOwn(one, "constructor") ? (one as { constructor: unknown }).constructor : undefined;
    if (typeof constructor === "object" && constructor !== null && Object.hasOwn(constructor, "prototype")) {
      return true;
    }
    for (const item of Object.values(one)) {
      pending.push(item);
    }
  }
  return false;
}

/** Longest escape of JSON: `\u` and four digits. */
const ESCAPE_BYTES = 6;

/** A place about `cut` where a string can be divided: in no character of UTF-8 and in no escape. */
function findCut(bytes: Buffer, from: number, cut: number, end: number): number {
  if (cut >= end) {
    return end;
  }
  let at = cut;
  while (at > from && ((bytes[at] as number) & 0xc0) === 0x80) {
    at -= 1;
  }
  for (let escape = Math.max(from, at - ESCAPE_BYTES + 1); escape < at; escape += 1) {
    if (bytes[escape] === 0x5c && isEscape(bytes, from, escape)) {
      const length = bytes[escape + 1] === 0x75 ? ESCAPE_BYTES : 2;
      if (escape + length > at) {
        at = escape;
      }
    }
  }
  return at > from ? at : findCut(bytes, from, cut + 1, end);
}

/** A backslash begins an escape unless the one before it does. */
function isEscape(bytes: Buffer, from: number, at: number): boolean {
  let before = at;
  while (before > from && bytes[before - 1] === 0x5c) {
    before -= 1;
  }
  return (at - before) % 2 === 0;
}

const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
