import { Worker } from "node:worker_threads";

import { RasterError, checkCancelled, invalidRaster, toCancelled } from "../../errors.ts";
import type { Source } from "../../sources/source.ts";
import { type FromHdf5, type Hdf5Start, MAILBOX_BYTES, MAILBOX_HEADER_BYTES, type ToHdf5 } from "./messages.ts";

/** How long the library may go on with what nobody waits for any more. */
const GRACE_MS = 2000;
/** What one question may take, bytes included, whoever asks. */
const MAX_CALL_MS = 60_000;
/** Threads at a time of one engine: each has a library in its memory. */
const MAX_THREADS = 4;
const MAX_HEAP_MB = 128;

interface Running {
  readonly worker: Worker;
  readonly header: Int32Array;
  readonly box: Uint8Array;
  /** It has said something: what ends it from then on is the data's doing. */
  hasBegun: boolean;
  /** Ends the call that the thread is at. */
  fail?: (error: Error) => void;
}

const idle = new Set<Hdf5Thread>();

/** The HDF5 library with one file, in a thread of its own that can be ended at any moment; it starts again when it is needed. */
export class Hdf5Thread {
  readonly #source: Source;
  readonly #size: number;
  #running: Running | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  readonly #heapMb: number;

  /** @param heapMb memory of the thread beside that of the library */
  constructor(source: Source, size: number, heapMb = MAX_HEAP_MB) {
    this.#source = source;
    this.#size = size;
    this.#heapMb = heapMb;
  }

  /** One question after the other. */
  async send<K extends FromHdf5["kind"]>(
    message: ToHdf5,
    response: K,
    signal?: AbortSignal,
  ): Promise<Extract<FromHdf5, { kind: K }>> {
    checkCancelled(signal);
    this.#waiting += 1;
    idle.delete(this);
    const turn = this.#turn.then(async () => {
      checkCancelled(signal);
      return this.#call(message, signal);
    });
    this.#turn = turn.catch(() => undefined).then(() => this.#rest());
    const provided = await turn;
    if (provided.kind === "failed") {
      throw invalidRaster(`The HDF5 data cannot be read: ${provided.message.split("\n")[0]?.slice(0, 200) ?? ""}`);
    }
    if (provided.kind !== response) {
      throw invalidRaster("The HDF5 data cannot be read.");
    }
    return provided as Extract<FromHdf5, { kind: K }>;
  }

  async close(): Promise<void> {
    idle.delete(this);
    await this.#end(new RasterError("cancelled", "The source was closed."));
  }

  #rest(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0 && this.#running !== undefined) {
      idle.add(this);
      for (const oldest of idle) {
        if (idle.size <= MAX_THREADS) {
          break;
        }
        void oldest.close();
      }
    }
  }

  async #call(message: ToHdf5, signal: AbortSignal | undefined): Promise<FromHdf5> {
    const running = (this.#running ??= this.#start());
    const limit = AbortSignal.timeout(MAX_CALL_MS);
    const both = signal === undefined ? limit : AbortSignal.any([signal, limit]);
    return new Promise<FromHdf5>((resolve, reject) => {
      let sourceError: unknown;
      const finish = (work: () => void) => {
        running.worker.off("message", receive);
        both.removeEventListener("abort", abort);
        delete running.fail;
        work();
      };
      const receive = (provided: FromHdf5) => {
        if (provided.kind === "bytes") {
          void this.#giveBytes(running, provided.offset, provided.length, both).catch((error: unknown) => {
            sourceError ??= error;
          });
          return;
        }
        if (provided.kind === "failed" && this.#running === running) {
          // What an exception leaves in the library's memory is not read with: the next question starts a new thread.
          this.#running = undefined;
          void running.worker.terminate();
        }
        // What the source did wrong says more than what the library makes of it.
        finish(() =>
          provided.kind === "failed" && sourceError !== undefined ? reject(sourceError as Error) : resolve(provided),
        );
      };
      const abort = () => {
        // Bytes that are waited for do not come, so that the library returns by itself, or else is ended.
        setTimeout(() => {
          if (running.fail !== undefined) {
            void this.#end(toCancelled(both));
          }
        }, GRACE_MS).unref();
      };
      running.fail = (error) => finish(() => reject(error));
      running.worker.on("message", receive);
      both.addEventListener("abort", abort, { once: true });
      running.worker.postMessage(message);
    });
  }

  async #giveBytes({ header, box: bbox }: Running, offset: number, length: number, signal: AbortSignal): Promise<void> {
    let provided = -1;
    try {
      const bytes = await this.#source.read(offset, Math.min(length, bbox.length), signal);
      bbox.set(bytes);
      provided = bytes.length;
    } finally {
      header[1] = provided;
      Atomics.store(header, 0, 1);
      Atomics.notify(header, 0);
    }
  }

  #start(): Running {
    const mailbox = new SharedArrayBuffer(MAILBOX_HEADER_BYTES + MAILBOX_BYTES);
    const worker = new Worker(new URL("worker.ts", import.meta.url), {
      workerData: { size: this.#size, mailbox } satisfies Hdf5Start,
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMb },
      stderr: true,
      stdout: true,
    });
    worker.unref();
    const running: Running = {
      worker,
      header: new Int32Array(mailbox, 0, 2),
      box: new Uint8Array(mailbox, MAILBOX_HEADER_BYTES),
      hasBegun: false,
    };
    worker.once("message", () => (running.hasBegun = true));
    const lose = () => {
      if (this.#running === running) {
        this.#running = undefined;
      }
      running.fail?.(
        running.hasBegun
          ? invalidRaster("The HDF5 library ended over the data.")
          : // No fault of the data, which it has not seen: the pool counts it.
            new Error("the thread of the HDF5 library did not start"),
      );
    };
    worker.on("error", lose);
    worker.on("exit", lose);
    return running;
  }

  async #end(error: Error): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running !== undefined) {
      running.fail?.(error);
      await running.worker.terminate();
    }
  }
}
