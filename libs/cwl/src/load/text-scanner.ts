/** Something in brackets or quotes that goes over several lines. */
export interface FlowSpan {
  readonly start: number;
  /** Behind the closing bracket or quote. */
  readonly end: number;
  /** Blanks that YAML wants before each of its further lines. */
  readonly indent: number;
}

const QUOTES: ReadonlySet<string | undefined> = new Set(['"', "'"]);

/**
 * Finds the lists, objects and quoted texts of a YAML text that go over several lines, in one pass and without its
 * structure. It serves texts that the parser refuses; a wrong guess is found out when the parser reads the result.
 */
export class TextScanner {
  private readonly text: string;
  private at = 0;
  /** Column of the last key or list item; -1 at the top. */
  private column = -1;
  /** Lines that are indented deeper belong to a plain or block text. */
  private textColumn: number | undefined;
  /** Where each of these texts was found last: what lies behind is not searched again, however many lines or keys there are. */
  private readonly found = new Map<string, number>();

  constructor(text: string) {
    this.text = text;
  }

  *flows(): Generator<FlowSpan> {
    while (this.at < this.text.length) {
      const lineStart = this.at;
      this.skipBlanks();
      const indent = this.at - lineStart;
      if (this.isLineEnd() || (this.textColumn !== undefined && indent > this.textColumn)) {
        this.skipLine();
        continue;
      }
      this.textColumn = undefined;
      this.column = -1;
      yield* this.scanLine(lineStart);
    }
  }

  /** One line from its first character on: list items, keys, then a value that may bring further lines. */
  private *scanLine(lineStart: number): Generator<FlowSpan> {
    while (!this.isLineEnd() && this.text[this.at] !== "#") {
      const char = this.text[this.at];
      if ((char === "-" || char === "?") && this.isBlankOrEnd(this.at + 1)) {
        this.column = this.at - lineStart;
        this.at += 1;
      } else if (char === "&" || char === "!") {
        while (!this.isBlankOrEnd(this.at)) {
          this.at += 1;
        }
      } else if (char === "|" || char === ">") {
        this.textColumn = this.column;
        break;
      } else if (char === "[" || char === "{" || QUOTES.has(char)) {
        const start = this.at;
        this.at = QUOTES.has(char) ? this.endOfQuote(start) : this.endOfFlow(start);
        const isKey = /^[ \t]*:(?:\s|$)/.test(this.text.slice(this.at, this.at + 64));
        if (isKey) {
          this.column = start - lineStart;
          this.at = this.text.indexOf(":", this.at) + 1;
        } else {
          yield { start, end: this.at, indent: this.column + 1 };
          break;
        }
      } else if (!this.skipPlain(lineStart)) {
        break;
      }
      this.skipBlanks();
    }
    this.skipLine();
  }

  /** Whether it was a key, behind which a value may stand. */
  private skipPlain(lineStart: number): boolean {
    const start = this.at;
    const end = this.lineEnd();
    let colon = this.next(":", start);
    while (colon < end && !this.isBlankOrEnd(colon + 1)) {
      colon = this.next(":", colon + 1);
    }
    if (colon >= end || this.next(" #", start) < colon) {
      this.textColumn = this.column;
      return false;
    }
    this.column = start - lineStart;
    this.at = colon + 1;
    return true;
  }

  private endOfFlow(start: number): number {
    let depth = 0;
    for (let at = start; at < this.text.length; at += 1) {
      const char = this.text[at];
      if (QUOTES.has(char) && /[\s,[{:]/.test(this.text[at - 1] ?? " ")) {
        at = this.endOfQuote(at) - 1;
      } else if (char === "#" && /\s/.test(this.text[at - 1] ?? " ")) {
        const end = this.text.indexOf("\n", at);
        at = end === -1 ? this.text.length : end;
      } else if (char === "[" || char === "{") {
        depth += 1;
      } else if (char === "]" || char === "}") {
        depth -= 1;
        if (depth === 0) {
          return at + 1;
        }
      }
    }
    return this.text.length;
  }

  private endOfQuote(start: number): number {
    const quote = this.text[start];
    for (let at = start + 1; at < this.text.length; at += 1) {
      const char = this.text[at];
      if (quote === '"' && char === "\\") {
        at += 1;
      } else if (char === quote) {
        if (quote === "'" && this.text[at + 1] === "'") {
          at += 1;
        } else {
          return at + 1;
        }
      }
    }
    return this.text.length;
  }

  private skipBlanks(): void {
    while (this.text[this.at] === " " || this.text[this.at] === "\t") {
      this.at += 1;
    }
  }

  private skipLine(): void {
    this.at = this.lineEnd() + 1;
  }

  private lineEnd(): number {
    return this.next("\n", this.at);
  }

  /** The first place from `from` on where a text stands; the end where there is none. */
  private next(searched: string, from: number): number {
    const known = this.found.get(searched) ?? -1;
    if (known >= from) {
      return known;
    }
    const index = this.text.indexOf(searched, from);
    const place = index === -1 ? this.text.length : index;
    this.found.set(searched, place);
    return place;
  }

  private isLineEnd(): boolean {
    const char = this.text[this.at];
    return char === undefined || char === "\n" || char === "\r";
  }

  private isBlankOrEnd(at: number): boolean {
    const char = this.text[at];
    return char === undefined || /\s/.test(char);
  }
}
