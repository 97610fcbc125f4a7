import { isDeepStrictEqual } from "node:util";
import type { Variables, Variant } from "@swath/manifest";
import type { Mistake, Warning } from "./report.ts";
import { definitionOf, variableNames } from "./variables/table.ts";

export interface ExplicitValue {
  readonly value: unknown;
  /** The alias it was given by; undefined when by its own name. */
  readonly alias?: string;
}

export interface ExplicitValues {
  readonly values: ReadonlyMap<keyof Variables, ExplicitValue>;
  readonly mistakes: readonly Mistake[];
}

/** Reads every variable of the table from the environment, by its name and its aliases. An empty one counts as not set. */
export function readGivenValues(env: Readonly<Record<string, string | undefined>>): ExplicitValues {
  const values = new Map<keyof Variables, ExplicitValue>();
  const mistakes: Mistake[] = [];
  for (const name of variableNames) {
    const { type, aliases = [] } = definitionOf(name);
    for (const source of [name, ...aliases]) {
      const text = env[source];
      if (text === undefined || text === "") {
        continue;
      }
      const parsed = type.parse(text);
      const shown = type.secret ? {} : { value: text };
      if ("problem" in parsed) {
        mistakes.push({ subject: source, ...shown, problem: parsed.problem, allowed: type.allowed });
        continue;
      }
      const earlier = values.get(name);
      if (earlier === undefined) {
        values.set(name, { value: parsed.value, ...(source === name ? {} : { alias: source }) });
      } else if (!isDeepStrictEqual(earlier.value, parsed.value)) {
        const other = earlier.alias ?? name;
        mistakes.push({
          subject: source,
          ...shown,
          problem: type.secret
            ? `and ${other} are names of the same variable with different values; set one of them`
            : `contradicts ${other}=${JSON.stringify(env[other])}: they are names of the same variable; set one of them`,
        });
      }
    }
  }
  return { values, mistakes };
}

/** True when the variable does something in that variant. */
export function appliesTo(name: keyof Variables, variant: Variant): boolean {
  const { variants, worksInBoth } = definitionOf(name);
  return variants === undefined || worksInBoth === true || variants.includes(variant);
}

export function warnOfOtherVariant(values: ExplicitValues["values"], variant: Variant): Warning[] {
  return [...values]
    .filter(([name]) => !appliesTo(name, variant))
    .map(([name, { alias }]) => ({
      subject: alias ?? name,
      message: `belongs to variant ${variant === "A" ? "B" : "A"} and has no effect in this deployment, which is variant ${variant}`,
    }));
}
