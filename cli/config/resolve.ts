import type { Variables, Variant } from "@swath/manifest";
import { isLocalDomain, isPrivateAddress } from "./addresses.ts";
import { parseArguments, type DeployArguments, type ParsedArguments } from "./arguments.ts";
import type { Config } from "./config.ts";
import { checkContradictions } from "./contradictions.ts";
import type { Origin, RuleContext } from "./define.ts";
import { parseExtraOptions } from "./extra-options.ts";
import type { MachineFacts } from "./facts.ts";
import { appliesTo, readGivenValues, warnOfOtherVariant, type ExplicitValue } from "./given.ts";
import type { Mistake, Warning } from "./report.ts";
import { readPortalValues } from "./portal-values/read-portal-values.ts";
import { findAddress, findDomain, findPublicPort, listensOnLoopback } from "./placement.ts";
import { describeOrigin, showConfig } from "./show.ts";
import { warnOfUnknownNames } from "./unknown-names.ts";
import { allVariableNames, definitionOf, variableNames } from "./variables/table.ts";

export interface Resolution {
  /** Complete even where there are mistakes (a wrong value counts as not set), but not to be deployed then. */
  readonly config: Config;
  readonly warnings: readonly Warning[];
  readonly mistakes: readonly Mistake[];
}

export interface ResolveInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly args: DeployArguments;
  readonly facts: MachineFacts;
}

/** Everything the operator said, as one typed configuration. Pure: the same input gives the same result. */
export function resolveConfig({ env, args, facts }: ResolveInput): Resolution {
  const parsed = parseArguments(args);
  const explicit = readGivenValues(env);
  const variant = explicit.values.get("PLATFORM_VARIANT")?.value === "B" ? "B" : "A";
  const context = createContext(explicit.values, variant, parsed, facts);
  const variables: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const name of variableNames) {
    variables[name] = context.get(name);
    origins[name] = findOrigin(name, explicit.values.get(name), context);
  }
  origins["clusterName"] = args.clusterName ? { kind: "argument" } : { kind: "default" };
  origins["domain"] = findDomain(parsed, context).origin;
  origins["publicIp"] = findAddress(parsed, context).origin;
  const extraOptions = parseExtraOptions(context.get("LOCALCLUSTER_EXTRA_OPTIONS"));
  const scheme = context.get("USE_TLS") ? "https" : "http";
  const portal = facts.portalValues && readPortalValues(facts.portalValues, context.domain());
  const unshown: Config = {
    action: parsed.action,
    variant,
    clusterName: parsed.clusterName,
    domain: context.domain(),
    publicIp: context.publicIp(),
    scheme,
    publicPort: findPublicPort(scheme, extraOptions, context),
    variables: variables as unknown as Variables,
    origins: origins as unknown as Config["origins"],
    extraOptions,
    onLoopback: context.onLoopback(),
    ...(portal && { portalValues: portal.values }),
  };
  const shown = showConfig(unshown).map((value) => ({ ...value, origin: describeOrigin(value.origin) }));
  const config: Config = { ...unshown, shown };
  const contradictions = checkContradictions(config, context);
  return {
    config,
    warnings: [
      ...warnOfUnknownNames(env, allVariableNames()),
      ...warnOfOtherVariant(explicit.values, variant),
      ...contradictions.warnings,
    ],
    mistakes: [...parsed.mistakes, ...explicit.mistakes, ...(portal?.mistakes ?? []), ...contradictions.mistakes],
  };
}

function createContext(
  explicit: ReadonlyMap<keyof Variables, ExplicitValue>,
  variant: Variant,
  args: ParsedArguments,
  facts: MachineFacts,
): RuleContext {
  const known = new Map<keyof Variables, unknown>();
  const context: RuleContext = {
    variant,
    clusterName: args.clusterName,
    facts,
    isExplicit: (name) => explicit.has(name),
    get: <K extends keyof Variables>(name: K) => {
      if (!known.has(name)) {
        known.set(name, findValue(name, explicit, variant, context));
      }
      return known.get(name) as Variables[K];
    },
    publicIp: () => findAddress(args, context).value,
    domain: () => findDomain(args, context).value,
    isPrivate: () => {
      const domain = context.domain();
      return isLocalDomain(domain) || (args.domain === undefined && isPrivateAddress(context.publicIp()));
    },
    onLoopback: () => facts.ingressOnLoopback ?? listensOnLoopback(args, context),
  };
  return context;
}

function findValue(
  name: keyof Variables,
  explicit: ReadonlyMap<keyof Variables, ExplicitValue>,
  variant: Variant,
  context: RuleContext,
): unknown {
  const definition = definitionOf(name);
  if (!appliesTo(name, variant)) {
    if (definition.type.name === "boolean") {
      return false;
    }
  } else {
    const overruled = definition.overrule?.derive(context);
    if (overruled !== undefined) {
      return overruled;
    }
    const set = explicit.get(name);
    if (set !== undefined) {
      return set.value;
    }
  }
  return "value" in definition.fallback ? definition.fallback.value : definition.fallback.derive(context);
}

function findOrigin(name: keyof Variables, explicit: ExplicitValue | undefined, context: RuleContext): Origin {
  const { fallback, overrule } = definitionOf(name);
  if (!appliesTo(name, context.variant)) {
    return { kind: "other variant" };
  }
  if (overrule?.derive(context) !== undefined) {
    return { kind: "derived", rule: overrule.rule };
  }
  if (explicit !== undefined) {
    return explicit.alias === undefined ? { kind: "environment" } : { kind: "alias", name: explicit.alias };
  }
  return "value" in fallback ? { kind: "default" } : { kind: "derived", rule: fallback.rule };
}
