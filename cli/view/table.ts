interface TableOptions {
  /** Smallest width of each column, so that tables printed in pieces line up. */
  readonly minimums?: readonly number[];
  readonly indent?: string;
}

/** Columns of equal width, two spaces apart. Ends with a line feed. */
export function formatTable(
  rows: readonly (readonly string[])[],
  { minimums = [], indent = "" }: TableOptions = {},
): string {
  const widths = rows.reduce<readonly number[]>(
    (found, row) => row.map((cell, index) => Math.max(cell.length, found[index] ?? minimums[index] ?? 0)),
    [],
  );
  return rows
    .map((row) => `${indent}${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  ")}`.trimEnd())
    .map((line) => `${line}\n`)
    .join("");
}
