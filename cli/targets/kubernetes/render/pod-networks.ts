import type { KubernetesObject } from "@swath/kubernetes";
import type { PodNetwork } from "@swath/manifest";
import type { Plan } from "../../../platform/plan.ts";
import { metadata } from "./labels.ts";

/** Networks that no public address is in: the cluster's own, the operator's, and where clouds tell machines their secrets. */
const PRIVATE_V4 = ["10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"];
const PRIVATE_V6 = ["fc00::/7", "fe80::/10"];

/** The policy for pods that a workload starts by itself. */
export function renderPodNetwork(plan: Pick<Plan, "settings">, network: PodNetwork): KubernetesObject {
  const { name, namespace, pods, egress } = network;
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadata(plan.settings, name, namespace),
    spec: {
      podSelector: { matchLabels: pods },
      policyTypes: ["Ingress", "Egress"],
      ...(egress === "internet" && {
        egress: [
          // Names are resolved by the cluster, whose resolver has a private address.
          {
            to: [{ namespaceSelector: {}, podSelector: { matchLabels: { "k8s-app": "kube-dns" } } }],
            ports: [
              { port: 53, protocol: "UDP" },
              { port: 53, protocol: "TCP" },
            ],
          },
          { to: [{ ipBlock: { cidr: "0.0.0.0/0", except: PRIVATE_V4 } }] },
          { to: [{ ipBlock: { cidr: "::/0", except: PRIVATE_V6 } }] },
        ],
      }),
    },
  };
}
