import { Worker } from "node:worker_threads";
import type { CwlErrorCode } from "../errors.ts";
import { CwlError } from "../errors.ts";
import type { SandboxLimits, Script } from "./sandbox.ts";

type Answer = { readonly json: string | undefined } | { readonly code: CwlErrorCode; readonly message: string };

/** How long after its limit a thread that does not answer is ended; its own limit should come first. */
const graceMs = 2000;

/** Runs a slow script in a thread, so that this one goes on with its other work. Expressions have no effects, so one may be started anew. */
export async function runInWorker(script: Script, limits: SandboxLimits): Promise<string | undefined> {
  const worker = new Worker(new URL("./sandbox-worker.ts", import.meta.url), {
    workerData: { script, limits },
    env: {},
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const answer = await new Promise<Answer>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new CwlError("limit", "the expression's thread ended without an answer")));
      timer = setTimeout(() => {
        reject(new CwlError("limit", `the expression ran longer than ${limits.milliseconds} ms and was stopped`));
      }, limits.milliseconds + graceMs);
    });
    if ("code" in answer) {
      throw new CwlError(answer.code, answer.message);
    }
    return answer.json;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
