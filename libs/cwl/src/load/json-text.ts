import { setOrigin } from "./origin.ts";
import type { SourceText } from "./origin.ts";

/** Thrown where a text is not plain JSON; only readJson sees it. */
class NotJson extends Error {}

/**
 * Reads a text that is plain JSON, many times as fast as the YAML parser, and remembers where each object and member was
 * written. `undefined` when it is anything else (comments, duplicate keys, too deep): the YAML parser then says what.
 */
export function readJson(
  source: SourceText,
  limits: { readonly depth: number; readonly nodes: number },
): { readonly value: unknown; readonly nodes: number } | undefined {
  if (!/^\s*[{[]/.test(source.text)) {
    return undefined;
  }
  const reader = new JsonReader(source, limits);
  try {
    return { value: reader.read(), nodes: reader.nodes };
  } catch (error) {
    if (error instanceof NotJson) {
      return undefined;
    }
    throw error;
  }
}

const QUOTE = 34;
const BACKSLASH = 92;

class JsonReader {
  nodes = 0;
  private readonly source: SourceText;
  private readonly text: string;
  private readonly limits: { readonly depth: number; readonly nodes: number };
  private at = 0;

  constructor(source: SourceText, limits: { readonly depth: number; readonly nodes: number }) {
    this.source = source;
    this.text = source.text;
    this.limits = limits;
  }

  read(): unknown {
    const value = this.value(0);
    this.skipSpace();
    if (this.at < this.text.length) {
      throw new NotJson();
    }
    return value;
  }

  private value(depth: number): unknown {
    this.skipSpace();
    this.nodes += 1;
    if (depth > this.limits.depth || this.nodes > this.limits.nodes) {
      throw new NotJson();
    }
    switch (this.text[this.at]) {
      case "{":
        return this.object(depth);
      case "[":
        return this.array(depth);
      case '"':
        return this.string();
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      default:
        return this.number();
    }
  }

  private object(depth: number): unknown {
    const offset = this.at;
    const result: Record<string, unknown> = {};
    const places = new Map<string | number, number>();
    this.at += 1;
    this.skipSpace();
    while (this.text[this.at] !== "}") {
      if (places.size > 0) {
        this.take(",");
        this.skipSpace();
      }
      const location = this.at;
      const key = this.string();
      // A prototype or a merge is nothing that the fast way should know about.
      if (places.has(key) || key === "__proto__" || key === "<<") {
        throw new NotJson();
      }
      places.set(key, location);
      this.skipSpace();
      this.take(":");
      result[key] = this.value(depth + 1);
      this.skipSpace();
    }
    this.at += 1;
    setOrigin(result, this.source, offset, places);
    return result;
  }

  private array(depth: number): unknown {
    const offset = this.at;
    const result: unknown[] = [];
    const places = new Map<string | number, number>();
    this.at += 1;
    this.skipSpace();
    while (this.text[this.at] !== "]") {
      if (result.length > 0) {
        this.take(",");
        this.skipSpace();
      }
      places.set(result.length, this.at);
      result.push(this.value(depth + 1));
      this.skipSpace();
    }
    this.at += 1;
    setOrigin(result, this.source, offset, places);
    return result;
  }

  private string(): string {
    const { text } = this;
    if (text.charCodeAt(this.at) !== QUOTE) {
      throw new NotJson();
    }
    const start = this.at;
    let plain = true;
    for (let at = start + 1; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.at = at + 1;
        return plain ? text.slice(start + 1, at) : parseOrGiveUp(text.slice(start, at + 1));
      }
      if (code === BACKSLASH) {
        plain = false;
        at += 1;
      } else if (code < 32) {
        break;
      }
    }
    throw new NotJson();
  }

  private number(): number | bigint {
    const pattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
    pattern.lastIndex = this.at;
    const [digits] = pattern.exec(this.text) ?? [];
    if (digits === undefined) {
      throw new NotJson();
    }
    this.at += digits.length;
    const value = Number(digits);
    return !Number.isSafeInteger(value) && /^-?\d+$/.test(digits) ? BigInt(digits) : value;
  }

  private word<T>(text: string, value: T): T {
    if (!this.text.startsWith(text, this.at)) {
      throw new NotJson();
    }
    this.at += text.length;
    return value;
  }

  private take(char: string): void {
    if (this.text[this.at] !== char) {
      throw new NotJson();
    }
    this.at += 1;
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) {
        return;
      }
      this.at += 1;
    }
  }
}

function parseOrGiveUp(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    throw new NotJson();
  }
}
