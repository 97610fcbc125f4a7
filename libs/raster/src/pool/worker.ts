import { parentPort, workerData } from "node:worker_threads";

import sharp from "sharp";

import { type EngineOptions, RasterEngine } from "../engine/engine.ts";
import { RasterError, type RasterErrorCode } from "../errors.ts";
import type { FromWorker, Method, ToWorker } from "./messages.ts";

// One engine a thread, started by `RasterPool`.
const port = parentPort;
if (port === null) {
  throw new Error("this file is the main module of a worker thread");
}
// The threads of the pool are what there is of parallel work.
sharp.concurrency(1);
sharp.cache(false);
const engine = new RasterEngine(workerData as EngineOptions);
const running = new Map<number, AbortController>();

port.on("message", (message: ToWorker) => {
  if (message.kind === "cancel") {
    running.get(message.id)?.abort();
    return;
  }
  const { id, method, argument } = message;
  const controller = new AbortController();
  running.set(id, controller);
  run(id, method, argument, controller.signal)
    .then((value) => send({ kind: "done", id, value }, value))
    .catch((error: unknown) => {
      const { code, message: text, stack } = toFacts(error);
      send({ kind: "failed", id, error: { code, message: text, ...(stack !== undefined && { stack }) } });
    })
    .finally(() => running.delete(id));
});

async function run(id: number, method: Method, argument: unknown, signal: AbortSignal): Promise<unknown> {
  if (method === "coverage") {
    for await (const bytes of engine.coverage(argument as never, signal)) {
      const own = new Uint8Array(bytes);
      send({ kind: "part", id, bytes: own }, { bytes: own });
    }
    return undefined;
  }
  const value = await engine[method](argument as never, signal);
  return method === "image"
    ? { ...(value as { bytes: Uint8Array }), bytes: toOwn((value as { bytes: Uint8Array }).bytes) }
    : value;
}

/** Bytes in memory of their own, so that they can be handed over rather than copied with whatever they are a part of. */
function toOwn(bytes: Uint8Array): Uint8Array {
  // Memory of a `Buffer` may be Node.js's own.
  return Buffer.isBuffer(bytes) || bytes.byteLength !== bytes.buffer.byteLength ? new Uint8Array(bytes) : bytes;
}

function send(message: FromWorker, carrier?: unknown): void {
  const bytes = (carrier as { bytes?: unknown } | undefined)?.bytes;
  port?.postMessage(message, bytes instanceof Uint8Array ? [bytes.buffer as ArrayBuffer] : []);
}

/** Errors that are meant to be told apart need no stack; others are faults of the code. */
function toFacts(error: unknown): { code: RasterErrorCode | undefined; message: string; stack: string | undefined } {
  return error instanceof RasterError
    ? { code: error.code, message: error.message, stack: undefined }
    : error instanceof Error
      ? { code: undefined, message: error.message, stack: error.stack }
      : { code: undefined, message: String(error), stack: undefined };
}
