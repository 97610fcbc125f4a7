import type { PlatformSecret, Variables } from "@swath/manifest";
import type { Config } from "./config.ts";
import type { Origin } from "./define.ts";
import { definitionOf, variableGroups } from "./variables/table.ts";

/** One line of the resolved configuration, ready to print: secrets are masked. */
export interface ShownValue {
  readonly name: string;
  readonly group: string;
  readonly value: string | number | boolean | null;
  readonly secret: boolean;
  readonly origin: Origin;
}

/** Every argument and variable with where its value comes from, in the order of the reference page. */
export function showConfig(config: Config): readonly ShownValue[] {
  const argument = (name: "clusterName" | "domain" | "publicIp", shown: string): ShownValue => ({
    name: shown,
    group: "Arguments",
    value: config[name],
    secret: false,
    origin: config.origins[name],
  });
  return [
    argument("clusterName", "cluster-name"),
    argument("domain", "domain"),
    argument("publicIp", "public-ip"),
    ...variableGroups.flatMap(({ title, variables }) =>
      (Object.keys(variables) as (keyof Variables)[]).map((name) => showVariable(config, title, name)),
    ),
  ];
}

function showVariable({ variables, origins }: Config, group: string, name: keyof Variables): ShownValue {
  const secret = definitionOf(name).type.secret === true;
  const value = variables[name];
  return {
    name,
    group,
    value: value === undefined ? null : typeof value === "object" ? maskSecret(value) : value,
    secret,
    origin: origins[name],
  };
}

/** Never the value, not even how long it is. */
export function maskSecret(secret: PlatformSecret): string {
  return secret.kind === "given" ? "********" : "(generated)";
}

export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case "default":
    case "environment":
    case "argument":
    case "other variant":
      return origin.kind;
    case "derived":
      return `derived: ${origin.rule}`;
    case "alias":
      return `alias ${origin.name}`;
  }
}
