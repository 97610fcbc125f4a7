import { type KubernetesObject, toName } from "@swath/kubernetes";

import type { PlannedRoute } from "../../../platform/plan-routes.ts";
import { renderIngress } from "./ingresses.ts";
import { metadata } from "./labels.ts";
import type { RenderInput } from "./render-input.ts";

/** API of what leads a host to a service; the kind of a Gateway's routes. */
export const HTTP_ROUTE = { apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute" } as const;

/** What leads a public host to its workload: an Ingress, or a route of the Gateway that the operator named. */
export function renderHost(plan: RenderInput, route: PlannedRoute): KubernetesObject {
  const { GATEWAY: gateway } = plan.settings.variables;
  return gateway === undefined ? renderIngress(plan, route) : renderHttpRoute(plan, route, gateway);
}

/** True for what makes a service public, and so comes after it. */
export const isHost = ({ kind }: Pick<KubernetesObject, "kind">): boolean =>
  kind === "Ingress" || kind === HTTP_ROUTE.kind;

function renderHttpRoute(plan: RenderInput, route: PlannedRoute, gateway: string): KubernetesObject {
  const [namespace, name] = gateway.split("/");
  const workload = plan.workloads.find((candidate) => candidate.name === route.workload);
  const port = workload?.ports?.find((candidate) => candidate.name === route.port)?.number;
  return {
    ...HTTP_ROUTE,
    metadata: metadata(plan.settings, toName(route.service), route.namespace),
    spec: {
      parentRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", namespace, name }],
      // A star stands for one label and more there, and nowhere but in front.
      hostnames: route.wildcard ? [route.host, `*.${route.host}`] : [route.host],
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/" } }],
          backendRefs: [{ group: "", kind: "Service", name: route.workload, port, weight: 1 }],
          // Uploads and event streams take as long as they take.
          timeouts: { request: "0s" },
        },
      ],
    },
  };
}
