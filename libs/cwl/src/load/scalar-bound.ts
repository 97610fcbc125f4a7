import { Lexer } from "yaml";

/** The lexer marks plain scalars with this; quoted and block ones begin with their own sign. */
const PLAIN_SCALAR = "\u001f";
const FIRSTS: ReadonlySet<string> = new Set([PLAIN_SCALAR, '"', "'", "|", ">", "*", "[", "{"]);

/**
 * Whether a YAML text has more scalars (keys are some), aliases and collections in brackets than `most`. The lexer tells it in a small part
 * of the time that the parser takes for the text, and no further than up to there.
 */
export function hasMoreScalars(text: string, most: number): boolean {
  let found = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (FIRSTS.has(lexeme[0] ?? "") && (found += 1) > most) {
      return true;
    }
  }
  return false;
}
