import { accessRules } from "./contradictions/access.ts";
import { certificateRules } from "./contradictions/certificates.ts";
import { clusterRules } from "./contradictions/cluster.ts";
import { componentRules } from "./contradictions/components.ts";
import type { ContradictionRule } from "./contradictions/rule.ts";
import type { RuleContext } from "./define.ts";
import type { Mistake, Warning } from "./report.ts";
import type { Config } from "./config.ts";
import { effectRules } from "./contradictions/without-effect.ts";
import { definitionOf } from "./variables/table.ts";

const rules: readonly ContradictionRule[] = [
  ...componentRules,
  ...accessRules,
  ...certificateRules,
  ...clusterRules,
  ...effectRules,
];

/** Values that are each allowed and do not go together. */
export function checkContradictions(
  config: Config,
  context: RuleContext,
): { readonly warnings: readonly Warning[]; readonly mistakes: readonly Mistake[] } {
  const warnings: Warning[] = [];
  const mistakes: Mistake[] = [];
  for (const rule of rules) {
    const message = rule.check({
      config,
      variables: config.variables,
      isExplicit: context.isExplicit,
      facts: context.facts,
      defaultOf: (name) => {
        const { fallback } = definitionOf(name);
        return "value" in fallback ? fallback.value : fallback.derive(context);
      },
    });
    if (message === undefined) {
      continue;
    }
    if (rule.impossible) {
      mistakes.push({ subject: rule.subject, problem: message });
    } else {
      warnings.push({ subject: rule.subject, message });
    }
  }
  return { warnings, mistakes };
}
