import type { Command } from "./command.ts";
import { commandGroups, commands } from "./index.ts";

export const helpCommand: Command = {
  name: "help",
  summary: "show this list",
  usage: "Usage: swath help",
  run: async ({ stdout }) => {
    const width = Math.max(...commands.map(({ name }) => name.length));
    const groups = commandGroups.map(
      (group) =>
        `${group.title}:\n${group.commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).join("")}`,
    );
    stdout.write(
      `Usage: swath <command> [options] [cluster]\n\n${groups.join("\n")}\n` +
        `The cluster is "swath" when left out. "swath <command> --help" says more.\n` +
        `To make a deployment: deploy/simple/simple, or deploy/swath/swath.sh apply.\n`,
    );
    return 0;
  },
};
