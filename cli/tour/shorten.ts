const MOST_LINES = 10;

/** What a command answered, as much as a person would read: JSON indented, long lines cut, a count of the lines left out. */
export function shorten(text: string, columns: number): string {
  const lines = toLines(text);
  const shown =
    lines.length > MOST_LINES + 2
      ? [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} more lines`]
      : lines;
  return shown.map((line) => `${line.length > columns ? `${line.slice(0, columns - 1)}…` : line}\n`).join("");
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
