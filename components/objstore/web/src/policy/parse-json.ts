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
  const plain = message.replace(/,? \.\.\..*$|, ".*$| in JSON at position .*$| \(line .*$/s, "");
  const position = /at position (\d+)/.exec(message)?.[1];
  const at = position === undefined ? findMistake(text) : Number(position);
  const lines = text.slice(0, at).split("\n");
  return { message: plain, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** Browsers do not always say where: the mistake is at the end of the shortest beginning that could not become JSON. */
function findMistake(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (middle <= text.length && mayGoOn(text.slice(0, middle))) {
      good = middle;
    } else {
      bad = middle;
    }
  }
  return good;
}

function mayGoOn(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const position = /at position (\d+)/.exec(message)?.[1];
    return position === undefined
      ? /end of JSON|unterminated/i.test(message)
      : Number(position) >= beginning.length || /unterminated/i.test(message);
  }
}
