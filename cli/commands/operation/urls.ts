import { parseArgs } from "node:util";

import type { Plan } from "../../platform/plan.ts";
import { formatTable } from "../../view/table.ts";
import type { Command } from "../command.ts";
import { openTarget, readDeployedPlan } from "../../targets/open-target.ts";
import { outputOption, wantsJson } from "../output-option.ts";

export const urlsCommand: Command = {
  name: "urls",
  summary: "list the addresses of all services",
  usage: `
Usage: swath urls [CLUSTER] [-o json]`,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: outputOption,
    });
    const asJson = wantsJson(values);
    const plan = await readDeployedPlan(openTarget(positionals[0], env));
    stdout.write(
      asJson ? `${JSON.stringify(Object.fromEntries(listUrls(plan)), null, 2)}\n` : formatTable(listUrls(plan)),
    );
    return 0;
  },
};

/** Service and address of every public host. */
export function listUrls({ routes, settings: { scheme, publicPort } }: Plan): readonly (readonly [string, string])[] {
  const port = publicPort === (scheme === "https" ? 443 : 80) ? "" : `:${publicPort}`;
  return routes.map(({ service, host }) => [service, `${scheme}://${host}${port}/`] as const);
}
