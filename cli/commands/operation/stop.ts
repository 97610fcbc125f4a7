import { parseArgs } from "node:util";

import { stopDeployment } from "../../targets/embedded/stop-start.ts";
import type { Command } from "../command.ts";
import { openEmbeddedTarget, DEFAULT_CLUSTER } from "../../targets/open-target.ts";

export const stopCommand: Command = {
  name: "stop",
  summary: "stop all pods, keep the deployment",
  usage: `
Usage: swath stop [CLUSTER]

Stops every pod and the cluster's supervisor. swath start brings the same deployment back.`,
  run: async ({ args, env, stdout }) => {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    const target = openEmbeddedTarget(positionals[0], env);
    await stopDeployment(positionals[0] ?? DEFAULT_CLUSTER, env);
    stdout.write(`stopped the ${target.title}\n`);
    return 0;
  },
};
