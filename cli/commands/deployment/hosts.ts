import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { CommandError, type Command } from "../command.ts";
import { DEFAULT_CLUSTER, openTarget, readDeployedPlan } from "../../targets/open-target.ts";

export const hostsCommand: Command = {
  name: "hosts",
  summary: "/etc/hosts lines for programs that cannot resolve the domain",
  usage: `
Usage: swath hosts [--write | --remove] [--file FILE] [CLUSTER]

Prints the lines. Curl and browsers find *.localhost by themselves; Python, aws, GDAL and others ask the system.

  --write        put them into /etc/hosts (needs root), replacing those of an earlier call
  --remove       take them out again
  --file FILE    another file than /etc/hosts`,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        write: { type: "boolean" },
        remove: { type: "boolean" },
        file: { type: "string", default: "/etc/hosts" },
      },
    });
    const cluster = positionals[0] ?? DEFAULT_CLUSTER;
    if (values.write && values.remove) {
      throw new CommandError("--write or --remove, not both", 2);
    }
    if (values.remove) {
      replaceBlock(values.file, cluster, "");
      stdout.write(`removed the entries of cluster "${cluster}" from ${values.file}\n`);
      return 0;
    }
    const { routes, settings } = await readDeployedPlan(openTarget(positionals[0], env));
    const lines = routes.map(({ host }) => `${settings.publicIp} ${host}\n`).join("");
    if (values.write) {
      replaceBlock(values.file, cluster, lines);
      stdout.write(`wrote ${routes.length} lines into ${values.file}\n`);
    } else {
      stdout.write(lines);
    }
    return 0;
  },
};

/** Replaces this cluster's block in the file, and nothing else. Written in place: /etc/hosts is a mount in containers. */
function replaceBlock(file: string, cluster: string, lines: string): void {
  const begin = `# swath ${cluster}: begin\n`;
  const end = `# swath ${cluster}: end\n`;
  try {
    const text = readFileSync(file, "utf8");
    const from = text.indexOf(begin);
    const to = text.indexOf(end, from);
    const rest = from < 0 || to < 0 ? text : text.slice(0, from) + text.slice(to + end.length);
    const separator = rest === "" || rest.endsWith("\n") ? "" : "\n";
    const made = lines === "" ? rest : `${rest}${separator}${begin}${lines}${end}`;
    if (made !== text) {
      writeFileSync(file, made);
    }
  } catch (error) {
    throw new CommandError(
      `${file} could not be changed: ${(error as Error).message}; run it as root, or put the lines there yourself`,
    );
  }
}
