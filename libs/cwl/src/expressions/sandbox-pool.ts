import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { CwlError } from "../errors.ts";
import { defaultSandboxLimits } from "./limits.ts";
import type { SandboxLimits } from "./limits.ts";
import type { FromSandbox, SandboxStarted, ToSandbox } from "./sandbox-messages.ts";
import { compileMachine } from "./machine-code.ts";
import type { Script, ScriptResult } from "./sandbox.ts";
import type { WebAssemblyModule } from "./web-assembly.ts";

/** How long after its limit a thread that says nothing is ended: some loops of the machine cannot be interrupted. */
const GRACE_MS = 500;

/** How long a thread may take to begin. What it costs is not the script's doing. */
const START_MS = 60_000;

/** How long a thread that has nothing to do is kept. */
const IDLE_MS = 30_000;

/** Memory of a thread beside that of its WebAssembly machine: texts on their way in and out. */
const THREAD_MIB = 128;

/** Room for what a script leaves behind at once: more of it makes nothing faster here, and each thread would hold it. */
const YOUNG_MIB = 8;

const MAX_THREADS = Math.min(4, availableParallelism());

/**
 * Runs scripts in threads that are started when they are needed and ended when a script goes beyond its limits. A script
 * that takes long holds up no other work of the process.
 */
class SandboxPool {
  private readonly idle: Worker[] = [];
  private readonly waiting: (() => void)[] = [];
  private busy = 0;
  private timer: NodeJS.Timeout | undefined;
  private machineCode: Promise<WebAssemblyModule> | undefined;

  /** Throws `expression` when the script fails and `limit` when it costs too much. */
  async run(script: Script, limits: SandboxLimits, onLog: (text: string) => void): Promise<ScriptResult> {
    const result = await this.send({ script, limits }, onLog);
    if (!("json" in result)) {
      throw new CwlError("limit", "the expression's thread gave no answer");
    }
    return result;
  }

  /** What is wrong with each source, in words; undefined where it is right. Nothing is run. */
  async check(sources: readonly string[]): Promise<readonly (string | undefined)[]> {
    const result = await this.send({ sources, limits: defaultSandboxLimits }, () => undefined);
    return "messages" in result ? result.messages : [];
  }

  private async send(request: ToSandbox, onLog: (text: string) => void): Promise<FromSandbox> {
    const worker = await this.enter();
    let healthy = false;
    try {
      const result = await send(worker, request);
      healthy = true;
      if (result.log !== "") {
        onLog(result.log);
      }
      if ("code" in result) {
        throw new CwlError(result.code, result.message);
      }
      return result;
    } finally {
      if (healthy) {
        this.leave(worker);
      } else {
        // The caller is answered now. The turn is free when the thread is gone, so that there are never more of them.
        void worker.terminate().finally(() => this.leave(undefined));
      }
    }
  }

  private async enter(): Promise<Worker> {
    if (this.busy >= MAX_THREADS) {
      // Whoever leaves hands its turn on.
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else {
      this.busy += 1;
    }
    try {
      const worker = this.idle.pop() ?? this.start(await this.compile());
      worker.ref();
      return worker;
    } catch (error) {
      this.leave(undefined);
      throw error;
    }
  }

  private start(machineCode: WebAssemblyModule): Worker {
    const worker = startWorker(machineCode);
    // One that ends while it has nothing to do would never answer.
    worker.on("exit", () => {
      const index = this.idle.indexOf(worker);
      if (index !== -1) {
        this.idle.splice(index, 1);
      }
    });
    return worker;
  }

  /** Compiled once a process: a thread that takes the place of one that was ended has nothing to compile. */
  private compile(): Promise<WebAssemblyModule> {
    this.machineCode ??= compileMachine().catch((error: unknown) => {
      // A failure is tried again, not kept.
      this.machineCode = undefined;
      throw error;
    });
    return this.machineCode;
  }

  private leave(worker: Worker | undefined): void {
    if (worker !== undefined) {
      worker.unref();
      this.idle.push(worker);
    }
    const next = this.waiting.shift();
    if (next === undefined) {
      this.busy -= 1;
      this.endIdleLater();
    } else {
      next();
    }
  }

  private endIdleLater(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (this.busy > 0) {
        this.endIdleLater();
        return;
      }
      for (const worker of this.idle.splice(0)) {
        void worker.terminate();
      }
    }, IDLE_MS).unref();
  }
}

/** Threads are the process's: every run shares them. */
export const sandboxPool = new SandboxPool();

function startWorker(machineCode: WebAssemblyModule): Worker {
  const worker = new Worker(new URL("./sandbox-worker.ts", import.meta.url), {
    env: {},
    workerData: machineCode,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MIB, maxYoungGenerationSizeMb: YOUNG_MIB },
  });
  // Whoever has the thread hears of it; one that fails while it is idle is replaced when it is needed.
  worker.on("error", () => {});
  worker.unref();
  return worker;
}

async function send(worker: Worker, request: ToSandbox): Promise<FromSandbox> {
  const { promise, resolve, reject } = Promise.withResolvers<FromSandbox>();
  const { milliseconds } = request.limits;
  const fail = (message: string): void => reject(new CwlError("limit", message));
  const onError = (error: NodeJS.ErrnoException): void =>
    error.code === "ERR_WORKER_OUT_OF_MEMORY"
      ? fail("the expression needed more memory than it may and was stopped")
      : reject(error);
  const onExit = (): void => fail("the expression's thread ended without an answer");
  let timer = setTimeout(() => fail("the expression's thread did not start"), START_MS);
  const onMessage = (message: FromSandbox | SandboxStarted): void => {
    if (!("started" in message)) {
      resolve(message);
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(
      () => fail(`the expression ran longer than ${milliseconds} ms and was stopped`),
      milliseconds + GRACE_MS,
    );
  };
  worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  try {
    worker.postMessage(request);
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.off("message", onMessage).off("error", onError).off("exit", onExit);
  }
}
