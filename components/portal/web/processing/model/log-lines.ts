/** A piece of a step's output, as the service streams it (`event: log`). */
export interface LogPiece {
  readonly step: string;
  readonly text: string;
}

export interface LogLine {
  /** Counts from 1, over lines that are gone as well. */
  readonly number: number;
  readonly step: string;
  readonly text: string;
}

/** The log of a job while it comes in: whole lines, the last `most` of them. */
export interface LogBuffer {
  readonly lines: readonly LogLine[];
  /** Lines that were given up because there were too many. */
  readonly dropped: number;
  /** The line that each step has begun. */
  readonly open: ReadonlyMap<string, string>;
  readonly count: number;
}

export const EMPTY_LOG: LogBuffer = { lines: [], dropped: 0, open: new Map(), count: 0 };

/** Puts pieces behind what is there. A line that has no end yet is kept aside, so that steps side by side do not mix. */
export function addPieces(log: LogBuffer, pieces: readonly LogPiece[], most = 20_000): LogBuffer {
  const open = new Map(log.open);
  const added: LogLine[] = [];
  let { count } = log;
  for (const { step, text } of pieces) {
    const parts = `${open.get(step) ?? ""}${text}`.split("\n");
    open.set(step, parts.pop() ?? "");
    for (const part of parts) {
      count += 1;
      added.push({ number: count, step, text: cleanLine(part) });
    }
  }
  const lines = [...log.lines, ...added];
  const excess = Math.max(0, lines.length - most);
  return { lines: lines.slice(excess), dropped: log.dropped + excess, open, count };
}

/** The end of the log: lines that never got their end are lines too. */
export function closeLog(log: LogBuffer): LogBuffer {
  const rest = [...log.open].filter(([, text]) => text !== "").map(([step]) => ({ step, text: "\n" }));
  return addPieces(log, rest);
}

// oxlint-disable-next-line no-control-regex -- escape sequences are what is taken out
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** A line as a terminal would leave it: without colours, and only what stands after the last return. */
function cleanLine(text: string): string {
  const plain = text.replaceAll(ESCAPES, "").replace(/\r$/, "");
  return plain.slice(plain.lastIndexOf("\r") + 1);
}
