import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import type { FromHelper, ToHelper } from "./helper-messages.ts";
import type { CommandExit, RunningCommand } from "./running-command.ts";
import { StartError } from "./start-command.ts";
import type { CommandStart } from "./start-command.ts";

interface Entry {
  readonly onOutput: (text: string) => void;
  readonly started: PromiseWithResolvers<number | undefined>;
  readonly ended: PromiseWithResolvers<CommandExit>;
}

/** A small process that starts commands for this one. */
export class Helper {
  /** Whether it can be used: not yet while it starts, no more when it has ended. */
  ready = false;
  private readonly child: ChildProcess;
  private readonly entries = new Map<number, Entry>();
  private nextId = 0;

  constructor() {
    this.child = fork(new URL("./helper-main.ts", import.meta.url), [], {
      // Not this process's own: a debugger or profiler is meant for this one alone.
      execArgv: [],
      // A terminal's signals are for the engine to act on.
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.child.on("message", (message) => this.take(message as FromHelper));
    this.child.on("error", () => this.end());
    this.child.once("exit", () => this.end());
    // It must not keep the engine from ending.
    this.child.unref();
    this.child.channel?.unref();
  }

  async start(start: CommandStart, onOutput: (text: string) => void): Promise<RunningCommand> {
    const id = this.nextId;
    this.nextId += 1;
    const entry: Entry = {
      onOutput,
      started: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    };
    // Whoever waits sees the failure; nobody may be there yet.
    entry.ended.promise.catch(() => undefined);
    this.entries.set(id, entry);
    if (this.entries.size === 1) {
      this.child.channel?.ref();
    }
    this.child.send({ id, start } satisfies ToHelper);
    return {
      pid: await entry.started.promise,
      ended: entry.ended.promise,
      // The helper has done so before it said that the command ended.
      drain: () => Promise.resolve(),
      close: () => this.forget(id),
    };
  }

  /** Ends it. What it had started goes on without a parent. */
  close(): void {
    this.ready = false;
    this.child.kill("SIGKILL");
  }

  private take(message: FromHelper): void {
    if (message.type === "ready") {
      this.ready = true;
      return;
    }
    const entry = this.entries.get(message.id);
    switch (message.type) {
      case "started":
        entry?.started.resolve(message.pid);
        break;
      case "output":
        entry?.onOutput(message.text);
        break;
      case "exited":
        entry?.ended.resolve({ code: message.code, signal: message.signal });
        break;
      case "failed":
        entry?.ended.reject(new StartError(message.code, message.message, message.path));
        entry?.started.resolve(undefined);
        break;
    }
  }

  private forget(id: number): void {
    this.entries.delete(id);
    if (this.entries.size === 0) {
      this.child.channel?.unref();
    }
  }

  /** The helper is gone: what it started has lost its parent, and how it ends cannot be known any more. */
  private end(): void {
    this.ready = false;
    for (const entry of this.entries.values()) {
      entry.ended.reject(new StartError("EHELPER", "the process that starts commands has ended", undefined));
      entry.started.resolve(undefined);
    }
  }
}
