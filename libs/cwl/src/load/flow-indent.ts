import { TextScanner } from "./text-scanner.ts";

/** Most characters that are added to a text; more means that it is broken rather than loosely written. */
const MAX_ADDED_CHARACTERS = 2_000_000;

/** A text in which lines were moved to the right, and by how much, by their numbers (from 1). */
export interface MovedText {
  readonly text: string;
  readonly shifts: ReadonlyMap<number, number>;
}

/**
 * YAML wants the lines of a list in brackets, and those of a text in quotes, indented deeper than the key that holds them;
 * many documents have them at the margin, and other readers let that pass. This moves such lines, whose leading blanks mean
 * nothing. Gives undefined when there is no such line.
 */
export function indentFlowLines(text: string): MovedText | undefined {
  const shifts = new Map<number, number>();
  const pieces: string[] = [];
  let added = 0;
  let copied = 0;
  let line = 1;
  let counted = 0;
  for (const { start, end, indent } of new TextScanner(text).flows()) {
    for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
      const own = indentAt(text, at + 1);
      if (own === undefined || own >= indent) {
        continue;
      }
      added += indent - own;
      if (added > MAX_ADDED_CHARACTERS) {
        return undefined;
      }
      for (; counted <= at; counted += 1) {
        line += text[counted] === "\n" ? 1 : 0;
      }
      shifts.set(line, indent - own);
      pieces.push(text.slice(copied, at + 1), " ".repeat(indent - own));
      copied = at + 1;
    }
  }
  return shifts.size === 0 ? undefined : { text: pieces.join("") + text.slice(copied), shifts };
}

/** Blanks before the first character of a line; undefined for an empty line. */
function indentAt(text: string, start: number): number | undefined {
  let at = start;
  while (text[at] === " " || text[at] === "\t") {
    at += 1;
  }
  return at >= text.length || text[at] === "\n" || text[at] === "\r" ? undefined : at - start;
}
