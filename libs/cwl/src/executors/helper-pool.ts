import { availableParallelism } from "node:os";
import { Helper } from "./helper.ts";
import { startHere } from "./running-command.ts";
import type { RunningCommand } from "./running-command.ts";
import type { CommandStart } from "./start-command.ts";

/** More of them start nothing faster. */
const mostHelpers = 4;

/** Starts commands here, or by helpers while there are any. */
export class HelperPool {
  private helpers: Helper[] = [];
  private turn = 0;

  async start(start: CommandStart, onOutput: (text: string) => void): Promise<RunningCommand> {
    const ready = this.helpers.filter((helper) => helper.ready);
    this.turn += 1;
    const helper = ready[this.turn % Math.max(ready.length, 1)];
    return helper === undefined ? startHere(start, onOutput) : await helper.start(start, onOutput);
  }

  /** Begins to start the helpers. Until they are ready, and when they die, commands are started here. */
  open(): void {
    if (this.helpers.length === 0) {
      const count = Math.min(mostHelpers, availableParallelism());
      this.helpers = Array.from({ length: count }, () => new Helper());
    }
  }

  close(): void {
    for (const helper of this.helpers) {
      helper.close();
    }
    this.helpers = [];
  }
}
