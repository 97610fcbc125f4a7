/** A line of a log, taken apart for reading. */
export interface LogLine {
  readonly id: number;
  readonly raw: string;
  /** `08:14:05` */
  readonly time: string;
  readonly level: string;
  readonly message: string;
  /** Further members, as JSON. */
  readonly detail: string;
}

/** Services log JSON lines; everything else is shown as it is. */
export function parseLog(text: string): readonly LogLine[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((raw, id) => ({ id, raw, ...(parseJsonLine(raw) ?? { time: "", level: "", message: raw, detail: "" }) }));
}

function parseJsonLine(line: string): Omit<LogLine, "id" | "raw"> | undefined {
  if (!line.startsWith("{")) {
    return undefined;
  }
  try {
    const { time, level, msg, name: _name, ...rest } = JSON.parse(line) as Record<string, unknown>;
    return {
      time: typeof time === "string" ? time.slice(11, 19) : "",
      level: typeof level === "string" ? level : "",
      message: typeof msg === "string" ? msg : "",
      detail: Object.keys(rest).length === 0 ? "" : JSON.stringify(rest),
    };
  } catch {
    // A line that was cut off is shown as it is.
    return undefined;
  }
}
