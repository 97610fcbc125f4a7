import { Worker } from "node:worker_threads";

import { OgcError, invalidParameter } from "../errors.ts";
import type { PackageWork, WorkAnswer, WorkRequest } from "./worker-messages.ts";

/** Longest text of a package, in bytes. Packages are texts that people write; what is larger is something else. */
export const MAX_PACKAGE_BYTES = 2 * 2 ** 20;
/** Milliseconds that reading a package may take. */
const MAX_READ_MS = 5000;
/** Memory that a thread may use meanwhile. */
const MAX_HEAP_MIB = 384;
/** Threads: with two, one user's package holds up nobody else's. */
const MAX_WORKERS = 2;
/** Packages that wait to be read. */
const MAX_WAITING = 100;
/** Facts of packages that are remembered. */
const MAX_REMEMBERED = 256;

/** Reads packages in threads of their own, with limits, so that the service goes on answering whatever somebody sends. */
export interface PackageReader {
  /**
   * @param owner whose package it is: each user has one thread at a time
   * @throws {OgcError} 400 for what is wrong with it or too much; 503 where too many wait
   */
  readonly read: <Kind extends keyof PackageWork>(
    kind: Kind,
    owner: string,
    asked: PackageWork[Kind]["asked"],
  ) => Promise<PackageWork[Kind]["found"]>;
  readonly close: () => Promise<void>;
}

interface Task extends WorkRequest {
  readonly owner: string;
  readonly resolve: (found: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  task: Task | undefined;
  timer: NodeJS.Timeout | undefined;
}

export function openPackageReader(): PackageReader {
  const threads = new Set<Thread>();
  const waiting: Task[] = [];
  const remembered = new Map<string, Promise<unknown>>();
  let closed = false;
  let count = 0;

  const start = (): Thread => {
    const worker = new Worker(new URL("worker-main.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB, stackSizeMb: 4 },
      // What a package says is nothing for this thread's environment.
      env: {},
    });
    const thread: Thread = { worker, task: undefined, timer: undefined };
    threads.add(thread);
    worker.on("message", (answer: WorkAnswer) => settle(thread, answer));
    worker.on("error", (error) => drop(thread, limitError(error)));
    worker.on("exit", () => drop(thread, invalidParameter("The application package could not be read.")));
    worker.unref();
    return thread;
  };
  const settle = (thread: Thread, answer: WorkAnswer) => {
    const { task } = thread;
    if (task?.id !== answer.id) {
      return;
    }
    clearTimeout(thread.timer);
    thread.task = undefined;
    thread.worker.unref();
    if ("error" in answer) {
      task.reject(toError(answer.error));
    } else {
      task.resolve(answer.found);
    }
    next();
  };
  /** A thread that has ended, or is ended, takes its task with it. */
  const drop = (thread: Thread, why: Error) => {
    if (!threads.delete(thread)) {
      return;
    }
    clearTimeout(thread.timer);
    thread.task?.reject(why);
    void thread.worker.terminate();
    if (!closed) {
      // Loaded before it is needed.
      start();
      next();
    }
  };
  const next = () => {
    const busy = new Set([...threads].flatMap(({ task }) => task?.owner ?? []));
    const index = waiting.findIndex(({ owner }) => !busy.has(owner));
    const task = waiting[index];
    if (task === undefined || closed) {
      return;
    }
    const thread =
      [...threads].find((each) => each.task === undefined) ?? (threads.size < MAX_WORKERS ? start() : undefined);
    if (thread === undefined) {
      return;
    }
    waiting.splice(index, 1);
    thread.task = task;
    thread.worker.ref();
    thread.timer = setTimeout(
      () =>
        drop(
          thread,
          invalidParameter(
            `The application package takes longer than ${MAX_READ_MS / 1000} s to read; make it smaller, with fewer aliases.`,
          ),
        ),
      MAX_READ_MS,
    );
    const { id, kind, asked } = task;
    thread.worker.postMessage({ id, kind, asked } satisfies WorkRequest);
    next();
  };
  const submit = (kind: keyof PackageWork, owner: string, asked: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (closed || waiting.length >= MAX_WAITING) {
        throw new OgcError(503, "TooManyPackages", "Too many packages wait to be read; try again in some seconds.", {
          headers: { "retry-after": "5" },
        });
      }
      waiting.push({ id: (count += 1), kind, owner, asked, resolve, reject });
      next();
    });
  start();
  return {
    read: <Kind extends keyof PackageWork>(kind: Kind, owner: string, asked: PackageWork[Kind]["asked"]) => {
      checkSize(asked.text);
      if (kind !== "facts") {
        return submit(kind, owner, asked) as Promise<PackageWork[Kind]["found"]>;
      }
      const { text, process } = asked as PackageWork["facts"]["asked"];
      const key = `${process}\n${text}`;
      const known = remembered.get(key) ?? submit(kind, owner, asked);
      // The one used longest ago is the first.
      remembered.delete(key);
      remembered.set(key, known);
      known.catch(() => remembered.delete(key));
      if (remembered.size > MAX_REMEMBERED) {
        remembered.delete(remembered.keys().next().value ?? "");
      }
      return known as Promise<PackageWork[Kind]["found"]>;
    },
    close: async () => {
      closed = true;
      const ending = [...threads];
      threads.clear();
      [...waiting, ...ending.flatMap(({ task }) => task ?? [])].forEach(({ reject }) =>
        reject(new OgcError(503, "Stopping", "The service stops; try again.")),
      );
      await Promise.all(ending.map(({ worker }) => worker.terminate()));
    },
  };
}

/** @throws {OgcError} 400, 413 */
function checkSize(text: string): void {
  if (Buffer.byteLength(text) > MAX_PACKAGE_BYTES) {
    throw new OgcError(
      413,
      "PackageTooLarge",
      `The application package has ${Buffer.byteLength(text)} bytes; allowed: ${MAX_PACKAGE_BYTES}.`,
    );
  }
  if (text.includes("\0")) {
    throw invalidParameter("The application package is not a text in UTF-8; it has to be YAML or JSON.");
  }
}

function limitError(error: Error & { code?: string }): Error {
  return error.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? invalidParameter("The application package takes too much memory to read; make it smaller, with fewer aliases.")
    : invalidParameter(`The application package cannot be read: ${error.message}`);
}

function toError({ message, ogc }: Extract<WorkAnswer, { readonly error: unknown }>["error"]): Error {
  if (ogc === undefined) {
    return new Error(message);
  }
  const { status, title, type, extensions } = ogc;
  return new OgcError(status, title, message, { type, extensions });
}
