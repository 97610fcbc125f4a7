import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { toJson } from "../model/values.ts";
import { syncPaths } from "./file-stamps.ts";

interface Pending {
  readonly line: string;
  readonly files: readonly string[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A file of JSON lines that only grows. What was half written when the process died is cut off at the next start. */
export class JournalLog {
  private readonly handle: number;
  private waiting: Pending[] = [];
  private flushing: Promise<void> | undefined;
  private closed = false;

  private constructor(handle: number) {
    this.handle = handle;
  }

  /** Opens the file and gives the records that are whole. */
  static async open(path: string): Promise<{ readonly log: JournalLog; readonly records: unknown[] }> {
    const handle = openSync(path, "a+", 0o600);
    const text = readFileSync(handle, "utf8");
    const records: unknown[] = [];
    let good = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", good)) {
      try {
        records.push(parse(text.slice(good, end)));
      } catch {
        // A block that never reached the disk: nothing behind it can be trusted either.
        break;
      }
      good = end + 1;
    }
    ftruncateSync(handle, Buffer.byteLength(text.slice(0, good)));
    await syncPaths([dirname(path)]);
    return { log: new JournalLog(handle), records };
  }

  /** Writes a record at once. It outlives this process, and a loss of power once a durable one follows it. */
  write(record: object): void {
    if (this.closed) {
      // Nobody reads it any more, and the number of the file may be another's by now.
      return;
    }
    writeSync(this.handle, `${toJson(record)}\n`);
  }

  /**
   * Writes a record when the files that it speaks of are on the disk, and resolves when it is there too. Records that
   * come while the disk is busy share its next write.
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
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        await syncPaths(batch.flatMap((item) => item.files));
        writeSync(this.handle, batch.map((item) => item.line).join(""));
        fdatasyncSync(this.handle);
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
