import type { ChildProcess } from "node:child_process";
import { startCommand, toStartError } from "./start-command.ts";
import type { CommandStart } from "./start-command.ts";

export interface CommandExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A command that was started, here or by a helper. */
export interface RunningCommand {
  /** undefined when it could not be started; `ended` then rejects. */
  readonly pid: number | undefined;
  /** Resolves when the process has ended, with a StartError when it never began. */
  readonly ended: Promise<CommandExit>;
  /** Waits a moment for what is still in the pipes; a process outside our reach may hold them open for ever. */
  readonly drain: () => Promise<void>;
  /** Stops listening. */
  readonly close: () => void;
}

/** How long an ended command's pipes may still bring something. */
const drainMs = 200;

/** Starts a command as a child of this process; `onOutput` gets what was not redirected. */
export function startHere(start: CommandStart, onOutput: (text: string) => void): RunningCommand {
  const child = startCommand(start);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", onOutput);
  }
  return {
    pid: child.pid,
    ended: new Promise((resolve, reject) => {
      child.once("error", (error) => reject(toStartError(error)));
      // "exit", not "close": a background process that keeps our pipe open must not keep the job alive.
      child.once("exit", (code, signal) => resolve({ code, signal }));
    }),
    drain: () => drained(child),
    close: () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
  };
}

async function drained(child: ChildProcess): Promise<void> {
  const open = [child.stdout, child.stderr].filter((stream) => stream !== null && !stream.readableEnded);
  if (open.length > 0) {
    await Promise.race([
      Promise.all(open.map((stream) => new Promise((resolve) => stream?.once("end", resolve)))),
      new Promise((resolve) => setTimeout(resolve, drainMs).unref()),
    ]);
  }
}
