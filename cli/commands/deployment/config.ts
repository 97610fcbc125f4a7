import { parseArgs } from "node:util";
import { deployUsage } from "../../config/arguments.ts";
import { formatMistake, formatWarning } from "../../config/report.ts";
import { components } from "../../platform/components.ts";
import { createPlan } from "../../platform/plan.ts";
import { showPortalValues } from "../../platform/portal-values.ts";
import { resolveConfig, type Resolution } from "../../config/resolve.ts";
import { describeOrigin, showConfig } from "../../config/show.ts";
import { CommandError, type Command, type CommandContext } from "../command.ts";
import { readClusterSettings } from "../../targets/embedded/state/cluster-settings.ts";
import { clusterPaths } from "../../targets/embedded/state/paths.ts";
import { collectMachineFacts } from "../../targets/machine-facts.ts";

const usage = `usage: swath config [-o text|json] [--changed] [--portal-values] [<cluster-name> [<domain>] [<public-ip>]]

Prints the configuration that apply would use: every variable, its value (secrets masked) and where the value comes from.

  -o, --output FORMAT  text (default) or json
      --changed        only what the environment or an argument set
      --portal-values  instead: the portal's chart values, with those of the file PORTAL_VALUES in place, as YAML
`;

export const configCommand: Command = {
  name: "config",
  summary: "Show the resolved configuration and where each value comes from",
  usage,
  run: runConfig,
};

async function runConfig({ args, env, stdout, stderr }: CommandContext): Promise<number> {
  const { values, positionals } = parseOptions(args);
  const [clusterName, arg3, arg4] = positionals;
  const deployArguments = { clusterName, arg3, arg4 };
  const facts = await collectMachineFacts({
    env,
    args: deployArguments,
    readKeptDomain: async (name) => readClusterSettings(clusterPaths(name, env))?.domain,
  });
  const resolution = resolveConfig({ env, args: deployArguments, facts });
  if (values["portal-values"]) {
    return printPortalValues(resolution, { stdout, stderr });
  }
  stdout.write(values.output === "json" ? toJson(resolution) : toText(resolution, values.changed ?? false));
  stderr.write(reportProblems(resolution));
  return resolution.mistakes.length > 0 ? 1 : 0;
}

function printPortalValues(
  resolution: Resolution,
  { stdout, stderr }: Pick<CommandContext, "stdout" | "stderr">,
): number {
  stderr.write(reportProblems(resolution));
  if (resolution.mistakes.length > 0) {
    return 1;
  }
  const values = showPortalValues(createPlan(resolution.config, components));
  if (values === undefined) {
    throw new CommandError("the portal is not part of this deployment; set REQUIRE_PORTAL=true");
  }
  stdout.write(values);
  return 0;
}

function parseOptions(args: readonly string[]) {
  try {
    const parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        output: { type: "string", short: "o", default: "text" },
        changed: { type: "boolean" },
        "portal-values": { type: "boolean" },
      },
    });
    if (parsed.values.output !== "text" && parsed.values.output !== "json") {
      throw new CommandError(`unknown output format "${parsed.values.output}"; formats: text, json`, 2);
    }
    if (parsed.positionals.length > 3) {
      throw new CommandError(`too many arguments\n${usage}`, 2);
    }
    return parsed;
  } catch (error) {
    if (error instanceof TypeError) {
      throw new CommandError(`${error.message}\n${usage}`, 2);
    }
    throw error;
  }
}

function toJson({ config, warnings, mistakes }: Resolution): string {
  const values = showConfig(config).map(({ name, value, secret, origin }) => ({ name, value, secret, origin }));
  return `${JSON.stringify({ variant: config.variant, values, warnings, mistakes }, null, 2)}\n`;
}

function toText({ config }: Resolution, changedOnly: boolean): string {
  const isSet = new Set(["environment", "alias", "argument"]);
  const shown = showConfig(config).filter(({ origin }) => !changedOnly || isSet.has(origin.kind));
  const nameWidth = Math.max(0, ...shown.map(({ name }) => name.length));
  const valueWidth = Math.min(30, Math.max(0, ...shown.map(({ value }) => String(value ?? "(none)").length)));
  const lines: string[] = [];
  let group = "";
  for (const item of shown) {
    if (item.group !== group) {
      lines.push(...(group === "" ? [] : [""]), item.group);
      group = item.group;
    }
    const value = String(item.value ?? "(none)").padEnd(valueWidth);
    lines.push(`  ${item.name.padEnd(nameWidth)}  ${value}  ${describeOrigin(item.origin)}`);
  }
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

function reportProblems({ warnings, mistakes }: Resolution): string {
  return [
    ...warnings.map((warning) => `WARNING: ${formatWarning(warning)}\n`),
    ...mistakes.map((mistake) => `ERROR: ${formatMistake(mistake)}\n`),
    ...(mistakes.some((mistake) => mistake.usage) ? [`${deployUsage}\n`] : []),
  ].join("");
}
