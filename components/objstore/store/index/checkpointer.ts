import { Worker } from "node:worker_threads";

/** Copies the write-ahead log into the database on another thread, because its fsyncs would hold up every request. */
export class Checkpointer {
  readonly #path: string;
  #worker: Worker | undefined;
  #finish: (() => void) | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Starts a checkpoint unless one is running; calls `finish` on this thread when it is done. */
  start(finish: () => void): void {
    if (this.#finish !== undefined) {
      return;
    }
    this.#finish = finish;
    if (this.#worker === undefined) {
      this.#worker = new Worker(new URL("./checkpoint-worker.ts", import.meta.url), { workerData: this.#path });
      this.#worker.unref();
      this.#worker.on("message", () => {
        const done = this.#finish;
        this.#finish = undefined;
        done?.();
      });
      this.#worker.on("error", (error) => {
        throw error;
      });
    }
    this.#worker.postMessage("checkpoint");
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }
}
