import { toName, type JsonValue, type KubernetesObject } from "@swath/kubernetes";
import type { EnvValue, Workload } from "@swath/manifest";
import type { Plan } from "../../../platform/plan.ts";
import { keys, metadata, selectorOf } from "./labels.ts";

/** Nobody reaches a pod of the namespace unless another policy says so. */
export function renderDefaultDeny(plan: Plan, namespace: string): KubernetesObject {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadata(plan.settings, "default-deny", namespace),
    spec: { podSelector: {}, policyTypes: ["Ingress"] },
  };
}

/** Lets in those whose settings name the workload, and the ingress controller where a host leads to it. */
export function renderAllow(plan: Plan, workload: Workload): readonly KubernetesObject[] {
  const callers = plan.workloads.filter((other) => callees(plan, other).has(workload.name));
  const isPublic = plan.routes.some((route) => route.workload === workload.name);
  const from: JsonValue[] = [
    ...callers.map(({ name, namespace }) => ({
      namespaceSelector: { matchLabels: { [keys.namespace]: namespace } },
      podSelector: { matchLabels: selectorOf(name) },
    })),
    ...(isPublic
      ? [{ namespaceSelector: {}, podSelector: { matchLabels: { "app.kubernetes.io/name": "ingress-nginx" } } }]
      : []),
  ];
  if (from.length === 0) {
    return [];
  }
  return [
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: metadata(plan.settings, toName("allow", workload.name), workload.namespace),
      spec: {
        podSelector: { matchLabels: selectorOf(workload.name) },
        policyTypes: ["Ingress"],
        ingress: [{ from, ports: (workload.ports ?? []).map(({ number }) => ({ port: number, protocol: "TCP" })) }],
      },
    },
  ];
}

/** Names of the workloads that a workload calls. */
function callees(plan: Plan, { env, namespace }: Workload): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: EnvValue): void => {
    if (typeof value === "string" || "kind" in value) {
      return;
    }
    if ("peer" in value) {
      found.add(value.peer);
    } else if ("database" in value && plan.database.kind === "deployed") {
      found.add(plan.database.workload);
    } else if ("secret" in value) {
      const secret = plan.secrets.find((item) => item.name === value.secret && item.namespace === namespace);
      const entry = secret?.entries[value.key];
      if (entry?.kind === "joined") {
        entry.parts.forEach(visit);
      }
    }
  };
  Object.values(env).forEach(visit);
  return found;
}
