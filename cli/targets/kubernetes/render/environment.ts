import { toName, type EnvVar } from "@swath/kubernetes";
import type { EnvValue, PlatformSecret, Secret, SecretEntry, Workload } from "@swath/manifest";
import { databaseUrl } from "../../../platform/plan-database.ts";
import { otherName } from "../../other-secret.ts";
import type { RenderInput } from "./render-input.ts";

/** Port of every pod's management listener: health, readiness, metrics. */
export const managementPort = 9090;

/** How long a pod that was asked to stop still takes requests. */
const drainSeconds = 5;

/** The variables of a container, and the Secret that holds those of them that are secret. */
export function renderEnvironment(
  plan: RenderInput,
  workload: Workload,
): { readonly env: readonly EnvVar[]; readonly secret: Secret | undefined } {
  const entries: Record<string, SecretEntry> = {};
  const name = toName(workload.name, "settings");
  const fromOwnSecret = (key: string, entry: SecretEntry): EnvVar => {
    entries[key] = entry;
    // There only while a secret is being changed.
    const isOptional = "bytes" in entry && entry.bytes === 0;
    return { name: key, valueFrom: { secretKeyRef: { name, key, ...(isOptional && { optional: true }) } } };
  };
  const toVariable = (variable: string, value: EnvValue): EnvVar => {
    if (typeof value === "object") {
      if ("kind" in value) {
        return fromOwnSecret(variable, value);
      }
      if ("database" in value) {
        return fromOwnSecret(variable, databaseEntry(plan, workload));
      }
      if ("secret" in value) {
        return { name: variable, valueFrom: { secretKeyRef: { name: value.secret, key: value.key } } };
      }
      const listed = "onKubernetes" in value ? value.onKubernetes : value;
      if (typeof listed === "object" && "configMap" in listed) {
        return { name: variable, valueFrom: { configMapKeyRef: { name: listed.configMap, key: listed.key } } };
      }
    }
    return { name: variable, value: escapeReferences(plainText(plan, workload, value)) };
  };
  const declared = Object.entries(workload.env).flatMap(([variable, unturned]): readonly EnvVar[] => {
    const value = withoutChange(unturned);
    return value === undefined ? [] : [toVariable(variable, value)];
  });
  const env = [...listeners(plan, workload), ...declared]
    .map(withoutEmptyValue)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const secret = Object.keys(entries).length === 0 ? undefined : { name, namespace: workload.namespace, entries };
  return { env, secret };
}

/** What a value means that is not there always; undefined where the variable is not set. */
function withoutChange(value: EnvValue): EnvValue | undefined {
  if (typeof value === "string" || "kind" in value) {
    return value;
  }
  if ("also" in value) {
    return otherOf(value.also);
  }
  if ("eitherOf" in value) {
    return value.which === "first" ? value.eitherOf : otherOf(value.eitherOf);
  }
  if ("authority" in value) {
    return undefined;
  }
  return value;
}

/** The other value of a secret that is being changed: of a generated one empty as long as there is none. */
function otherOf(secret: PlatformSecret): PlatformSecret | undefined {
  if (secret.kind === "generated") {
    return { kind: "generated", name: otherName(secret.name), bytes: 0 };
  }
  return secret.also === undefined ? undefined : { kind: "given", value: secret.also };
}

/** The API server keeps no empty value, and would take one that is applied again for a change. */
function withoutEmptyValue({ value, ...variable }: EnvVar): EnvVar {
  return value === undefined || value === "" ? variable : { ...variable, value };
}

/** Values that are no secret and need no other object: texts, URLs of peers, paths of volumes. */
export function plainText(plan: RenderInput, workload: Pick<Workload, "name" | "mounts">, value: EnvValue): string {
  if (typeof value === "string") {
    return value;
  }
  if ("onKubernetes" in value && typeof value.onKubernetes === "string") {
    return value.onKubernetes;
  }
  if ("peer" in value) {
    return `http://${serviceAddress(plan, value.peer, value.port ?? "http")}`;
  }
  if ("platform" in value) {
    return "kubernetes";
  }
  if ("volume" in value) {
    const mount = workload.mounts?.find(({ volume }) => volume === value.volume);
    if (mount !== undefined) {
      return mount.path;
    }
  }
  throw new Error(`workload ${workload.name}: ${JSON.stringify(Object.keys(value))} cannot be written as plain text`);
}

/** `objstore.rm.svc:9000`: name and port of a workload's Service. */
export function serviceAddress(plan: RenderInput, name: string, port: string): string {
  const peer = plan.workloads.find((candidate) => candidate.name === name);
  const number = peer?.ports?.find((candidate) => candidate.name === port)?.number;
  if (peer === undefined || number === undefined) {
    throw new Error(`no workload ${name} with a port ${port} is part of this deployment`);
  }
  return `${peer.name}.${peer.namespace}.svc:${number}`;
}

function databaseEntry(plan: RenderInput, { component }: Workload): SecretEntry {
  const { database } = plan;
  const isDeployed = database.kind === "deployed";
  const place = isDeployed ? `${serviceAddress(plan, database.workload, "postgres")}/${database.name}` : "";
  return databaseUrl(database, component, place);
}

function listeners(plan: RenderInput, { name: workload, kind, ports = [], probe }: Workload): readonly EnvVar[] {
  if (kind === "task") {
    return [];
  }
  const isOurs = probe !== "postgres";
  return [
    // Others still send requests for as long as it takes the cluster to tell them of the end.
    ...(isOurs ? [{ name: "STOP_DELAY", value: `${drainSeconds}s` }] : []),
    ...(isOurs && ports.length > 0 ? [{ name: "PROTECTED_HOSTS", value: protectedHosts(plan, workload) }] : []),
    { name: "MANAGEMENT_LISTEN", value: `:${managementPort}` },
    ...ports.map(({ name, number }) => ({
      name: name === "http" ? "LISTEN" : `LISTEN_${name.toUpperCase().replaceAll("-", "_")}`,
      value: `:${number}`,
    })),
  ];
}

/**
 * Hosts whose requests come through the gatekeeper. On any other host that leads to the workload the fields by which the
 * gatekeeper says who somebody is are a client's own words, and the service drops them.
 */
function protectedHosts({ routes }: RenderInput, workload: string): string {
  return routes
    .filter(({ protects }) => protects === workload)
    .flatMap(({ host, wildcard, perWorkspace }) => [
      host,
      ...(wildcard ? [`*.${host}`] : []),
      ...(perWorkspace === true ? [host.replace(".", ".*.")] : []),
    ])
    .join(",");
}

/** Kubernetes takes `$(NAME)` in values for a variable and `$$` for `$`; doubled, every dollar stands for itself. */
export function escapeReferences(text: string): string {
  return text.replaceAll("$", "$$$$");
}
