import { parseArgs } from "node:util";

import { CommandError, type Command } from "../command.ts";
import { openTarget } from "../../targets/open-target.ts";

export const restartCommand: Command = {
  name: "restart",
  summary: "restart a pod",
  usage: `
Usage: swath restart POD [CLUSTER]

  POD   a pod's name, or a workload's (all its pods)`,
  run: async ({ args, env, stdout }) => {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    const [name, cluster] = positionals;
    if (name === undefined) {
      throw new CommandError("which pod? Usage: swath restart POD [CLUSTER]; swath pods lists them", 2);
    }
    const target = openTarget(cluster, env);
    const pods = await target.restart(name);
    if (pods.length === 0) {
      throw new CommandError(`there is no pod or workload "${name}"; swath pods lists them`);
    }
    stdout.write(pods.map((pod) => `restarted ${pod}\n`).join(""));
    return 0;
  },
};
