import type { PlatformSettings } from "@swath/manifest";

import type { Chart } from "./chart.ts";

const UNKNOWN_ADDRESS = "0.0.0.0";

const hasCertificates = ({ variables }: PlatformSettings): boolean =>
  variables.USE_TLS && variables.REQUIRE_CERTIFICATE_MANAGER;

const isMinikube = ({ variables }: PlatformSettings): boolean =>
  variables.REQUIRE_LOCALCLUSTER && variables.LOCALCLUSTER_TOOL === "minikube";

/** Every chart a deployment may install, in that order. The versions are the last that take Kubernetes 1.22. */
export const charts: readonly Chart[] = [
  {
    name: "ingress-nginx",
    title: "ingress controller",
    repository: "https://kubernetes.github.io/ingress-nginx",
    version: "4.4.2",
    namespace: "ingress-nginx",
    enabled: ({ variables }) => variables.REQUIRE_INGRESS_CONTROLLER && variables.USE_INGRESS_CONTROLLER_HELM,
    values: ({ publicIp, variables }) => ({
      controller: {
        // Whose fields tell a service the client's address and scheme: the controller's own, whatever a client sent.
        config: {
          "ssl-redirect": String(variables.USE_TLS),
          "use-forwarded-headers": "false",
          "proxy-body-size": "0",
          "server-tokens": "false",
        },
        ingressClassResource: { name: variables.INGRESS_CLASS, default: true },
        service: {
          type: "LoadBalancer",
          ...(publicIp === UNKNOWN_ADDRESS ? {} : { externalIPs: [publicIp] }),
        },
      },
    }),
  },
  {
    name: "cert-manager",
    title: "certificate manager",
    repository: "https://charts.jetstack.io",
    version: "v1.11.5",
    namespace: "cert-manager",
    enabled: hasCertificates,
    values: () => ({ installCRDs: true }),
  },
  {
    name: "sealed-secrets",
    title: "sealed secrets",
    repository: "https://bitnami-labs.github.io/sealed-secrets",
    version: "2.7.6",
    namespace: "infra",
    enabled: ({ variables }) => variables.REQUIRE_SEALED_SECRETS,
    values: () => ({ fullnameOverride: "sealed-secrets-controller" }),
  },
  {
    name: "metallb",
    title: "load balancer",
    repository: "https://metallb.github.io/metallb",
    version: "0.13.12",
    namespace: "metallb-system",
    // minikube brings its own.
    enabled: (settings) => settings.variables.USE_LOADBALANCER_ADDON && !isMinikube(settings),
    values: () => ({}),
  },
];

export function listCharts(settings: PlatformSettings): readonly Chart[] {
  return charts.filter(({ enabled }) => enabled(settings));
}
