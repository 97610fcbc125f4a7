import { createReadStream, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { readLastLines } from "./supervisor/log-tail.ts";

const POLL_MS = 200;

/** A file's last lines and whatever is added, until the signal. Survives the file's being cut by rotation. */
export async function* followFile(file: string, lines: number, signal: AbortSignal): AsyncGenerator<string> {
  let position = sizeOf(file);
  for (const line of readLastLines(file, lines, 16 * 1024 * 1024)) {
    yield line;
  }
  let rest = "";
  while (!signal.aborted) {
    const size = sizeOf(file);
    if (size < position) {
      position = 0;
    }
    if (size > position) {
      for await (const chunk of createReadStream(file, { start: position, end: size - 1, encoding: "utf8" })) {
        const parts = `${rest}${String(chunk)}`.split("\n");
        rest = parts.pop() ?? "";
        yield* parts;
      }
      position = size;
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
