/** A piece of a string field: text that stands for itself, or an expression to evaluate. */
export type Piece =
  | { readonly kind: "text"; readonly text: string }
  /** `$(…)`: `code` is what is between the parentheses. */
  | { readonly kind: "reference"; readonly code: string; readonly source: string }
  /** `${…}`: `code` is the body of a function. */
  | { readonly kind: "body"; readonly code: string; readonly source: string };

/** How backslashes are read: v1.2 keeps those that escape nothing, earlier versions drop them all. */
export type Escaping = "v1.0" | "v1.2";

/** Whether a string can hold an expression at all; strings that cannot are taken literally, backslashes included. */
export function mayHoldExpression(text: string): boolean {
  return text.includes("$(") || text.includes("${");
}

/**
 * Splits a string into text and expressions. With `javascript` false only `$(…)` counts.
 * Throws a SyntaxError when an expression has no end.
 */
export function scanExpressions(text: string, options: { javascript: boolean; escaping: Escaping }): Piece[] {
  const pieces: Piece[] = [];
  let literal = "";
  const flush = (): void => {
    if (literal !== "") {
      pieces.push({ kind: "text", text: literal });
      literal = "";
    }
  };
  for (let i = 0; i < text.length;) {
    const next = text[i + 1];
    if (text[i] === "\\" && next !== undefined) {
      const opens = next === "$" && (text[i + 2] === "(" || text[i + 2] === "{");
      literal += options.escaping === "v1.0" || opens || next === "\\" ? next : `\\${next}`;
      i += 2;
    } else if (text[i] === "$" && (next === "(" || (next === "{" && options.javascript))) {
      const end = findEnd(text, i + 1);
      if (end === -1) {
        throw new SyntaxError(`the expression that starts at ${JSON.stringify(text.slice(i, i + 30))} has no end`);
      }
      flush();
      const code = text.slice(i + 2, end);
      pieces.push({ kind: next === "(" ? "reference" : "body", code, source: text.slice(i, end + 1) });
      i = end + 1;
    } else {
      literal += text[i] ?? "";
      i += 1;
    }
  }
  flush();
  return pieces;
}

/** Index of the bracket that closes the one at `start`; strings, comments and regular expressions are skipped. */
function findEnd(text: string, start: number): number {
  const stack: string[] = [];
  const skipper = new Skipper(text, start);
  let braces = 0;
  for (let i = start; i < text.length; i += 1) {
    const char = text[i] ?? "";
    const end = skipper.skip(i, braces > 0);
    if (end !== undefined) {
      i = end;
    } else if (char === "(" || char === "{") {
      stack.push(char === "(" ? ")" : "}");
      braces += char === "{" ? 1 : 0;
    } else if (char === stack.at(-1)) {
      stack.pop();
      braces -= char === "}" ? 1 : 0;
      if (stack.length === 0) {
        return i;
      }
    }
  }
  return -1;
}

/** How deep the brackets of JavaScript are nested; those in strings, comments and regular expressions do not count. */
export function nestingOf(code: string): number {
  const skipper = new Skipper(code, 0);
  let [depth, deepest] = [0, 0];
  for (let i = 0; i < code.length; i += 1) {
    const char = code[i] ?? "";
    const end = skipper.skip(i, true);
    if (end !== undefined) {
      i = end;
    } else if (char === "(" || char === "[" || char === "{") {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (char === ")" || char === "]" || char === "}") {
      depth = Math.max(0, depth - 1);
    }
  }
  return deepest;
}

/** Finds what of a script is no code. */
class Skipper {
  private readonly text: string;
  private readonly start: number;
  private noRegExpBefore = 0;

  constructor(text: string, start: number) {
    this.text = text;
    this.start = start;
  }

  /** Index of the last character of the escape, string, comment or regular expression that begins at `at`; undefined where none does. */
  skip(at: number, lineComments: boolean): number | undefined {
    const { text } = this;
    const char = text[at] ?? "";
    if (char === "\\") {
      return at + 1;
    }
    if (char === "'" || char === '"' || char === "`") {
      return skipQuoted(text, at, char);
    }
    if (char !== "/") {
      return undefined;
    }
    if (text[at + 1] === "/" && lineComments) {
      return skipTo(text, at, "\n");
    }
    if (text[at + 1] === "*") {
      return skipTo(text, at + 2, "*/") + 1;
    }
    if (at >= this.noRegExpBefore && startsRegExp(text, this.start, at)) {
      const end = skipRegExp(text, at);
      // Without an end it divides, and so do all others on its line: looking again for each would take long.
      this.noRegExpBefore = end === at ? skipTo(text, at, "\n") : 0;
      return end;
    }
    return undefined;
  }
}

function skipQuoted(text: string, start: number, quote: string): number {
  for (let i = start + 1; i < text.length; i += 1) {
    if (text[i] === "\\") {
      i += 1;
    } else if (text[i] === quote) {
      return i;
    }
  }
  return text.length;
}

function skipTo(text: string, start: number, end: string): number {
  const index = text.indexOf(end, start);
  return index === -1 ? text.length : index;
}

/** A slash after an operator or an opening bracket begins a regular expression; after a value it divides. */
function startsRegExp(text: string, start: number, at: number): boolean {
  let end = at;
  while (end > start && /\s/.test(text[end - 1] ?? "")) {
    end -= 1;
  }
  return /(?:[(,=:[!&|?{};+]|\breturn)$/.test(text.slice(Math.max(start, end - "(return".length), end));
}

function skipRegExp(text: string, start: number): number {
  let inClass = false;
  for (let i = start + 1; i < text.length && text[i] !== "\n"; i += 1) {
    if (text[i] === "\\") {
      i += 1;
    } else if (text[i] === "[") {
      inClass = true;
    } else if (text[i] === "]") {
      inClass = false;
    } else if (text[i] === "/" && !inClass) {
      return i;
    }
  }
  // No end on this line: it was a division after all.
  return start;
}
