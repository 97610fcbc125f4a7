import { Worker } from "node:worker_threads";

import type { ContentResponse, ContentCommand } from "./content-protocol.ts";
import type { ContentLabel } from "./content-trailer.ts";
import type { DigestName } from "../digests/digests.ts";

const SLOT_BYTES = 256 << 10;
const SLOTS = 4;

type Command<K extends ContentCommand["kind"]> = Omit<Extract<ContentCommand, { kind: K }>, "writer">;

interface Thread {
  readonly worker: Worker;
  readonly writers: Map<number, (response: ContentResponse) => void>;
}

/**
 * Threads that hash and write large content. All are started with the first of them: a thread that came later might load another
 * release's code, which an update has put in place meanwhile.
 */
export class ContentWriters {
  readonly #size: number;
  #threads: readonly Thread[] = [];
  /** Shared memory of finished writers, used again. */
  readonly #memory: SharedArrayBuffer[] = [];
  #next = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Opens a new file at `path` for writing. */
  async open(path: string, digests: readonly DigestName[], key?: Buffer, seed = ""): Promise<FileWriter> {
    const thread = this.#pick();
    const memory = this.#memory.pop() ?? new SharedArrayBuffer(SLOT_BYTES * SLOTS);
    const id = (this.#next += 1);
    const writer = new FileWriter(
      memory,
      (command) => thread.worker.postMessage({ ...command, writer: id }),
      () => {
        thread.writers.delete(id);
        if (this.#memory.length < 8) {
          this.#memory.push(memory);
        }
      },
    );
    thread.writers.set(id, (response) => writer.receive(response));
    try {
      await writer.start(path, digests, key && { key, seed });
    } catch (error) {
      await writer.close();
      throw error;
    }
    return writer;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  #pick(): Thread {
    while (this.#threads.length < this.#size) {
      this.#startThread();
    }
    return this.#threads.reduce((least, thread) => (thread.writers.size < least.writers.size ? thread : least));
  }

  #startThread(): void {
    const worker = new Worker(new URL("./content-worker.ts", import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
    });
    worker.unref();
    const thread: Thread = { worker, writers: new Map() };
    worker.on("message", (response: ContentResponse) => thread.writers.get(response.writer)?.(response));
    let cause: unknown;
    worker.on("error", (error) => {
      cause = error;
    });
    // Comes after an error as well: whoever waits for this thread must not wait for ever.
    worker.on("exit", (code) => {
      this.#threads = this.#threads.filter((each) => each !== thread);
      const error = cause ?? new Error(`the thread ended with ${code}`);
      for (const [writer, receive] of thread.writers) {
        receive({ writer, kind: "failed", error });
      }
    });
    this.#threads = [...this.#threads, thread];
  }
}

/** One file being written. `write` copies into shared memory; at most a megabyte is on its way at a time. */
export class FileWriter {
  readonly #memory: Uint8Array;
  readonly #send: (command: Command<"open"> | Command<"write"> | Command<"sync"> | Command<"close">) => void;
  readonly #release: () => void;
  readonly #free: number[] = Array.from({ length: SLOTS }, (_, slot) => slot * SLOT_BYTES);
  #slot: number | undefined;
  #filled = 0;
  #failure: Error | undefined;
  #isClosed = false;
  #waiting: { requested: ContentResponse["kind"]; settle: PromiseWithResolvers<ContentResponse> } | undefined;

  constructor(
    memory: SharedArrayBuffer,
    send: (command: Command<"open"> | Command<"write"> | Command<"sync"> | Command<"close">) => void,
    release: () => void,
  ) {
    this.#memory = new Uint8Array(memory);
    this.#send = send;
    this.#release = release;
  }

  async start(
    path: string,
    digests: readonly DigestName[],
    encryption?: { readonly key: Uint8Array; readonly seed: string },
  ): Promise<void> {
    this.#send({ kind: "open", path, digests, encryption, memory: this.#memory.buffer as SharedArrayBuffer });
    await this.#wait("opened");
  }

  /** Takes a copy of `chunk`: at once where memory is free, as it mostly is, else once it is. */
  write(chunk: Uint8Array): undefined | Promise<void> {
    const taken = this.#take(chunk, 0);
    return taken === chunk.length ? undefined : this.#takeRest(chunk, taken);
  }

  async #takeRest(chunk: Uint8Array, from: number): Promise<void> {
    for (let at = from; at < chunk.length; at = this.#take(chunk, at)) {
      await this.#wait("written");
    }
  }

  /** Copies what there is room for, from `at` on; gives how far it came. */
  #take(chunk: Uint8Array, from: number): number {
    this.#throwFailure();
    let at = from;
    while (at < chunk.length) {
      if (this.#slot === undefined) {
        this.#slot = this.#free.pop();
        if (this.#slot === undefined) {
          return at;
        }
        this.#filled = 0;
      }
      const count = Math.min(SLOT_BYTES - this.#filled, chunk.length - at);
      this.#memory.set(chunk.subarray(at, at + count), this.#slot + this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled === SLOT_BYTES) {
        this.#flush();
      }
    }
    return at;
  }

  /** Writes what is left and what the file says of itself, forces it to the disk and gives its digests. */
  async sync(label: ContentLabel | undefined): Promise<Readonly<Partial<Record<DigestName, Uint8Array>>>> {
    this.#flush();
    this.#throwFailure();
    this.#send({ kind: "sync", label });
    const response = await this.#wait("synced");
    return response.kind === "synced" ? response.digests : {};
  }

  /** Lets go of the file. Allowed at any time, and again: nobody answers for a file that was let go of. */
  async close(): Promise<void> {
    if (this.#isClosed) {
      return;
    }
    this.#isClosed = true;
    if (this.#failure === undefined) {
      this.#send({ kind: "close" });
      // A thread that ended has closed it.
      await this.#await("closed").catch(() => {});
    }
    this.#release();
  }

  receive(response: ContentResponse): void {
    if (response.kind === "written") {
      this.#free.push(response.offset);
    }
    if (response.kind === "failed") {
      this.#failure ??= Object.assign(new Error("Content could not be written.", { cause: response.error }), {
        code: response.code,
      });
      this.#waiting?.settle.reject(this.#failure);
      this.#waiting = undefined;
    } else if (response.kind === this.#waiting?.requested) {
      const { settle } = this.#waiting;
      this.#waiting = undefined;
      settle.resolve(response);
    }
  }

  #flush(): void {
    if (this.#slot !== undefined) {
      this.#send({ kind: "write", offset: this.#slot, length: this.#filled });
      this.#slot = undefined;
    }
  }

  #wait(requested: ContentResponse["kind"]): Promise<ContentResponse> {
    this.#throwFailure();
    return this.#await(requested);
  }

  #await(requested: ContentResponse["kind"]): Promise<ContentResponse> {
    const settle = Promise.withResolvers<ContentResponse>();
    this.#waiting = { requested, settle };
    return settle.promise;
  }

  #throwFailure(): void {
    if (this.#isClosed) {
      // Its memory may be another writer's by now.
      throw new Error("This file was let go of.");
    }
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }
}
