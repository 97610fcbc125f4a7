// Started by helper.ts as a process of its own: starts commands for the engine and says how they end. The system copies
// a process to start another, so this one, which is small, does it in half the time, and beside the engine's own work.
import { StartError } from "./start-command.ts";
import type { CommandStart } from "./start-command.ts";
import { startHere } from "./running-command.ts";
import type { FromHelper, ToHelper } from "./helper-messages.ts";

process.on("message", (message) => {
  const { id, start } = message as ToHelper;
  void run(id, start);
});
// Without an engine there is nobody to start commands for.
process.on("disconnect", () => process.exit());
tell({ type: "ready" });

async function run(id: number, start: CommandStart): Promise<void> {
  try {
    const command = startHere(start, (text) => tell({ type: "output", id, text }));
    if (command.pid !== undefined) {
      tell({ type: "started", id, pid: command.pid });
    }
    const { code, signal } = await command.ended;
    await command.drain();
    command.close();
    tell({ type: "exited", id, code, signal });
  } catch (error) {
    const { code, message, path } = error instanceof StartError ? error : new StartError("", String(error), undefined);
    tell({ type: "failed", id, code, message, path });
  }
}

function tell(message: FromHelper): void {
  process.send?.(message);
}
