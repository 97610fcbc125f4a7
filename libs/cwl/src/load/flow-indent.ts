/** How far a line is moved; deeper than documents are nested. */
const distance = 64;

/** Most moves before a text counts as broken rather than as loosely written. */
const mostMoves = 100;

/** Most characters that are read again, over all moves. */
const MAX_REREAD_CHARACTERS = 5_000_000;

/** A text in which lines were moved to the right, and by how much, by their numbers (from 1). */
export interface MovedText {
  readonly text: string;
  readonly shifts: ReadonlyMap<number, number>;
}

/**
 * YAML wants the lines of a list in brackets indented deeper than the key that holds it; many documents end theirs with
 * a bracket at the margin, and other readers let that pass. This moves such lines until the parser has no more to say
 * about them. `complaint` gives the offset of the first one in a text, or undefined.
 */
export function indentFlowLines(text: string, complaint: (text: string) => number | undefined): MovedText {
  const shifts = new Map<number, number>();
  let moved = text;
  let lastLine = 0;
  for (let move = 0; move < mostMoves && move * text.length < MAX_REREAD_CHARACTERS; move += 1) {
    const offset = complaint(moved);
    if (offset === undefined) {
      return { text: moved, shifts };
    }
    const from = moved.lastIndexOf("\n", offset - 1) + 1;
    const to = endOfFlow(moved, offset);
    const first = moved.slice(0, from).split("\n").length;
    if (first <= lastLine) {
      // Moving did not help.
      break;
    }
    lastLine = first;
    const lines = moved.slice(from, to).split("\n");
    for (const index of lines.keys()) {
      shifts.set(first + index, (shifts.get(first + index) ?? 0) + distance);
    }
    const pad = " ".repeat(distance);
    moved = moved.slice(0, from) + lines.map((line) => pad + line).join("\n") + moved.slice(to);
  }
  return { text, shifts: new Map() };
}

/** Offset behind the bracket that closes what an offset is inside of. */
function endOfFlow(text: string, offset: number): number {
  let depth = 1;
  for (let at = offset; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"' || char === "'") {
      at = endOfQuote(text, at);
    } else if (char === "#" && /\s/.test(text[at - 1] ?? " ")) {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end;
    } else if (char === "[" || char === "{") {
      depth += 1;
    } else if (char === "]" || char === "}") {
      depth -= 1;
      if (depth === 0) {
        return at + 1;
      }
    }
  }
  return text.length;
}

function endOfQuote(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at += 1) {
    if (quote === '"' && text[at] === "\\") {
      at += 1;
    } else if (text[at] === quote) {
      return at;
    }
  }
  return text.length;
}
