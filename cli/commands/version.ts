import packageJson from "../../package.json" with { type: "json" };
import type { Command } from "./command.ts";

export const versionCommand: Command = {
  name: "version",
  summary: "print the version",
  usage: "Usage: swath version",
  run: async ({ stdout }) => {
    stdout.write(`swath ${packageJson.version} (node ${process.versions.node})\n`);
    return 0;
  },
};
