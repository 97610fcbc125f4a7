import { parseArgs } from "node:util";

import { startDeployment } from "../../targets/embedded/stop-start.ts";
import { watchUntilSettled } from "../../view/watch-until-settled.ts";
import type { Command } from "../command.ts";
import { DEFAULT_CLUSTER, openEmbeddedTarget, readDeployedPlan } from "../../targets/open-target.ts";

export const startCommand: Command = {
  name: "start",
  summary: "start what was stopped or killed",
  usage: `
Usage: swath start [CLUSTER]

Starts the deployment as it was applied last: after swath stop, a restart of the machine, or a killed supervisor
(pods that still run are taken over).`,
  run: async ({ args, env, stdout, stderr }) => {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    const target = openEmbeddedTarget(positionals[0], env);
    await readDeployedPlan(target);
    await startDeployment(positionals[0] ?? DEFAULT_CLUSTER, env);
    const outcome = await watchUntilSettled({ target, stdout, finished: Promise.resolve() });
    if (!outcome.settled) {
      stderr.write(outcome.explanation);
      return 1;
    }
    stdout.write(`\nReady: ${outcome.pods} pods are Running or Completed.\n`);
    return 0;
  },
};
