import { createHash } from "node:crypto";
import { join } from "node:path";

import type { EnvValue, PlatformSecret, SecretEntry, Workload } from "@swath/manifest";

import { databaseUrl } from "../../../platform/plan-database.ts";
import type { Plan } from "../../../platform/plan.ts";
import { authorityFile } from "../accounts/authority-file.ts";
import type { WorkloadAccount } from "../accounts/plan-accounts.ts";
import { DesiredStateError, isPlanVariable } from "../supervisor/plan-variables.ts";
import type { ClusterPaths } from "../state/paths.ts";
import type { SecretReader } from "../state/secrets.ts";

/** How one workload is started on this machine. */
export interface LaunchSpec {
  readonly workload: Workload;
  /** File to run, from the repository's root. */
  readonly program: string;
  /** The same in few files, where that was made. */
  readonly bundle?: string | undefined;
  /** Who it runs as, and who may open its sockets; undefined where all services run as the operator. */
  readonly account: WorkloadAccount | undefined;
  /** Environment but for the pod's own sockets and marker. Holds secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Changes when anything changes that a running pod was started with. */
  readonly hash: string;
}

interface LaunchContext {
  readonly plan: Plan;
  readonly paths: ClusterPaths;
  readonly readSecret: SecretReader;
  /** The other value of a secret that is being changed. */
  readonly readOther: (secret: PlatformSecret) => string | undefined;
  readonly accounts: ReadonlyMap<string, WorkloadAccount> | undefined;
  /** Changes when the code below a folder of the repository changes. */
  readonly codeVersion: (folder: string) => string;
}

/**
 * Resolves every reference in a workload's environment to what it means on this machine.
 * @throws {DesiredStateError} when it sets a variable that changes the runtime
 */
export function createLaunchSpec(workload: Workload, context: LaunchContext): LaunchSpec {
  const refused = Object.entries(workload.env).filter(([variable, value]) => !isPlanVariable(variable, value));
  if (refused.length > 0) {
    const names = refused.map(([variable]) => variable).join(", ");
    throw new DesiredStateError(`Workload ${workload.name} sets ${names} in a way that no plan may.`);
  }
  const env = Object.fromEntries(
    Object.entries(workload.env)
      .filter(([, value]) => typeof value === "string" || !("onKubernetes" in value))
      .filter(([, value]) => isSet(otherOf(value), context))
      .map(([variable, value]) => [variable, resolveValue(value, workload, context)]),
  );
  const { needs: _needs, changedWhileRunning = [], ...definition } = workload;
  const read = Object.fromEntries(Object.entries(env).filter(([variable]) => !changedWhileRunning.includes(variable)));
  const account = context.accounts?.get(workload.name);
  const hash = createHash("sha256")
    .update(JSON.stringify([definition, read, context.codeVersion(`components/${workload.component}`), account]))
    .digest("hex")
    .slice(0, 16);
  return { workload, program: `components/${workload.component}/${workload.entry ?? "main"}.ts`, account, env, hash };
}

/** Stable path of a workload's socket: a link to the pod that serves at the moment. */
export function serviceSocket(paths: ClusterPaths, workload: string, port: string): string {
  return join(paths.run, "svc", workload, `${port}.sock`);
}

function isSet(other: PlatformSecret | undefined, { readOther }: LaunchContext): boolean {
  return other === undefined || readOther(other) !== undefined;
}

/** The secret whose other value it is, which there is only while that is being changed. */
function otherOf(value: EnvValue): PlatformSecret | undefined {
  if (typeof value === "string" || "kind" in value) {
    return undefined;
  }
  return "also" in value ? value.also : "eitherOf" in value && value.which === "second" ? value.eitherOf : undefined;
}

function resolveValue(value: EnvValue, workload: Workload, context: LaunchContext): string {
  const { plan, paths, readSecret } = context;
  if (typeof value === "string") {
    return value;
  }
  if ("kind" in value) {
    return readSecret(value);
  }
  if ("eitherOf" in value) {
    const both = [readSecret(value.eitherOf), context.readOther(value.eitherOf)].filter((each) => each !== undefined);
    return both.toSorted()[value.which === "first" ? 0 : 1] ?? "";
  }
  if ("also" in value) {
    return context.readOther(value.also) ?? "";
  }
  if ("secret" in value) {
    const entry = plan.secrets.find(({ name, namespace }) => name === value.secret && namespace === workload.namespace)
      ?.entries[value.key];
    return entry === undefined ? "" : resolveEntry(entry, workload, context);
  }
  if ("configMap" in value) {
    const map = plan.configMaps.find(
      ({ name, namespace }) => name === value.configMap && namespace === workload.namespace,
    );
    return map?.data[value.key] ?? "";
  }
  if ("peer" in value) {
    return `http+unix://${encodeURIComponent(serviceSocket(paths, value.peer, value.port ?? "http"))}`;
  }
  if ("database" in value) {
    return resolveEntry(databaseEntry(workload, context), workload, context);
  }
  if ("platform" in value) {
    return `http+unix://${encodeURIComponent(paths.statusSocket)}`;
  }
  if ("authority" in value) {
    return authorityFile(paths, plan.settings.domain);
  }
  // A text for Kubernetes says nothing here.
  return "volume" in value ? join(paths.volumes, workload.namespace, value.volume) : "";
}

function resolveEntry(entry: SecretEntry, workload: Workload, context: LaunchContext): string {
  return entry.kind === "joined"
    ? entry.parts.map((part) => resolveValue(part, workload, context)).join("")
    : context.readSecret(entry);
}

function databaseEntry({ component }: Workload, { plan: { database }, paths }: LaunchContext): SecretEntry {
  const folder = database.kind === "deployed" ? join(paths.run, "svc", database.workload) : "";
  const place = database.kind === "deployed" ? `/${database.name}?host=${encodeURIComponent(folder)}` : "";
  return databaseUrl(database, component, place);
}
