/** Lines that a person reads before the rest is only counted. */
const MAX_LINES = 10;

/** The first lines of what a service answered, JSON indented, and a count of those left out. */
export function showLines(text: string, most: number = MAX_LINES): readonly string[] {
  const lines = toLines(text);
  return lines.length > most + 2 ? [...lines.slice(0, most), `… ${lines.length - most} more lines`] : lines;
}

function toLines(text: string): readonly string[] {
  if (text.trim() === "") {
    return [];
  }
  try {
    return JSON.stringify(JSON.parse(text), null, 2).split("\n");
  } catch {
    return text.trimEnd().split("\n");
  }
}
