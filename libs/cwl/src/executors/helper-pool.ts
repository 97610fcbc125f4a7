import { availableParallelism } from "node:os";
import type { Helper } from "./helper.ts";
import { startHere } from "./running-command.ts";
import type { RunningCommand } from "./running-command.ts";
import type { CommandStart } from "./start-command.ts";

/** More of them start nothing faster. */
const mostHelpers = 4;

/** Starts commands here, or by helpers while there are any. */
export class HelperPool {
  private helpers: Helper[] = [];
  private turn = 0;
  private opening: Promise<void> | undefined;

  async start(start: CommandStart, onOutput: (text: string) => void): Promise<RunningCommand> {
    const ready = this.helpers.filter((helper) => helper.ready);
    this.turn += 1;
    const helper = ready[this.turn % Math.max(ready.length, 1)];
    return helper === undefined ? startHere(start, onOutput) : await helper.start(start, onOutput);
  }

  /** Begins to start the helpers. Until they are ready, and when they die, commands are started here. */
  open(): void {
    if (this.opening === undefined) {
      const opening = this.startAll(() => this.opening === opening);
      this.opening = opening;
    }
  }

  private async startAll(isWanted: () => boolean): Promise<void> {
    // Most runs have few jobs and do without its code.
    const { Helper: HelperClass } = await import("./helper.ts");
    if (isWanted()) {
      const count = Math.min(mostHelpers, availableParallelism());
      this.helpers = Array.from({ length: count }, () => new HelperClass());
    }
  }

  close(): void {
    this.opening = undefined;
    for (const helper of this.helpers) {
      helper.close();
    }
    this.helpers = [];
  }
}
