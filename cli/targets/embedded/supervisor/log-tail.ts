import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** The last lines of a file, without reading the rest of it. */
export function readLastLines(file: string, count: number, maximumBytes = 64 * 1024): readonly string[] {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return [];
    }
    throw error;
  }
  try {
    const { size } = fstatSync(descriptor);
    const length = Math.min(size, maximumBytes);
    const buffer = Buffer.alloc(length);
    readSync(descriptor, buffer, 0, length, size - length);
    return buffer.toString("utf8").split("\n").filter(Boolean).slice(-count);
  } finally {
    closeSync(descriptor);
  }
}

/** The last thing a program said, short: the message of a JSON line, or the line itself. */
export function readLastLine(file: string): string | undefined {
  const [line] = readLastLines(file, 1);
  if (line === undefined) {
    return undefined;
  }
  try {
    const entry = JSON.parse(line) as { msg?: string; err?: { message?: string }; mistakes?: readonly string[] };
    return [entry.msg, entry.err?.message, ...(entry.mistakes ?? [])].filter(Boolean).join(": ") || line;
  } catch {
    return line.slice(0, 500);
  }
}
