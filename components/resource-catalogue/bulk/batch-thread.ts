import { Worker } from "node:worker_threads";

import { Problem, type ProblemBody } from "@swath/service";

import { toCopyLines } from "../store/copy-lines.ts";
import type { CopyLine, PreparedRecord } from "../store/record-columns.ts";
import type { Batch, BatchResult } from "./prepare-batch.ts";

/** How long a thread without work is kept. */
const IDLE_MS = 20_000;
/** Batches that wait for a thread; more are refused. */
const MAX_WAITING = 200;
/** Memory of the thread: what a batch leaves behind is young; a body of 32 MiB with all that is made of it fits in. */
const MAX_YOUNG_MIB = 16;
const MAX_OLD_MIB = 512;

/** A batch that is ready for the store. */
export interface PreparedBatch extends Omit<BatchResult, "lines"> {
  readonly records: readonly PreparedRecord[];
  /**
   * Frees the lines of the records, once they are stored. Left to the garbage collector, megabytes outside of its heap make it mark the
   * whole heap again and again.
   */
  readonly release: () => void;
}

interface Task {
  readonly resolve: (prepared: PreparedBatch) => void;
  readonly reject: (error: Error) => void;
}

interface Reply {
  readonly id: number;
  readonly result?: BatchResult;
  readonly problem?: { readonly status: number; readonly body: ProblemBody };
  readonly message?: string;
}

/** Makes batches ready in a thread of its own, which lives while there is work. */
export class BatchThread {
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #next = 0;
  readonly #tasks = new Map<number, Task>();
  readonly #isLenient: boolean;

  constructor(isLenient: boolean) {
    this.#isLenient = isLenient;
  }

  /** @throws {Problem} what is wrong with the items; 503 when too many wait */
  prepare(batch: Batch): Promise<PreparedBatch> {
    if (this.#tasks.size >= MAX_WAITING) {
      throw new Problem(503, "Too many items wait to be loaded; try again in a moment.", {
        headers: { "retry-after": "5" },
      });
    }
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const id = this.#next;
    this.#next += 1;
    return new Promise((resolve, reject) => {
      this.#tasks.set(id, { resolve, reject });
      const { buffer, byteLength } = batch.bytes;
      // Lines have their buffer to themselves, and are not needed here any more.
      const isOwn = batch.form === "lines" && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
      worker.postMessage({ id, batch }, isOwn ? [buffer] : []);
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL("worker.ts", import.meta.url), {
      workerData: { isLenient: this.#isLenient },
      resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MIB, maxOldGenerationSizeMb: MAX_OLD_MIB },
    });
    worker.on("message", (reply: Reply) => this.#settle(reply));
    worker.on("error", (error) => this.#fail(error));
    worker.on("exit", () => {
      if (this.#worker === worker) {
        this.#fail(new Error("the thread that prepares items ended"));
      }
    });
    return worker;
  }

  #settle({ id, result, problem, message }: Reply): void {
    const task = this.#tasks.get(id);
    this.#tasks.delete(id);
    if (result !== undefined) {
      const { lines, ...rest } = result;
      const cells = toCopyLines(lines);
      task?.resolve({
        ...rest,
        records: lines.ids.map((id, index) => ({
          id,
          isCollection: false,
          time: lines.times[index],
          cells: cells[index] as CopyLine,
        })),
        release: () => {
          lines.bytes.buffer.transfer(0);
        },
      });
    } else if (problem === undefined) {
      task?.reject(new Error(message));
    } else {
      const { status, body } = problem;
      task?.reject(new Problem(status, body.detail ?? body.title, { extensions: body }));
    }
    if (this.#tasks.size === 0) {
      this.#idle = setTimeout(() => {
        const worker = this.#worker;
        this.#worker = undefined;
        void worker?.terminate();
      }, IDLE_MS);
      this.#idle.unref();
    }
  }

  #fail(error: Error): void {
    this.#worker = undefined;
    for (const task of this.#tasks.values()) {
      task.reject(error);
    }
    this.#tasks.clear();
  }
}
