// Runs one script in a thread of its own; started by run-in-worker.ts.
import { parentPort, workerData } from "node:worker_threads";
import { CwlError, messageOf } from "../errors.ts";
import type { SandboxLimits, Script } from "./sandbox.ts";
import { loadSandbox, runScript } from "./sandbox.ts";

const { script, limits } = workerData as { script: Script; limits: SandboxLimits };
try {
  parentPort?.postMessage({ json: runScript(await loadSandbox(), script, limits) });
} catch (error) {
  parentPort?.postMessage({ code: error instanceof CwlError ? error.code : "expression", message: messageOf(error) });
}
