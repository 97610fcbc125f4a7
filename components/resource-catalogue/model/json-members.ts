/** Where a value stands in a JSON text, in UTF-16 units: `from` is its first, `to` the one after its last. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

/** Objects and arrays inside each other that a document may have. */
export const MAX_JSON_DEPTH = 64;

/** A text that is JSON and yet cannot be taken. */
export class JsonStructureError extends Error {
  override readonly name = "JsonStructureError";
}

/**
 * The members of the object that begins at `start`, by name. The text must be valid JSON.
 * @throws {JsonStructureError} for a member that occurs twice, and beyond MAX_JSON_DEPTH
 */
export function findMembers(text: string, start = 0): Map<string, Place> {
  const members = new Map<string, Place>();
  let index = skipBlanks(text, start) + 1;
  for (;;) {
    index = skipBlanks(text, index);
    const code = text.charCodeAt(index);
    if (code === CLOSE_BRACE) {
      return members;
    }
    if (code === COMMA) {
      index += 1;
      continue;
    }
    const keyEnd = skipString(text, index);
    const quoted = text.slice(index, keyEnd);
    const key = quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
    const from = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const to = skipValue(text, from);
    if (members.has(key)) {
      throw new JsonStructureError(`the member ${JSON.stringify(key)} occurs twice`);
    }
    members.set(key, { from, to });
    index = to;
  }
}

/** The elements of the array that begins at `start`. The text must be valid JSON. */
export function findElements(text: string, start: number): Place[] {
  const elements: Place[] = [];
  let index = skipBlanks(text, start) + 1;
  for (;;) {
    index = skipBlanks(text, index);
    const code = text.charCodeAt(index);
    if (code === CLOSE_BRACKET) {
      return elements;
    }
    if (code === COMMA) {
      index += 1;
      continue;
    }
    const to = skipValue(text, index);
    elements.push({ from: index, to });
    index = to;
  }
}

function skipBlanks(text: string, start: number): number {
  let index = start;
  for (;;) {
    const code = text.charCodeAt(index);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) {
      return index;
    }
    index += 1;
  }
}

/** The index after the string that begins at `start`. */
function skipString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) {
    end = text.indexOf('"', end + 1);
  }
  return end + 1;
}

function isEscaped(text: string, index: number): boolean {
  let before = index - 1;
  while (text.charCodeAt(before) === BACKSLASH) {
    before -= 1;
  }
  return (index - before) % 2 === 0;
}

function skipValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) {
    return skipString(text, start);
  }
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    let index = start;
    for (;;) {
      const code = text.charCodeAt(index);
      if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 0x20 || Number.isNaN(code)) {
        return index;
      }
      index += 1;
    }
  }
  let depth = 0;
  let index = start;
  for (;;) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = skipString(text, index);
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) {
        throw new JsonStructureError(`has more than ${MAX_JSON_DEPTH} objects and arrays inside each other`);
      }
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) {
        return index + 1;
      }
    }
    index += 1;
  }
}
