import type { Command } from "./command.ts";
import { commands } from "./index.ts";

export const helpCommand: Command = {
  name: "help",
  summary: "show this list",
  usage: "Usage: swath help",
  run: async ({ stdout }) => {
    const width = Math.max(...commands.map(({ name }) => name.length));
    const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
    stdout.write(
      `Usage: swath <command> [options] [cluster]\n\n${lines.join("\n")}\n\n` +
        `The cluster is "swath" when left out. "swath <command> --help" says more.\n` +
        `To make a deployment: deploy/simple/simple, or deploy/swath/swath.sh apply.\n`,
    );
    return 0;
  },
};
