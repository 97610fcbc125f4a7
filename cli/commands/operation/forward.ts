import { parseArgs } from "node:util";

import { CommandError, type Command } from "../command.ts";
import { openTarget, readDeployedPlan } from "../../targets/open-target.ts";
import { untilInterrupted } from "../until-interrupted.ts";

export const forwardCommand: Command = {
  name: "forward",
  summary: "reach a deployment on Kubernetes without its ingress",
  usage: `
Usage: swath forward [-p PORT] [CLUSTER]

Listens on this machine's loopback, until interrupted, and passes each request by its Host on to the service's pod through
the Kubernetes API: curl -H 'Host: ades-open.<domain>' http://127.0.0.1:9876/

  -p, --port PORT   another port than the deployment's TEMP_FORWARDING_PORT; 0 for any free one`,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { port: { type: "string", short: "p" } },
    });
    const target = openTarget(positionals[0], env);
    const { forward } = target;
    if (forward === undefined) {
      throw new CommandError(`the ${target.title} has an ingress of its own on this machine: swath urls`);
    }
    const plan = await readDeployedPlan(target);
    const port = values.port === undefined ? plan.settings.variables.TEMP_FORWARDING_PORT : Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) {
      throw new CommandError(`--port ${values.port} is not a port`, 2);
    }
    const opened = await forward(port);
    stdout.write(`forwarding http://127.0.0.1:${opened.port}/ by Host; interrupt to end\n`);
    const signal = untilInterrupted();
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await opened.close();
    return 0;
  },
};
