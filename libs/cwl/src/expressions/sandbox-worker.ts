// Runs scripts in a thread of its own; started by sandbox-pool.ts.
import { parentPort, workerData } from "node:worker_threads";
import { CwlError, messageOf } from "../errors.ts";
import type { FromSandbox, SandboxStarted, ToSandbox } from "./sandbox-messages.ts";
import { Sandbox, ScriptError } from "./sandbox.ts";
import type { WebAssemblyModule } from "./web-assembly.ts";

const sandbox = new Sandbox(workerData as WebAssemblyModule);

parentPort?.on("message", (request: ToSandbox) => {
  void response(request)
    .catch((error: unknown) => ({
      code: error instanceof CwlError ? error.code : ("expression" as const),
      message: messageOf(error),
      log: error instanceof ScriptError ? error.log : "",
    }))
    .then((result: FromSandbox) => parentPort?.postMessage(result));
});

async function response(request: ToSandbox): Promise<FromSandbox> {
  return "script" in request
    ? await sandbox.run(request.script, request.limits, () =>
        parentPort?.postMessage({ started: true } satisfies SandboxStarted),
      )
    : { messages: await sandbox.check(request.sources, request.limits), log: "" };
}
