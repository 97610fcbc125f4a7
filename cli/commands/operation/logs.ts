import { parseArgs } from "node:util";

import { CommandError, type Command } from "../command.ts";
import { findPod } from "./find-pod.ts";
import { openTarget } from "../../targets/open-target.ts";
import { untilInterrupted } from "../until-interrupted.ts";

export const logsCommand: Command = {
  name: "logs",
  summary: "print a pod's log",
  usage: `
Usage: swath logs POD [-f] [--tail LINES] [CLUSTER]

  POD                a pod's name, or a workload's (its newest pod); "supervisor" for the cluster's own log
  -f, --follow       go on until interrupted
      --tail LINES   only the last lines`,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { follow: { type: "boolean", short: "f" }, tail: { type: "string" } },
    });
    const [name, cluster] = positionals;
    if (name === undefined) {
      throw new CommandError("which pod? Usage: swath logs POD [-f] [CLUSTER]; swath pods lists them", 2);
    }
    const lines = values.tail === undefined ? Number.MAX_SAFE_INTEGER : Number(values.tail);
    if (!Number.isInteger(lines) || lines < 0) {
      throw new CommandError(`--tail ${values.tail} is not a number of lines`, 2);
    }
    const target = openTarget(cluster, env);
    const pod = name === "supervisor" ? name : (await findPod(target, name)).name;
    if (values.follow) {
      for await (const line of target.followLog(pod, lines, untilInterrupted())) {
        stdout.write(`${line}\n`);
      }
    } else {
      const found = await target.tailLog(pod, lines);
      stdout.write(found.map((line) => `${line}\n`).join(""));
    }
    return 0;
  },
};
