import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { isObject, toJson } from "../model/values.ts";
import { syncPaths } from "./file-stamps.ts";

interface Pending {
  readonly line: string;
  readonly files: readonly string[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Work of less than this is done again after a loss of power rather than written to the disk at once, which takes longer than
 * the work of many a tool. The death of the process loses nothing in either case.
 */
const worthSyncingMs = 1000;

/** Says that all above it, and the files it speaks of, are on the disk. */
const syncedLine = `${JSON.stringify({ synced: true })}\n`;

/** A file of JSON lines that only grows. What was half written when the process died is cut off at the next start. */
export class JournalLog {
  private readonly handle: number;
  private readonly path: string;
  private waiting: Pending[] = [];
  private flushing: Promise<void> | undefined;
  private closed = false;
  private unsynced: string[] = [];
  private syncedAt = performance.now();

  private constructor(handle: number, path: string) {
    this.handle = handle;
    this.path = path;
  }

  /** Opens the file and gives the records that are whole, and of another boot of the machine those that are on the disk for sure. */
  static open(path: string): { readonly log: JournalLog; readonly records: unknown[] } {
    const handle = openSync(path, "a+", 0o600);
    const whole = readFileSync(handle, "utf8");
    const boot = bootLine();
    const isSameBoot = whole.includes(boot);
    const synced = whole.lastIndexOf(syncedLine);
    const certain = isSameBoot ? whole.length : synced === -1 ? 0 : synced + syncedLine.length;
    const { records, length } = parseLines(whole.slice(0, certain));
    // What was put among the outputs is to be taken away again, whether or not the rest of its record can be trusted.
    const targets = parseLines(whole.slice(certain)).records.filter((record) => isObject(record) && "target" in record);
    ftruncateSync(handle, length);
    if (!isSameBoot) {
      writeSync(handle, [boot, ...targets.map((record) => `${toJson(record as object)}\n`)].join(""));
    }
    return { log: new JournalLog(handle, path), records: [...records, ...targets] };
  }

  /** Writes a record at once. It outlives this process, and a loss of power once a synced one follows it. */
  write(record: object): void {
    if (this.closed) {
      // Nobody reads it any more, and the number of the file may be another's by now.
      return;
    }
    writeSync(this.handle, `${toJson(record)}\n`);
  }

  /**
   * Writes a record that outlives this process, and when a good deal of work would be lost with it, also a loss of power: then
   * it resolves when the files that it speaks of are on the disk and it is too. Records that come while the disk is busy share
   * its next write.
   */
  writeDurably(record: object, files: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ line: `${toJson(record)}\n`, files, resolve, reject });
      this.flushing ??= this.flush();
    });
  }

  /** Waits for what is being written. */
  async close(): Promise<void> {
    await this.flushing;
    this.closed = true;
    closeSync(this.handle);
  }

  private async flush(): Promise<void> {
    // What is recorded in the same breath goes in one write.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        this.unsynced.push(...batch.flatMap((item) => item.files));
        const isWorthIt = performance.now() - this.syncedAt >= worthSyncingMs;
        if (isWorthIt) {
          await syncPaths([...this.unsynced, this.path]);
          this.unsynced = [];
        }
        const lines = batch.map((item) => item.line).join("");
        writeSync(this.handle, isWorthIt ? `${lines}${syncedLine}` : lines);
        if (isWorthIt) {
          fdatasyncSync(this.handle);
          this.syncedAt = performance.now();
        }
        for (const item of batch) {
          item.resolve();
        }
      } catch (error) {
        for (const item of batch) {
          item.reject(error);
        }
      }
    }
    this.flushing = undefined;
  }
}

/** The records of a text, up to a line that never reached the disk as a whole: nothing behind it can be trusted either. */
function parseLines(text: string): { readonly records: unknown[]; readonly length: number } {
  const records: unknown[] = [];
  let good = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", good)) {
    try {
      records.push(parse(text.slice(good, end)));
    } catch {
      break;
    }
    good = end + 1;
  }
  return { records, length: Buffer.byteLength(text.slice(0, good)) };
}

/** Which boot of the machine wrote what follows. */
function bootLine(): string {
  let boot = "unknown";
  try {
    boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    // No Linux: every boot counts as the same, as far as this goes.
  }
  return `${JSON.stringify({ boot })}\n`;
}

/** JSON whose long integers keep their digits. */
function parse(line: string): unknown {
  if (!/\d{16}/.test(line)) {
    return JSON.parse(line);
  }
  const revive = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? BigInt(context?.source ?? 0)
      : value;
  // The type library does not know yet that a reviver sees the text of a number.
  return JSON.parse(line, revive as (key: string, value: unknown) => unknown);
}
