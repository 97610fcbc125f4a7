/** A JSON log line as a person reads it: time, level, message, cause; anything else as it is, cut to a screen's width. */
export function formatLogLine(line: string): string {
  try {
    const { time, level, msg, err, mistakes } = JSON.parse(line) as Partial<LogEntry>;
    const parts = [msg, err?.message, ...(mistakes ?? [])].filter((part) => part !== undefined && part !== "");
    return parts.length === 0 ? cut(line) : `${time?.slice(11, 23) ?? ""} ${level ?? ""} ${parts.join(": ")}`.trim();
  } catch {
    return cut(line);
  }
}

interface LogEntry {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly err: { readonly message?: string };
  readonly mistakes: readonly string[];
}

function cut(line: string): string {
  return line.length > 300 ? `${line.slice(0, 300)} ...` : line;
}
