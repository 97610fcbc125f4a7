export interface JsonMistake {
  readonly message: string;
  /** Counted from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** Reads a JSON object; otherwise what is wrong and, where the browser says so, in which line. */
export function parseJson(text: string): { readonly value: object } | { readonly mistake: JsonMistake } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? { value }
      : { mistake: { message: "A policy is a JSON object: it begins with { and ends with }." } };
  } catch (error) {
    return { mistake: locate((error as Error).message, text) };
  }
}

function locate(message: string, text: string): JsonMistake {
  const place = /\(line (\d+) column (\d+)\)/.exec(message) ?? /at line (\d+) column (\d+)/.exec(message);
  const plain = message.replace(/ in JSON at position .*$| \(line .*$| of the JSON data$/, "");
  if (place !== null) {
    return { message: plain, line: Number(place[1]), column: Number(place[2]) };
  }
  const position = /position (\d+)/.exec(message)?.[1];
  const end = /end of JSON|end of data/i.test(message) ? text.length : undefined;
  const at = position === undefined ? end : Number(position);
  if (at === undefined) {
    return { message: plain };
  }
  const lines = text.slice(0, at).split("\n");
  return { message: plain, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
