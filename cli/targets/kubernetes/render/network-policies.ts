import { toName, type JsonValue, type KubernetesObject } from "@swath/kubernetes";
import type { EnvValue, Workload } from "@swath/manifest";
import type { RenderInput } from "./render-input.ts";
import { keys, metadata, selectorOf } from "./labels.ts";
import { usesKubernetesApi } from "./rights.ts";

export const DNS_PORTS: readonly JsonValue[] = [
  { port: 53, protocol: "UDP" },
  { port: 53, protocol: "TCP" },
];

/** Nobody reaches a pod of the namespace, and it reaches nobody, unless another policy says so. */
export const renderDefaultDeny = (plan: RenderInput, namespace: string): KubernetesObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: metadata(plan.settings, "default-deny", namespace),
  spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
});

/** Pods of the namespace may resolve names. Those without network may not: what they know would leave with the names that they ask for. */
export function renderAllowDns(plan: RenderInput, namespace: string): KubernetesObject {
  const closed = plan.podNetworks.filter((network) => network.namespace === namespace && network.egress === "none");
  const matchExpressions = closed.flatMap(({ pods }) =>
    Object.entries(pods).map(([key, value]) => ({ key, operator: "NotIn", values: [value] })),
  );
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadata(plan.settings, "allow-dns", namespace),
    spec: {
      podSelector: matchExpressions.length > 0 ? { matchExpressions } : {},
      policyTypes: ["Egress"],
      egress: [{ ports: DNS_PORTS }],
    },
  };
}

/**
 * cert-manager proves a host by a pod of its own beside the Ingress (HTTP-01), which the ingress controller has to reach. Its label
 * and port are cert-manager's.
 */
export function renderAllowSolver(plan: RenderInput, namespace: string): readonly KubernetesObject[] {
  if (!plan.settings.variables.USE_TLS) {
    return [];
  }
  return [
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: metadata(plan.settings, "allow-acme-solver", namespace),
      spec: {
        podSelector: { matchLabels: { "acme.cert-manager.io/http01-solver": "true" } },
        policyTypes: ["Ingress"],
        ingress: [{ ports: [{ port: 8089, protocol: "TCP" }] }],
      },
    },
  ];
}

/**
 * Lets in those whose settings name the workload, and the ingress controller where a host leads to it; lets it out to those
 * that its own settings name, to the Kubernetes API where it has rights there, and anywhere where its work is outside.
 */
export function renderAllow(plan: RenderInput, workload: Workload): readonly KubernetesObject[] {
  const ingress = renderIngressRules(plan, workload);
  const egress = renderEgressRules(plan, workload);
  const policyTypes = [...(ingress.length > 0 ? ["Ingress"] : []), ...(egress.length > 0 ? ["Egress"] : [])];
  if (policyTypes.length === 0) {
    return [];
  }
  return [
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: metadata(plan.settings, toName("allow", workload.name), workload.namespace),
      spec: {
        podSelector: { matchLabels: selectorOf(workload.name) },
        policyTypes,
        ...(ingress.length > 0 ? { ingress } : {}),
        ...(egress.length > 0 ? { egress } : {}),
      },
    },
  ];
}

function renderIngressRules(plan: RenderInput, workload: Workload): readonly JsonValue[] {
  const callers = plan.workloads.filter((other) => callees(plan, other).has(workload.name));
  const isPublic = plan.routes.some((route) => route.workload === workload.name);
  const from: JsonValue[] = [
    ...callers.map(podsOf),
    ...(isPublic ? [doorOf(plan)] : []),
    ...(workload.calledByPods === undefined
      ? []
      : [
          {
            namespaceSelector: {},
            podSelector: { matchExpressions: [{ key: workload.calledByPods, operator: "Exists" }] },
          },
        ]),
  ];
  return from.length === 0 ? [] : [{ from, ports: portsOf(workload) }];
}

/** The pods that bring requests from outside. */
function doorOf({ settings }: RenderInput): JsonValue {
  const { INGRESS_NAMESPACE: namespace, GATEWAY: gateway } = settings.variables;
  if (namespace !== undefined) {
    return { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
  }
  const label =
    gateway === undefined
      ? { "app.kubernetes.io/name": "ingress-nginx" }
      : { "gateway.networking.k8s.io/gateway-name": gateway.split("/")[1] };
  return { namespaceSelector: {}, podSelector: { matchLabels: label } };
}

function renderEgressRules(plan: RenderInput, workload: Workload): readonly JsonValue[] {
  if (workload.callsOutside || namesOutside(plan, workload)) {
    return [{}];
  }
  const called = callees(plan, workload);
  return [
    ...plan.workloads
      .filter(({ name }) => called.has(name))
      .map((other): JsonValue => ({ to: [podsOf(other)], ports: portsOf(other) })),
    // The API server is no pod that a selector could name, and listens on one of these.
    ...(!usesKubernetesApi(workload)
      ? []
      : [
          {
            ports: [
              { port: 443, protocol: "TCP" },
              { port: 6443, protocol: "TCP" },
              { port: 8443, protocol: "TCP" },
            ],
          },
        ]),
  ];
}

export function podsOf({ name, namespace }: Workload): JsonValue {
  return {
    namespaceSelector: { matchLabels: { [keys.namespace]: namespace } },
    podSelector: { matchLabels: selectorOf(name) },
  };
}

export function portsOf({ ports = [] }: Workload): readonly JsonValue[] {
  return ports.map(({ number }) => ({ port: number, protocol: "TCP" }));
}

/** True when a setting leads to something that the operator has elsewhere: a database, an object storage, an issuer. */
function namesOutside({ settings: { variables }, database }: RenderInput, { env }: Workload): boolean {
  const outside = [variables.OBJSTORE_ENDPOINT, variables.OBJSTORE_IAM_ENDPOINT, variables.IDENTITY_ISSUER_URL].filter(
    (url) => url !== undefined,
  );
  return Object.values(env).some((value) =>
    typeof value === "string"
      ? outside.some((url) => value.includes(url) || value === new URL(url).origin)
      : "database" in value && database.kind === "external",
  );
}

/** Names of the workloads that a workload calls. */
function callees(plan: RenderInput, { env, namespace }: Workload): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: EnvValue): void => {
    if (typeof value === "string" || "kind" in value || "also" in value || "eitherOf" in value) {
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
