import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { constants } from "node:os";

import { TEST_RUN, endTestProcesses } from "./end-test-processes.ts";

/**
 * `tools/develop tools/run-with-cleanup.ts FILE [ARGUMENT]…`: runs a program that starts clusters. However it ends (by itself, by a
 * signal, out of memory), its clusters are deleted and its processes killed: the program cannot do so after a crash.
 */
if (import.meta.main) {
  process.exitCode = await runWithCleanup(process.argv.slice(2));
}

/** @returns the program's exit status; 128 and the number of the signal that ended it, as shells have it */
export async function runWithCleanup(args: readonly string[]): Promise<number> {
  const run = randomUUID();
  // A process group of its own, by which the programs that it starts with another environment are found.
  const child = spawn(process.execPath, args, {
    stdio: "inherit",
    detached: true,
    env: { ...process.env, [TEST_RUN]: run },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => child.kill(signal));
  }
  const [status, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  killGroup(child);
  endTestProcesses(run);
  return status ?? 128 + constants.signals[signal ?? "SIGKILL"];
}

/** Kills what is left of the program's process group. */
function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid ?? 0), "SIGKILL");
  } catch (error) {
    // The program left nothing.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") {
      throw error;
    }
  }
}
