import { Worker } from "node:worker_threads";
import { CwlError, messageOf } from "../errors.ts";
import type { ValidationReport } from "../validate/validate.ts";
import { defaultLoadLimits } from "./budget.ts";
import type { LoadedDocument } from "./load.ts";
import type { FromLoader, LoaderThread, ToLoader } from "./loader-messages.ts";
import { OwnerTurns } from "./owner-turns.ts";
import type { LoadOptions } from "./store.ts";

export interface LoaderOptions {
  /** Most threads; each loads one document at a time (default 2). */
  readonly threads?: number | undefined;
  /** Memory of a thread; a document that needs more is refused (default 512). */
  readonly memoryMiB?: number | undefined;
  /** Most that may wait for a thread; further ones are refused as `busy` (default 1,000). */
  readonly maxWaiting?: number | undefined;
  /** Whether a thread is started before it is needed (default false). */
  readonly warm?: boolean | undefined;
  /** Module whose export `perform`, a function of one argument, is called in a thread by `run`. */
  readonly work?: URL | undefined;
}

/** Whose turn it is and how long it may take. */
interface Turn {
  /** Has one thread at a time, whoever else waits. */
  readonly owner?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Options = LoadOptions &
  Turn & {
    readonly text?: string | undefined;
    readonly applicationPackage?: boolean | undefined;
  };

/** Loads documents of strangers outside of the calling thread. */
export interface Loader {
  /** As `validateDocument`. */
  readonly validate: (reference: string, options?: Options) => Promise<ValidationReport>;
  /** As `loadDocument`. The document can be described, drawn and run; to be packed it has to be loaded by `loadDocument`. */
  readonly load: (reference: string, options?: Options) => Promise<LoadedDocument>;
  /**
   * What the module `work` makes of an argument. Throws `limit` when it takes too long or too much memory; both ways must
   * be what can be cloned.
   */
  readonly run: (argument: unknown, options: Turn & { readonly milliseconds: number }) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** How long after its budget of time a thread that says nothing is ended; the budget should come first. */
const GRACE_MS = 1000;

/** How long a thread may take to begin. What it costs is not the document's doing. */
const START_MS = 60_000;

const DEFAULT_THREADS = 2;
const DEFAULT_MEMORY_MIB = 512;
const DEFAULT_MAX_WAITING = 1000;

interface WaitingTurn {
  readonly owner: string | undefined;
  readonly resolve: (worker: Worker) => void;
  readonly reject: (error: CwlError) => void;
}

/**
 * Threads that load documents, started when they are needed and kept. What a document costs is bounded by `limits`, and
 * a thread that goes beyond them in time or memory is ended; the calling thread only takes over the result.
 */
export function createLoader({
  threads = DEFAULT_THREADS,
  memoryMiB = DEFAULT_MEMORY_MIB,
  maxWaiting = DEFAULT_MAX_WAITING,
  warm = false,
  work,
}: LoaderOptions = {}): Loader {
  const all = new Set<Worker>();
  const idle: Worker[] = [];
  const waiting: WaitingTurn[] = [];
  const turns = new OwnerTurns(threads);
  let closed = false;

  const start = (): Worker => {
    const worker = startWorker(memoryMiB, work);
    all.add(worker);
    worker.on("exit", () => {
      all.delete(worker);
      const index = idle.indexOf(worker);
      if (index !== -1) {
        idle.splice(index, 1);
      }
    });
    return worker;
  };
  const keepWarm = (): void => {
    if (warm && !closed && all.size === 0) {
      idle.push(start());
    }
  };
  const next = (): void => {
    while (!closed) {
      const index = turns.choose(waiting.map(({ owner }) => owner));
      const [turn] = index === -1 ? [] : waiting.splice(index, 1);
      if (turn === undefined) {
        return;
      }
      turns.begin(turn.owner);
      turn.resolve(idle.pop() ?? start());
    }
  };
  const enter = (owner: string | undefined): Promise<Worker> =>
    new Promise((resolve, reject) => {
      if (closed) {
        reject(new CwlError("cancelled", "the loader is closed"));
        return;
      }
      const turn = { owner, resolve, reject };
      waiting.push(turn);
      next();
      // One that has its thread at once is not refused for those of others that wait for theirs.
      if (waiting.length > maxWaiting && waiting.at(-1) === turn) {
        waiting.pop();
        reject(new CwlError("busy", `${maxWaiting} documents wait to be loaded already; try again later`));
      }
    });
  const leave = (owner: string | undefined): void => {
    turns.end(owner);
    keepWarm();
    next();
  };
  const takeTurn = async <T>(owner: string | undefined, task: (worker: Worker) => Promise<T>): Promise<T> => {
    const worker = await enter(owner);
    worker.ref();
    void ready.get(worker)?.then(() => turns.started(owner));
    try {
      const result = await task(worker);
      worker.unref();
      idle.push(worker);
      leave(owner);
      return result;
    } catch (error) {
      // The caller is answered now. The turn is free when the thread is gone, so that there are never more of them.
      void worker.terminate().finally(() => leave(owner));
      throw error;
    }
  };
  const validate = async (reference: string, options: Options = {}): Promise<ValidationReport> => {
    try {
      return await takeTurn(options.owner, (worker) => callForReport(worker, reference, options));
    } catch (error) {
      if (error instanceof CwlError && error.code === "limit") {
        return { valid: false, problems: error.problems, document: undefined };
      }
      throw error;
    }
  };
  keepWarm();
  return {
    validate,
    load: async (reference, options) => {
      const { document, problems } = await validate(reference, options);
      if (document === undefined) {
        throw new CwlError("invalid-document", problems);
      }
      return document;
    },
    run: (argument, { owner, signal, milliseconds }) =>
      takeTurn(owner, async (worker) => {
        const message = await send(worker, { type: "run", argument }, { signal, milliseconds });
        return message.type === "done" ? message.result : undefined;
      }),
    close: async () => {
      closed = true;
      for (const { reject } of waiting.splice(0)) {
        reject(new CwlError("cancelled", "the loader is closed"));
      }
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

/** When each thread has begun. */
const ready = new WeakMap<Worker, Promise<void>>();

function startWorker(memoryMiB: number, work: URL | undefined): Worker {
  const worker = new Worker(new URL("./loader-worker.ts", import.meta.url), {
    env: {},
    workerData: { work: work?.href } satisfies LoaderThread,
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB },
  });
  ready.set(
    worker,
    new Promise((resolve) => {
      const onMessage = ({ type }: FromLoader): void => {
        if (type === "ready") {
          worker.off("message", onMessage);
          resolve();
        }
      };
      worker.on("message", onMessage);
    }),
  );
  // Whoever has the thread hears of it; one that fails while it is idle is replaced when it is needed.
  worker.on("error", () => {});
  worker.unref();
  return worker;
}

async function callForReport(worker: Worker, reference: string, options: Options): Promise<ValidationReport> {
  const { fetcher, signal, text, localFiles, limits = {}, applicationPackage = false } = options;
  const hasFetcher = fetcher !== undefined;
  const request = { reference, text, localFiles, limits, applicationPackage, hasFetcher };
  const milliseconds = limits.milliseconds ?? defaultLoadLimits.milliseconds;
  const message = await send(worker, { type: "load", request }, { fetcher, signal, milliseconds, graceMs: GRACE_MS });
  const { document, problems } = message.type === "loaded" ? message : { document: undefined, problems: [] };
  const whole = document === undefined ? undefined : { ...document, store: undefined };
  return { valid: document !== undefined, problems, document: whole };
}

interface Question extends Pick<LoadOptions, "fetcher"> {
  readonly signal: AbortSignal | undefined;
  readonly milliseconds: number;
  readonly graceMs?: number;
}

async function send(
  worker: Worker,
  question: ToLoader,
  { fetcher, signal, milliseconds, graceMs = 0 }: Question,
): Promise<Extract<FromLoader, { type: "loaded" | "done" }>> {
  const { promise, resolve, reject } =
    Promise.withResolvers<Extract<FromLoader, { readonly type: "loaded" | "done" }>>();
  const fail = (code: "limit" | "cancelled", message: string): void => reject(new CwlError(code, message));
  const onAbort = (): void => fail("cancelled", "loading was cancelled");
  const onExit = (): void => fail("limit", "the thread that loaded the document ended without an answer");
  const onError = (error: NodeJS.ErrnoException): void =>
    error.code === "ERR_WORKER_OUT_OF_MEMORY"
      ? fail("limit", "the document needs more memory to be loaded than one may")
      : reject(error);
  const onMessage = (message: FromLoader): void => {
    if (message.type === "fetch") {
      void respondFetch(worker, message, { fetcher, signal });
    } else if (message.type === "failed") {
      reject(new Error(message.message));
    } else if (message.type !== "ready") {
      resolve(message);
    }
  };
  const late = `loading the document takes longer than ${milliseconds} ms`;
  let timer = setTimeout(() => fail("limit", `a thread did not start within ${START_MS} ms`), START_MS);
  worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal?.aborted === true) {
      onAbort();
    }
    await Promise.race([ready.get(worker), promise]);
    clearTimeout(timer);
    timer = setTimeout(() => fail("limit", late), milliseconds + graceMs);
    worker.postMessage(question);
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.off("message", onMessage).off("error", onError).off("exit", onExit);
    signal?.removeEventListener("abort", onAbort);
  }
}

async function respondFetch(
  worker: Worker,
  { id, uri, limit }: Extract<FromLoader, { type: "fetch" }>,
  { fetcher, signal }: Pick<LoadOptions, "fetcher" | "signal">,
): Promise<void> {
  let response: ToLoader;
  try {
    const text = await fetcher?.readText(uri, { limit, signal });
    response = { type: "text", id, text: text ?? "" };
  } catch (error) {
    const code = error instanceof CwlError ? error.code : "reference";
    response = { type: "no-text", id, code, message: `cannot read ${uri}: ${messageOf(error)}` };
  }
  worker.postMessage(response);
}
