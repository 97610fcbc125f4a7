import type { JsonValue, KubernetesObject } from "@swath/kubernetes";
import type { PodNetwork } from "@swath/manifest";
import type { Plan } from "../../../platform/plan.ts";
import { metadata } from "./labels.ts";
import { DNS_PORTS, podsOf, portsOf } from "./network-policies.ts";

/** Networks that no public address is in: the cluster's own, the operator's, and where clouds tell machines their secrets. */
const PRIVATE_V4 = ["10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"];
const PRIVATE_V6 = ["fc00::/7", "fe80::/10"];

const INTERNET: readonly JsonValue[] = [
  // Names are resolved by the cluster, whose resolver has a private address.
  {
    to: [{ namespaceSelector: {}, podSelector: { matchLabels: { "k8s-app": "kube-dns" } } }],
    ports: DNS_PORTS,
  },
  { to: [{ ipBlock: { cidr: "0.0.0.0/0", except: PRIVATE_V4 } }] },
  { to: [{ ipBlock: { cidr: "::/0", except: PRIVATE_V6 } }] },
];

/** The policy for pods that a workload starts by itself. */
export function renderPodNetwork(plan: Pick<Plan, "settings" | "workloads">, network: PodNetwork): KubernetesObject {
  const { name, namespace, pods, egress, workloads = [] } = network;
  const called = plan.workloads.filter((workload) => workloads.includes(workload.name));
  const rules: readonly JsonValue[] = [
    ...called.map((workload): JsonValue => ({ to: [podsOf(workload)], ports: portsOf(workload) })),
    ...(egress === "internet" ? INTERNET : []),
  ];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadata(plan.settings, name, namespace),
    spec: {
      podSelector: { matchLabels: pods },
      policyTypes: ["Ingress", "Egress"],
      ...(rules.length > 0 && { egress: rules }),
    },
  };
}
