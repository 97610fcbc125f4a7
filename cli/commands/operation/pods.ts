import { parseArgs } from "node:util";

import { isSettled } from "../../targets/pod-status.ts";
import { formatPods } from "../../view/pod-table.ts";
import type { Command } from "../command.ts";
import { openTarget } from "../../targets/open-target.ts";
import { outputOption, wantsJson } from "../output-option.ts";
import { untilInterrupted } from "../until-interrupted.ts";

export const podsCommand: Command = {
  name: "pods",
  summary: "list pods and their states",
  usage: `
Usage: swath pods [-A] [-n NAMESPACE] [-w] [-o json] [CLUSTER]

  -A, --all-namespaces   all namespaces (they are shown in any case)
  -n, --namespace NAME   one namespace only
  -w, --watch            print every change until interrupted
  -o, --output json      machine-readable

Ends with status 0 when every pod is Running and ready or Completed, 3 when one is not.`,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        "all-namespaces": { type: "boolean", short: "A" },
        namespace: { type: "string", short: "n" },
        watch: { type: "boolean", short: "w" },
        ...outputOption,
      },
    });
    const asJson = wantsJson(values);
    const target = openTarget(positionals[0], env);
    const isWanted = ({ namespace }: { namespace: string }) =>
      values.namespace === undefined || values.namespace === namespace;
    const format = asJson ? (pods: unknown) => `${JSON.stringify(pods, null, 2)}\n` : formatPods;
    if (values.watch) {
      const shown = new Map<string, string>();
      for await (const pods of target.watchPods(untilInterrupted())) {
        for (const pod of pods.filter(isWanted)) {
          const line = JSON.stringify(pod);
          if (shown.get(pod.name) !== line) {
            stdout.write(asJson ? `${line}\n` : formatPods([pod], { header: shown.size === 0 }));
            shown.set(pod.name, line);
          }
        }
      }
      return 0;
    }
    const pods = (await target.listPods()).filter(isWanted);
    stdout.write(pods.length === 0 && !asJson ? `no pods on the ${target.title}\n` : format(pods));
    return pods.every(isSettled) ? 0 : 3;
  },
};
