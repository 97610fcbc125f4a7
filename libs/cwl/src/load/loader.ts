import { Worker } from "node:worker_threads";
import { CwlError, messageOf } from "../errors.ts";
import type { ValidationReport } from "../validate/validate.ts";
import { defaultLoadLimits } from "./budget.ts";
import type { LoadedDocument } from "./load.ts";
import type { FromLoader, LoadRequest, ToLoader } from "./loader-messages.ts";
import type { LoadOptions } from "./store.ts";

export interface LoaderOptions {
  /** Most threads; each loads one document at a time (default 2). */
  readonly threads?: number | undefined;
  /** Memory of a thread; a document that needs more is refused (default 512). */
  readonly memoryMiB?: number | undefined;
}

type Options = LoadOptions & {
  readonly text?: string | undefined;
  readonly applicationPackage?: boolean | undefined;
};

/** Loads documents of strangers outside of the calling thread. */
export interface Loader {
  /** As `validateDocument`. */
  readonly validate: (reference: string, options?: Options) => Promise<ValidationReport>;
  /** As `loadDocument`. The document can be described, drawn and run; to be packed it has to be loaded by `loadDocument`. */
  readonly load: (reference: string, options?: Options) => Promise<LoadedDocument>;
  readonly close: () => Promise<void>;
}

/** How long after its budget of time a thread that says nothing is ended; the budget should come first. */
const GRACE_MS = 1000;

const DEFAULT_THREADS = 2;
const DEFAULT_MEMORY_MIB = 512;

/**
 * Threads that load documents, started when they are needed and kept. What a document costs is bounded by `limits`, and
 * a thread that goes beyond them in time or memory is ended; the calling thread only takes over the result.
 */
export function createLoader({
  threads = DEFAULT_THREADS,
  memoryMiB = DEFAULT_MEMORY_MIB,
}: LoaderOptions = {}): Loader {
  const idle: Worker[] = [];
  const waiting: (() => void)[] = [];
  let busy = 0;

  const enter = async (): Promise<Worker> => {
    if (busy >= threads) {
      // Whoever leaves hands its turn on.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      busy += 1;
    }
    return idle.pop() ?? startWorker(memoryMiB);
  };
  const leave = (worker: Worker | undefined): void => {
    if (worker !== undefined) {
      worker.unref();
      idle.push(worker);
    }
    const next = waiting.shift();
    if (next === undefined) {
      busy -= 1;
    } else {
      next();
    }
  };
  const validate = async (reference: string, options: Options = {}): Promise<ValidationReport> => {
    const worker = await enter();
    let healthy = false;
    try {
      worker.ref();
      const report = await ask(worker, reference, options);
      healthy = true;
      return report;
    } catch (error) {
      if (error instanceof CwlError && error.code === "limit") {
        return { valid: false, problems: error.problems, document: undefined };
      }
      throw error;
    } finally {
      if (!healthy) {
        await worker.terminate();
      }
      leave(healthy ? worker : undefined);
    }
  };
  return {
    validate,
    load: async (reference, options) => {
      const { document, problems } = await validate(reference, options);
      if (document === undefined) {
        throw new CwlError("invalid-document", problems);
      }
      return document;
    },
    close: async () => {
      await Promise.all(idle.splice(0).map((worker) => worker.terminate()));
    },
  };
}

function startWorker(memoryMiB: number): Worker {
  return new Worker(new URL("./loader-worker.ts", import.meta.url), {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB },
  });
}

async function ask(worker: Worker, reference: string, options: Options): Promise<ValidationReport> {
  const { fetcher, signal, text, localFiles, limits = {}, applicationPackage = false } = options;
  const request: LoadRequest = {
    reference,
    text,
    localFiles,
    limits,
    applicationPackage,
    hasFetcher: fetcher !== undefined,
  };
  const most = limits.milliseconds ?? defaultLoadLimits.milliseconds;
  const { promise, resolve, reject } = Promise.withResolvers<ValidationReport>();
  const fail = (code: "limit" | "cancelled", message: string): void => reject(new CwlError(code, message));
  const onAbort = (): void => fail("cancelled", "loading was cancelled");
  const onExit = (): void => fail("limit", "the thread that loaded the document ended without an answer");
  const onError = (error: NodeJS.ErrnoException): void =>
    error.code === "ERR_WORKER_OUT_OF_MEMORY"
      ? fail("limit", "the document needs more memory to be loaded than one may")
      : reject(error);
  const onMessage = (message: FromLoader): void => {
    if (message.type === "fetch") {
      void answerFetch(worker, message, options);
    } else if (message.type === "failed") {
      reject(new Error(message.message));
    } else {
      const { document, problems } = message;
      const whole = document === undefined ? undefined : { ...document, store: undefined };
      resolve({ valid: document !== undefined, problems, document: whole });
    }
  };
  const timer = setTimeout(() => fail("limit", `loading the document takes longer than ${most} ms`), most + GRACE_MS);
  worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal?.aborted === true) {
      onAbort();
    }
    worker.postMessage({ type: "load", request } satisfies ToLoader);
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.off("message", onMessage).off("error", onError).off("exit", onExit);
    signal?.removeEventListener("abort", onAbort);
  }
}

async function answerFetch(
  worker: Worker,
  { id, uri, limit }: Extract<FromLoader, { type: "fetch" }>,
  { fetcher, signal }: Options,
): Promise<void> {
  let answer: ToLoader;
  try {
    const text = await fetcher?.readText(uri, { limit, signal });
    answer = { type: "text", id, text: text ?? "" };
  } catch (error) {
    const code = error instanceof CwlError ? error.code : "reference";
    answer = { type: "no-text", id, code, message: `cannot read ${uri}: ${messageOf(error)}` };
  }
  worker.postMessage(answer);
}
