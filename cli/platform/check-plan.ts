import type { EnvValue, Workload } from "@swath/manifest";

import { roleOf, usesDatabase } from "./plan-database.ts";
import type { Plan } from "./plan.ts";

/** Refuses a plan whose parts do not fit together, all mistakes at once. */
export function checkPlan(plan: Plan): void {
  const mistakes = [
    ...duplicates(
      "workload",
      plan.workloads.map(({ name }) => name),
    ),
    ...duplicates(
      "host",
      plan.routes.map(({ host }) => host),
    ),
    ...duplicates(
      "volume",
      plan.volumes.map(({ namespace, name }) => `${namespace}/${name}`),
    ),
    ...duplicates(
      "secret",
      plan.secrets.map(({ namespace, name }) => `${namespace}/${name}`),
    ),
    ...duplicates(
      "identity client",
      plan.identityClients.map(({ clientId }) => clientId),
    ),
    ...plan.workloads.flatMap((workload) => checkWorkload(plan, workload)),
    ...plan.routes.flatMap(({ host, workload, port }) => {
      const target = plan.workloads.find(({ name }) => name === workload);
      return target?.ports?.some(({ name }) => name === port)
        ? []
        : [`host ${host} leads to port ${port} of workload ${workload}, which does not exist`];
    }),
  ];
  if (mistakes.length > 0) {
    throw new Error(`The component manifests do not fit together:\n${mistakes.map((line) => `  ${line}`).join("\n")}`);
  }
}

function checkWorkload(plan: Plan, workload: Workload): readonly string[] {
  const { name, needs = [], mounts = [], env, kind } = workload;
  const exists = (other: string) => plan.workloads.some((candidate) => candidate.name === other);
  return [
    ...(/^[a-z]([a-z0-9-]{0,40}[a-z0-9])?$/.test(name) ? [] : [`workload ${name}: not a short RFC 1123 label`]),
    ...(kind === "task" && workload.ports ? [`workload ${name}: a task has no ports`] : []),
    ...needs.filter((need) => !exists(need)).map((need) => `workload ${name} needs ${need}, which is not deployed`),
    ...mounts
      .filter(({ volume }) => !plan.volumes.some((v) => v.name === volume && v.namespace === workload.namespace))
      .map(({ volume }) => `workload ${name} mounts ${volume}, which does not exist in ${workload.namespace}`),
    ...(usesDatabase(workload) && !mayLogIn(plan, workload)
      ? [`workload ${name} uses the database, and its component has no databaseSchema`]
      : []),
    ...Object.entries(env).flatMap(([variable, value]) => checkValue(plan, workload, variable, value)),
  ];
}

/** By a role of its own; as whoever owns the database only where that is what the component is about, or where all share one role. */
function mayLogIn({ database, settings }: Plan, { component }: Workload): boolean {
  const isShared = database.kind === "external" && settings.variables.DATABASE_ROLES === "shared";
  return component === "postgres" || isShared || roleOf(database, component) !== undefined;
}

function checkValue(plan: Plan, workload: Workload, variable: string, value: EnvValue): readonly string[] {
  const wrong = (what: string) => [`workload ${workload.name}: ${variable} refers to ${what}, which does not exist`];
  if (
    typeof value === "string" ||
    "kind" in value ||
    "also" in value ||
    "eitherOf" in value ||
    "database" in value ||
    "platform" in value ||
    "authority" in value
  ) {
    return [];
  }
  const isHere = (item: { name: string; namespace: string }, name: string) =>
    item.name === name && item.namespace === workload.namespace;
  if ("secret" in value) {
    const secret = plan.secrets.find((candidate) => isHere(candidate, value.secret));
    return secret && value.key in secret.entries ? [] : wrong(`secret ${value.secret} key ${value.key}`);
  }
  if ("onKubernetes" in value) {
    return checkValue(plan, workload, variable, value.onKubernetes);
  }
  if ("configMap" in value) {
    const map = plan.configMaps.find((candidate) => isHere(candidate, value.configMap));
    return map && value.key in map.data ? [] : wrong(`config map ${value.configMap} key ${value.key}`);
  }
  if ("peer" in value) {
    const peer = plan.workloads.find(({ name }) => name === value.peer);
    return peer?.ports?.some(({ name }) => name === (value.port ?? "http")) ? [] : wrong(`workload ${value.peer}`);
  }
  return workload.mounts?.some(({ volume }) => volume === value.volume) ? [] : wrong(`mount of volume ${value.volume}`);
}

function duplicates(what: string, names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))].map(
    (name) => `${what} ${name} is declared more than once`,
  );
}
