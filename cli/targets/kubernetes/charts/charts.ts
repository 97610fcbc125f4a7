import type { PlatformSettings } from "@swath/manifest";

import type { Chart } from "./chart.ts";

const UNKNOWN_ADDRESS = "0.0.0.0";

const hasCertificates = ({ variables }: PlatformSettings): boolean =>
  variables.USE_TLS && variables.REQUIRE_CERTIFICATE_MANAGER;

const isMinikube = ({ variables }: PlatformSettings): boolean =>
  variables.REQUIRE_LOCALCLUSTER && variables.LOCALCLUSTER_TOOL === "minikube";

/**
 * Every chart a deployment may install, in that order. Releases with known critical holes are not among them (ingress-nginx before
 * 4.11.5: CVE-2025-1974); a test holds the date of each against a stated one.
 */
export const charts: readonly Chart[] = [
  {
    name: "ingress-nginx",
    title: "ingress controller",
    repository: "https://kubernetes.github.io/ingress-nginx",
    releases: [
      { version: "4.15.1", released: "2026-03-19", minMinor: 31, maxMinor: 35 },
      { version: "4.13.9", released: "2026-03-19", minMinor: 29, maxMinor: 33 },
      { version: "4.12.8", released: "2025-11-03", minMinor: 28, maxMinor: 32 },
      { version: "4.11.8", released: "2025-07-07", minMinor: 26, maxMinor: 30 },
    ],
    namespace: "ingress-nginx",
    alternative: "REQUIRE_INGRESS_CONTROLLER=false",
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
    releases: [
      { version: "v1.21.1", released: "2026-07-29", minMinor: 33, maxMinor: 36 },
      { version: "v1.20.3", released: "2026-06-25", minMinor: 32, maxMinor: 35 },
      { version: "v1.19.6", released: "2026-06-25", minMinor: 31, maxMinor: 35 },
      { version: "v1.18.6", released: "2026-02-24", minMinor: 29, maxMinor: 33 },
      { version: "v1.16.5", released: "2025-04-24", minMinor: 25, maxMinor: 32 },
      { version: "v1.12.17", released: "2025-04-25", minMinor: 22, maxMinor: 32 },
    ],
    namespace: "cert-manager",
    alternative: "REQUIRE_CERTIFICATE_MANAGER=false",
    enabled: hasCertificates,
    values: () => ({ installCRDs: true }),
  },
  {
    name: "sealed-secrets",
    title: "sealed secrets",
    repository: "https://bitnami-labs.github.io/sealed-secrets",
    releases: [{ version: "2.18.5", released: "2026-04-09", minMinor: 16 }],
    namespace: "infra",
    alternative: "REQUIRE_SEALED_SECRETS=false",
    enabled: ({ variables }) => variables.REQUIRE_SEALED_SECRETS,
    values: () => ({ fullnameOverride: "sealed-secrets-controller" }),
  },
  {
    name: "metallb",
    title: "load balancer",
    repository: "https://metallb.github.io/metallb",
    releases: [{ version: "0.16.1", released: "2026-05-27", minMinor: 19 }],
    namespace: "metallb-system",
    alternative: "USE_LOADBALANCER_ADDON=false",
    // minikube brings its own.
    enabled: (settings) => settings.variables.USE_LOADBALANCER_ADDON && !isMinikube(settings),
    values: () => ({}),
  },
];

export function listCharts(settings: PlatformSettings): readonly Chart[] {
  return charts.filter(({ enabled }) => enabled(settings));
}
