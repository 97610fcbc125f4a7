import { Worker } from "node:worker_threads";

import type {
  CoverageRequest,
  DescribedRaster,
  ImageRequest,
  ImageResult,
  PixelsRequest,
  PixelsResult,
  PointRequest,
  StatisticsRequest,
} from "../engine/requests.ts";
import { RasterError, toCancelled, toTimeout } from "../errors.ts";
import type { BandStatistics } from "../render/statistics.ts";
import { type SourceLocation, describeLocation } from "../sources/source.ts";
import type { FromWorker, Method, ToWorker } from "./messages.ts";

export interface PoolOptions {
  readonly threads: number;
  /** Decoded blocks in memory, of all threads together. */
  readonly cacheBytes: number;
  /** Requests that wait; more are refused. */
  readonly maxQueued?: number;
  /** Requests of one thread at a time: some wait for bytes while another calculates. */
  readonly concurrency?: number;
  readonly timeoutMs?: number;
  /** How long a remote object is taken to be unchanged; 0: it is looked at each time. */
  readonly maxUnverifiedMs?: number;
  /** Called for errors that no client is to see. */
  readonly onError?: (error: Error) => void;
  readonly clock?: () => number;
}

interface Job {
  readonly id: number;
  readonly method: Method;
  readonly argument: unknown;
  readonly affinity: number;
  readonly onPart?: (bytes: Uint8Array) => void;
  /** Ends the job for whoever waits for it; what comes later is nothing to them. */
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  isCancelled: boolean;
  /** A thread that ended under it: once is bad luck, twice is the request's own doing. */
  crashes: number;
}

interface Thread {
  readonly worker: Worker;
  readonly jobs: Map<number, Job>;
  /** A library faulted in it: it finishes its jobs, takes no more, and ends. */
  isRetired: boolean;
}

const MAX_QUEUED = 256;
const CONCURRENCY = 4;
const TIMEOUT_MS = 30_000;
/** How long a cancelled request may go on before its thread is ended. */
const CANCEL_GRACE_MS = 5000;
const MAX_CRASHES = 2;
/** Faults without one success between them, after which the pool says that it is not well. */
const MAX_FAULTS = 8;
/** So long after the last fault: nothing would show that the pool is well again while it gets no requests. */
const FAULTS_COUNT_MS = 30_000;

