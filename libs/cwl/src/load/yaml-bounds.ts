import { Lexer } from "yaml";

/** The lexer marks plain scalars with this; quoted and block ones begin with their own sign. */
const PLAIN_SCALAR = "\u001f";
const FIRSTS: ReadonlySet<string> = new Set([PLAIN_SCALAR, '"', "'", "|", ">", "*", "[", "{"]);

/** What a YAML text may have, so that its parser is done in a bounded time. */
export interface YamlBounds {
  /** Scalars (keys are some), aliases and collections in brackets. */
  readonly scalars: number;
  /** These with all other signs and ends of lines; the parser takes some microseconds for each. */
  readonly tokens: number;
}

/**
 * Says what a YAML text has too much of. The lexer tells it in a small part of the time that the parser takes for the text, and reads no
 * further than up to there.
 */
export function findExcess(text: string, { scalars, tokens }: YamlBounds): string | undefined {
  let foundScalars = 0;
  let foundTokens = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const first = lexeme[0] ?? "";
    if (FIRSTS.has(first) && (foundScalars += 1) > scalars) {
      return `more than ${scalars} keys and values`;
    }
    if (first !== " " && first !== PLAIN_SCALAR && (foundTokens += 1) > tokens) {
      return `more than ${tokens} tokens of YAML`;
    }
  }
  return undefined;
}

/**
 * Calls a parser that makes an error object for each mistake of a text. A text can have a hundred thousand, and the stack trace of each,
 * which nobody reads, would cost more than all else.
 */
export function withoutStackTraces<T>(parse: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parse();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
