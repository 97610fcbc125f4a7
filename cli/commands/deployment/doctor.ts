import { parseArgs } from "node:util";

import { formatMistake } from "../../config/report.ts";
import { examine, examinePublic } from "../../doctor/examine.ts";
import type { Finding } from "../../doctor/finding.ts";
import { components } from "../../platform/components.ts";
import { createPlan } from "../../platform/plan.ts";
import { PortError } from "../../targets/embedded/choose-ports.ts";
import { prepareCluster } from "../../targets/embedded/prepare-cluster.ts";
import { createEmbeddedTarget } from "../../targets/embedded/embedded-target.ts";
import { listClusters } from "../../targets/embedded/state/paths.ts";
import { CommandError, type Command } from "../command.ts";
import { DEFAULT_CLUSTER } from "../../targets/open-target.ts";
import { outputOption, wantsJson } from "../output-option.ts";

export const doctorCommand: Command = {
  name: "doctor",
  summary: "check this machine for what apply would need",
  usage: `
Usage: swath doctor [CLUSTER] [-o json]
       swath doctor --public [CLUSTER [DOMAIN PUBLIC_IP]] [-o json]

Checks machine, memory, disk, ports, names, container engine and the programs that the variables ask for, and says what each
finding means. Takes the same environment variables as apply. Changes nothing. Ends with 1 when something will not work.

  --public   look at the public address instead: names, ports, certificate, HSTS, redirection, credentials, clock. Before apply with
             domain and address, afterwards with the cluster's name.`,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...outputOption, public: { type: "boolean", default: false } },
    });
    const asJson = wantsJson(values);
    const [cluster = DEFAULT_CLUSTER, ...place] = positionals;
    if (place.length > (values.public ? 2 : 0)) {
      throw new CommandError(
        `too many arguments: ${positionals.join(" ")}; Usage: swath doctor --public [CLUSTER [DOMAIN PUBLIC_IP]]`,
        2,
      );
    }
    const findings = values.public ? await diagnosePublic(cluster, place, env) : await diagnose(cluster, env);
    stdout.write(asJson ? `${JSON.stringify(findings, null, 2)}\n` : formatFindings(findings));
    return findings.some(({ verdict }) => verdict === "bad") ? 1 : 0;
  },
};

/** Of what is deployed, or would be at the given place. */
async function diagnosePublic(
  clusterName: string,
  [arg3, arg4]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<readonly Finding[]> {
  const deployed = arg3 === undefined && listClusters(env).includes(clusterName);
  const plan = deployed ? await createEmbeddedTarget(clusterName, env).readPlan() : undefined;
  const place = plan === undefined ? { arg3, arg4 } : { arg3: plan.settings.domain, arg4: plan.settings.publicIp };
  const args = { action: "apply", clusterName, ...place };
  const prepared = await prepareCluster({ args, env, clusterName, bindPorts: false });
  const { config, mistakes } = prepared.resolution;
  if (config.onLoopback) {
    throw new CommandError(
      "this deployment is for this machine alone; name its domain and public address: swath doctor --public CLUSTER DOMAIN PUBLIC_IP",
    );
  }
  const wrong = plan === undefined ? mistakes : [];
  return [
    ...wrong.map((each): Finding => ({ verdict: "bad", subject: "variables", found: formatMistake(each) })),
    ...(await examinePublic({ env, prepared, plan: plan ?? createPlan(config, components) })),
  ];
}

async function diagnose(clusterName: string, env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  const args = { action: "apply", clusterName };
  try {
    const prepared = await prepareCluster({ args, env, clusterName, bindPorts: true });
    const { config, mistakes } = prepared.resolution;
    const findings = mistakes.map((mistake): Finding => ({
      verdict: "bad",
      subject: "variables",
      found: formatMistake(mistake),
    }));
    return [...findings, ...(await examine({ env, prepared, plan: createPlan(config, components) }))];
  } catch (error) {
    if (error instanceof PortError) {
      return [{ verdict: "bad", subject: "ports", found: error.message }];
    }
    throw error;
  }
}

const MARKS = { good: "ok  ", limited: "note", bad: "BAD " } as const;

function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  const margin = " ".repeat(width + 8);
  const lines = findings.flatMap(({ verdict, subject, found, meaning, advice }) => [
    `${MARKS[verdict]}  ${subject.padEnd(width)}  ${found}`,
    ...(meaning === undefined ? [] : [`${margin}${meaning}`]),
    ...(advice === undefined ? [] : [`${margin}-> ${advice}`]),
  ]);
  const bad = findings.filter(({ verdict }) => verdict === "bad").length;
  const end =
    bad === 0
      ? "Ready to deploy: deploy/simple/simple"
      : `${bad} of these ${bad === 1 ? "keeps" : "keep"} the platform from working.`;
  return `${lines.join("\n")}\n\n${end}\n`;
}