/** Threads that read and render; a bounded queue before them. */
export class RasterPool {
  readonly #options: Required<Omit<PoolOptions, "onError" | "maxUnverifiedMs">> &
    Pick<PoolOptions, "onError" | "maxUnverifiedMs">;
  readonly #threads: (Thread | undefined)[];
  readonly #queue: Job[] = [];
  readonly #retired = new Set<Thread>();
  #nextId = 1;
  #faults = 0;
  #lastFaultAt = 0;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = {
      maxQueued: MAX_QUEUED,
      concurrency: CONCURRENCY,
      timeoutMs: TIMEOUT_MS,
      clock: Date.now,
      ...options,
    };
    this.#threads = Array.from({ length: options.threads });
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** @throws {Error} while one job after the other ends by a fault of a library or of a thread */
  checkHealth(): void {
    if (this.#faults >= MAX_FAULTS && this.#options.clock() - this.#lastFaultAt < FAULTS_COUNT_MS) {
      throw new Error(`the last ${this.#faults} faults of raster threads had no success between them`);
    }
  }

  describe(location: SourceLocation, signal?: AbortSignal): Promise<DescribedRaster> {
    return this.#run("describe", location, describeLocation(location), signal) as Promise<DescribedRaster>;
  }

  version(location: SourceLocation, signal?: AbortSignal): Promise<string> {
    return this.#run("version", location, describeLocation(location), signal) as Promise<string>;
  }

  image(request: ImageRequest, signal?: AbortSignal): Promise<ImageResult> {
    return this.#run("image", request, affinityOf(request), signal) as Promise<ImageResult>;
  }

  pixels(request: PixelsRequest, signal?: AbortSignal): Promise<PixelsResult> {
    return this.#run("pixels", request, affinityOf(request), signal) as Promise<PixelsResult>;
  }

  statistics(request: StatisticsRequest, signal?: AbortSignal): Promise<Record<string, BandStatistics>> {
    return this.#run("statistics", request, affinityOf(request), signal) as Promise<Record<string, BandStatistics>>;
  }

  point(request: PointRequest, signal?: AbortSignal): Promise<readonly (number | null)[] | undefined> {
    return this.#run("point", request, describeLocation(request.location), signal) as Promise<
      readonly (number | null)[] | undefined
    >;
  }

  async *coverage(request: CoverageRequest, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const parts: Uint8Array[] = [];
    let wake: (() => void) | undefined;
    let state: { done: boolean; error?: unknown } = { done: false };
    const controller = new AbortController();
    const all = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
    this.#run("coverage", request, affinityOf(request), all, (bytes) => {
      parts.push(bytes);
      wake?.();
    }).then(
      () => {
        state = { done: true };
        wake?.();
      },
      (error: unknown) => {
        state = { done: true, error };
        wake?.();
      },
    );
    try {
      for (;;) {
        const part = parts.shift();
        if (part !== undefined) {
          yield part;
        } else if (state.done) {
          break;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      if (state.error !== undefined) {
        throw state.error as Error;
      }
    } finally {
      controller.abort();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#queue.splice(0)) {
      job.reject(new RasterError("cancelled", "The service is stopping."));
    }
    await Promise.all([...this.#threads, ...this.#retired].map(async (thread) => thread?.worker.terminate()));
  }

  #run(
    method: Method,
    argument: unknown,
    affinity: string,
    signal?: AbortSignal,
    onPart?: (bytes: Uint8Array) => void,
  ): Promise<unknown> {
    if (this.#isClosed) {
      return Promise.reject(new RasterError("cancelled", "The service is stopping."));
    }
    if (this.#queue.length >= this.#options.maxQueued) {
      return Promise.reject(new RasterError("busy", "Too many requests are waiting; try again in a moment."));
    }
    if (signal?.aborted === true) {
      return Promise.reject(toCancelled(signal));
    }
    const place = hash(affinity);
    return new Promise((resolve, reject) => {
      // Neither the limit nor the caller's signal may keep what a job has made: an `AbortSignal.timeout` would until it is over.
      const limit = setTimeout(() => this.#cancel(job, toTimeout()), this.#options.timeoutMs);
      const abort = () => this.#cancel(job, toCancelled(signal!));
      const forget = () => {
        clearTimeout(limit);
        signal?.removeEventListener("abort", abort);
      };
      const job: Job = {
        id: this.#nextId++,
        method,
        argument,
        affinity: place,
        ...(onPart !== undefined && { onPart }),
        resolve: (value) => {
          forget();
          resolve(value);
        },
        reject: (error) => {
          forget();
          reject(error);
        },
        isCancelled: false,
        crashes: 0,
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#queue.push(job);
      this.#dispatch();
    });
  }

  /** A thread that has read near there before is preferred, unless another has much less to do. */
  #dispatch(): void {
    for (;;) {
      const job = this.#queue[0];
      if (job === undefined) {
        return;
      }
      const loads = this.#threads.map((thread) => thread?.jobs.size ?? 0);
      const least = loads.indexOf(Math.min(...loads));
      const preferred = job.affinity % loads.length;
      const chosen = (loads[preferred] ?? 0) <= (loads[least] ?? 0) + 1 ? preferred : least;
      if ((loads[chosen] ?? 0) >= this.#options.concurrency) {
        return;
      }
      this.#queue.shift();
      const thread = (this.#threads[chosen] ??= this.#startThread(chosen));
      thread.jobs.set(job.id, job);
      thread.worker.postMessage({
        kind: "run",
        id: job.id,
        method: job.method,
        argument: job.argument,
      } satisfies ToWorker);
    }
  }

  #startThread(index: number): Thread {
    const { cacheBytes, maxUnverifiedMs, threads } = this.#options;
    const worker = new Worker(new URL("worker.ts", import.meta.url), {
      workerData: { cacheBytes: Math.floor(cacheBytes / threads), maxOpen: 128, maxUnverifiedMs },
    });
    const thread: Thread = { worker, jobs: new Map(), isRetired: false };
    worker.on("message", (message: FromWorker) => this.#receive(thread, message));
    worker.on("error", (error) => {
      this.#noteFault();
      this.#options.onError?.(error as Error);
    });
    worker.on("exit", () => {
      this.#retired.delete(thread);
      if (this.#threads[index] === thread) {
        this.#threads[index] = undefined;
      }
      for (const job of thread.jobs.values()) {
        job.crashes += 1;
        if (this.#isClosed || job.crashes >= MAX_CRASHES || job.isCancelled || job.onPart !== undefined) {
          job.reject(
            new RasterError(
              job.isCancelled ? "cancelled" : "unavailable",
              "The thread that handled the request ended.",
            ),
          );
        } else {
          this.#queue.unshift(job);
        }
      }
      thread.jobs.clear();
      this.#dispatch();
    });
    return thread;
  }

  #receive(thread: Thread, message: FromWorker): void {
    const job = thread.jobs.get(message.id);
    if (message.kind === "part") {
      job?.onPart?.(message.bytes);
      return;
    }
    thread.jobs.delete(message.id);
    if (message.kind === "done") {
      this.#faults = 0;
      job?.resolve(message.value);
    } else {
      const { code, message: text, stack } = message.error;
      if (code === undefined) {
        this.#retire(thread);
      }
      const error = code === undefined ? new Error(text) : new RasterError(code, text);
      if (stack !== undefined) {
        error.stack = stack;
      }
      job?.reject(error);
    }
    if (thread.isRetired && thread.jobs.size === 0) {
      void thread.worker.terminate();
    }
    this.#dispatch();
  }

  /** After an error that is no client's doing nobody knows what is left in the memory of a native or WebAssembly library. */
  #retire(thread: Thread): void {
    this.#noteFault();
    if (!thread.isRetired) {
      thread.isRetired = true;
      this.#threads[this.#threads.indexOf(thread)] = undefined;
      this.#retired.add(thread);
    }
  }

  #noteFault(): void {
    this.#faults += 1;
    this.#lastFaultAt = this.#options.clock();
  }

  #cancel(job: Job, error: RasterError): void {
    job.isCancelled = true;
    job.reject(error);
    const at = this.#queue.indexOf(job);
    if (at >= 0) {
      this.#queue.splice(at, 1);
      return;
    }
    const thread = [...this.#threads, ...this.#retired].find((each) => each?.jobs.has(job.id));
    if (thread === undefined) {
      return;
    }
    thread.worker.postMessage({ kind: "cancel", id: job.id } satisfies ToWorker);
    // A thread that does not even hear that is stuck in one calculation.
    setTimeout(() => {
      if (thread.jobs.has(job.id)) {
        this.#options.onError?.(new Error("ended a raster thread that did not stop"));
        void thread.worker.terminate();
      }
    }, CANCEL_GRACE_MS).unref();
  }
}

/** The same part of the same scene goes to the same thread. */
function affinityOf({ scenes, grid }: PixelsRequest): string {
  const [first] = Object.values(scenes[0]?.assets ?? {});
  const { bbox } = grid;
  const place =
    bbox === undefined
      ? ""
      : [(bbox[0] + bbox[2]) / 2, (bbox[1] + bbox[3]) / 2]
          .map((value) => Math.floor(value / (4 * Math.max(bbox[2] - bbox[0], 1e-9))))
          .join(",");
  return `${first === undefined ? "" : describeLocation(first.location)} ${place}`;
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 16_777_619);
  }
  return value >>> 0;
}
