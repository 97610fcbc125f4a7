import { FilterError } from "./expression.ts";

export type Token =
  | { readonly type: "word" | "quoted" | "string"; readonly text: string; readonly at: number }
  | { readonly type: "number"; readonly value: number; readonly text: string; readonly at: number }
  | { readonly type: "symbol"; readonly text: string; readonly at: number }
  | { readonly type: "end"; readonly text: ""; readonly at: number };

const BLANK = /\s+/y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
/** Identifiers of CQL2 text: letters of every script, `:`, `_`; then also digits and `.`. */
const WORD = /[:_\p{L}][:_.\p{L}\p{M}\p{N}]*/uy;
const SYMBOL = /<>|<=|>=|[=<>()+\-*/%^,]/y;
const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    a: "\u0007",
    b: "\b",
    t: "\t",
    n: "\n",
    v: "\v",
    f: "\f",
    r: "\r",
  }),
);

/** The tokens of a filter in CQL2 text. @throws {FilterError} naming the character at fault */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  while (at < text.length) {
    const blank = match(BLANK);
    if (blank !== undefined) {
      at += blank.length;
      continue;
    }
    const first = text[at];
    if (first === "'") {
      const { value, end } = readString(text, at);
      tokens.push({ type: "string", text: value, at });
      at = end;
      continue;
    }
    if (first === '"') {
      const end = text.indexOf('"', at + 1);
      if (end === -1) {
        throw new FilterError(`the name that begins at character ${at + 1} of the filter has no closing quote (")`);
      }
      tokens.push({ type: "quoted", text: text.slice(at + 1, end), at });
      at = end + 1;
      continue;
    }
    const number = match(NUMBER);
    const word = number === undefined ? match(WORD) : undefined;
    const symbol = number === undefined && word === undefined ? match(SYMBOL) : undefined;
    const found = number ?? word ?? symbol;
    if (found === undefined) {
      throw new FilterError(`character ${at + 1} of the filter, ${JSON.stringify(first)}, is not part of CQL2`);
    }
    tokens.push(
      number === undefined
        ? { type: word === undefined ? "symbol" : "word", text: found, at }
        : { type: "number", value: Number(number), text: number, at },
    );
    at += found.length;
  }
  tokens.push({ type: "end", text: "", at });
  return tokens;
}

/** `''` and `\'` are a quote; control characters are escaped as in C. Any other backslash stays, as patterns of LIKE need it. */
function readString(text: string, start: number): { value: string; end: number } {
  let value = "";
  let at = start + 1;
  for (;;) {
    const character = text[at];
    if (character === undefined) {
      throw new FilterError(`the text that begins at character ${start + 1} of the filter has no closing quote (')`);
    }
    const next = text[at + 1];
    if (character === "'" && next !== "'") {
      return { value, end: at + 1 };
    }
    if (character === "'" || (character === "\\" && next === "'")) {
      value += "'";
      at += 2;
    } else if (character === "\\" && next !== undefined && ESCAPES.get(next) !== undefined) {
      value += ESCAPES.get(next);
      at += 2;
    } else if (character === "\\" && next === "\\") {
      value += "\\\\";
      at += 2;
    } else {
      value += character;
      at += 1;
    }
  }
}
