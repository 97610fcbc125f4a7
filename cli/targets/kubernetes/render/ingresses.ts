import { toName, type KubernetesObject } from "@swath/kubernetes";
import type { RenderInput } from "./render-input.ts";
import type { PlannedRoute } from "../../../platform/plan-routes.ts";
import { metadata } from "./labels.ts";

/** The public host of a route, with the annotations of ingress-nginx. */
export function renderIngress(plan: RenderInput, route: PlannedRoute): KubernetesObject {
  const { USE_TLS: useTls, TLS_CLUSTER_ISSUER: issuer, INGRESS_CLASS: defaultClass } = plan.settings.variables;
  const backend = { service: { name: route.workload, port: { name: route.port } } };
  const http = { paths: [{ path: "/", pathType: "Prefix", backend }] };
  const { "kubernetes.io/ingress.class": className = defaultClass, ...annotations } = route.ingress?.annotations ?? {};
  const hosts = route.wildcard ? [route.host, `*.${route.host}`] : [route.host];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: metadata(plan.settings, toName(route.service), route.namespace, {
      annotations: {
        ...(useTls ? { "cert-manager.io/cluster-issuer": issuer } : {}),
        "nginx.ingress.kubernetes.io/ssl-redirect": String(useTls),
        // Bodies of any size, passed on as they come: images of satellites are larger than any buffer.
        "nginx.ingress.kubernetes.io/proxy-body-size": "0",
        "nginx.ingress.kubernetes.io/proxy-buffering": "off",
        "nginx.ingress.kubernetes.io/proxy-request-buffering": "off",
        "nginx.ingress.kubernetes.io/proxy-read-timeout": "3600",
        "nginx.ingress.kubernetes.io/proxy-send-timeout": "3600",
        ...(route.perWorkspace === true && {
          "nginx.ingress.kubernetes.io/server-alias": toWorkspaceHosts(route.host),
        }),
        ...annotations,
      },
    }),
    spec: {
      ingressClassName: className,
      rules: hosts.map((host) => ({ host, http })),
      ...(useTls
        ? {
            tls: route.ingress?.tls?.map((entry) => ({ ...entry })) ?? [
              { secretName: toName(route.service, "tls"), hosts: certificateHosts(hosts, issuer) },
            ],
          }
        : {}),
    },
  };
}

/** Hosts of workspaces as ingress-nginx takes them: a rule of Kubernetes has its star in front alone. */
const toWorkspaceHosts = (host: string): string =>
  `~^${host.replaceAll(".", String.raw`\.`).replace(String.raw`\.`, String.raw`\.[a-z0-9-]+\.`)}$`;

/** The ACME issuers prove a host by an HTTP answer, which no authority takes for a wildcard: it would spoil the whole certificate. */
function certificateHosts(hosts: readonly string[], issuer: string): readonly string[] {
  return issuer.startsWith("letsencrypt-") ? hosts.filter((host) => !host.startsWith("*.")) : hosts;
}
