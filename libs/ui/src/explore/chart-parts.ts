/** What charts of values have in common. */
export const CHART = { width: 420, height: 150, pad: 24 } as const;
export const COLOURS = ["#e8590c", "#1971c2", "#2f9e44", "#9c36b5"] as const;

export function formatNumber(value: number | null): string {
  return value === null ? "–" : Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** A name in a table, whatever it holds. */
export const quoteCell = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Gives the reader a table as a file. */
export function saveCsv(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
