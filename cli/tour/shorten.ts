import { showLines } from "../view/show-lines.ts";

/** What a command answered, as much as a person would read, long lines cut. */
export function shorten(text: string, columns: number): string {
  return showLines(text)
    .map((line) => `${line.length > columns ? `${line.slice(0, columns - 1)}…` : line}\n`)
    .join("");
}
