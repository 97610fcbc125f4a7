import type { Variables, Variant } from "@swath/manifest";
import { deployUsage } from "./arguments.ts";
import type { Fallback, VariableDefinition } from "./define.ts";
import { findOnlyOn } from "./variables/targets.ts";
import { definitionOf, variableGroups } from "./variables/table.ts";

/** docs/reference/variables.md, from the table that the deployment itself reads. */
export function renderVariablesPage(): string {
  const sections = variableGroups.map(({ title, variables }) => {
    const names = Object.keys(variables) as (keyof Variables)[];
    return `## ${title}\n\n| Variable | Variant | Type | Default |\n|---|---|---|---|\n${names.map(renderRow).join("\n")}\n\n${names.map(renderEntry).join("\n")}`;
  });
  return `<!-- Generated from cli/config/variables by \`npm run generate\`. Do not edit. -->

# Variables of the deployment

All are environment variables, read by \`deploy/swath/swath.sh\`, the wrappers and \`swath config\`, which shows the value
of each with its origin. An empty variable counts as not set. Booleans are the words \`true\` and \`false\`. A default that is
a rule is found from the values of other variables; a value that is set wins over every rule except where the entry says so.
Aliases are names that another product uses for the same thing; setting both to different values is a mistake.
All mistakes are reported at once and nothing is deployed then; warnings let the deployment go on.

Variables of the other variant warn and have no effect; its switches are off.

## Arguments

\`\`\`
${deployUsage}
\`\`\`

${sections.join("\n")}`;
}

function renderRow(name: keyof Variables): string {
  const { type, variants, fallback } = definitionOf(name);
  return `| [${name}](#${name.toLowerCase()}) | ${variantOf(variants)} | ${type.name} | ${escapeCell(shortDefault(fallback))} |`;
}

function renderEntry(name: keyof Variables): string {
  const definition = definitionOf(name);
  const { type, fallback, meaning, aliases = [], overrule } = definition;
  return [
    `### ${name}\n`,
    `${escapeText(meaning)}\n`,
    `- Allowed: ${escapeText(type.allowed)}`,
    `- Default: ${longDefault(fallback)}`,
    ...(overrule === undefined ? [] : [`- Always: ${escapeText(overrule.rule)}, whatever was set`]),
    `- Variant: ${variantOf(definition.variants)}${worksElsewhere(definition)}`,
    ...(findOnlyOn(name) === undefined ? [] : [`- Only on: ${findOnlyOn(name)}`]),
    ...(aliases.length === 0 ? [] : [`- Aliases: ${aliases.map((alias) => `\`${alias}\``).join(", ")}`]),
    "",
  ].join("\n");
}

function variantOf(variants: readonly Variant[] | undefined): string {
  return variants?.join(", ") ?? "both";
}

function worksElsewhere({ variants, worksInBoth }: VariableDefinition<unknown>): string {
  return variants !== undefined && worksInBoth ? " (it works in the other variant too)" : "";
}

function shortDefault(fallback: Fallback<unknown>): string {
  return "value" in fallback ? formatValue(fallback.value) : fallback.rule;
}

function longDefault(fallback: Fallback<unknown>): string {
  return "value" in fallback ? formatValue(fallback.value) : escapeText(fallback.rule);
}

function formatValue(value: unknown): string {
  return value === undefined ? "none" : `\`${JSON.stringify(value).replace(/^"(.*)"$/, "$1")}\``;
}

function escapeText(text: string): string {
  // A tag-like <name> outside of code would vanish from the page.
  return text.replace(/(`[^`]*`)|[<>]/g, (found, code?: string) => code ?? (found === "<" ? "&lt;" : "&gt;"));
}

function escapeCell(text: string): string {
  return escapeText(text).replaceAll("|", "\\|");
}
