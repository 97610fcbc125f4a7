import { parseArgs } from "node:util";

import { findAlarms } from "../../view/find-alarms.ts";
import { joinMetrics } from "../../view/join-metrics.ts";
import type { Command } from "../command.ts";
import { findPod } from "./find-pod.ts";
import { openTarget } from "../../targets/open-target.ts";

export const metricsCommand: Command = {
  name: "metrics",
  summary: "print what the pods measure, as Prometheus text",
  usage: `
Usage: swath metrics [-p POD] [CLUSTER]

  -p, --pod POD   one pod only: its name, or its workload's (its newest pod)

Metrics are not public: this reads them where only the operator can. Samples of several pods have the label "pod".
A scraper without access to the pods takes the text from a file: swath metrics > FILE.prom in a timer, for the textfile collector.
Requests that ended by a defect of a service are reported as alarms on standard error.
Ends with 3 when a pod did not answer; the others are printed.`,
  run: async ({ args, env, stdout, stderr }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { pod: { type: "string", short: "p" } },
    });
    const target = openTarget(positionals[0], env);
    const pods =
      values.pod === undefined
        ? (await target.listPods()).filter(({ phase }) => phase !== "Completed")
        : [await findPod(target, values.pod)];
    const found = new Map<string, string>();
    let failed = 0;
    for (const pod of pods) {
      try {
        const text = await target.readMetrics(pod);
        if (text !== undefined) {
          found.set(pod.name, text);
          findAlarms(pod.name, text).forEach((alarm) => stderr.write(`alarm: ${alarm}\n`));
        }
      } catch (error) {
        failed += 1;
        stderr.write(`${pod.name}: ${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
    stdout.write(joinMetrics(found));
    return failed === 0 ? 0 : 3;
  },
};
