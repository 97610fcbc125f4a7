import type { KubernetesObject } from "@swath/kubernetes";
import type { PlatformSettings } from "@swath/manifest";

import { metadata } from "../render/labels.ts";
import { listCharts } from "./charts.ts";

const ACME = {
  "letsencrypt-staging": "https://acme-staging-v02.api.letsencrypt.org/directory",
  "letsencrypt-production": "https://acme-v02.api.letsencrypt.org/directory",
} as const;

/** Objects of kinds that charts bring: the two issuers, and the address that the load balancer gives out. */
export function renderExtras(settings: PlatformSettings): readonly KubernetesObject[] {
  const { variables } = settings;
  return [
    ...(variables.USE_TLS && variables.REQUIRE_ACME_ISSUERS
      ? Object.entries(ACME).map(([name, server]) => renderIssuer(settings, name, server))
      : []),
    ...(listCharts(settings).some(({ name }) => name === "metallb") ? renderPool(settings) : []),
  ];
}

function renderIssuer(settings: PlatformSettings, name: string, server: string): KubernetesObject {
  return {
    apiVersion: "cert-manager.io/v1",
    kind: "ClusterIssuer",
    metadata: metadata(settings, name, undefined),
    spec: { acme: { server, privateKeySecretRef: { name }, solvers: [{ http01: { ingress: { class: "nginx" } } }] } },
  };
}

function renderPool(settings: PlatformSettings): readonly KubernetesObject[] {
  const { publicIp } = settings;
  const range = publicIp.includes(":") ? `${publicIp}/128` : `${publicIp}/32`;
  return [
    {
      apiVersion: "metallb.io/v1beta1",
      kind: "IPAddressPool",
      metadata: metadata(settings, "swath", "metallb-system"),
      spec: { addresses: [range] },
    },
    {
      apiVersion: "metallb.io/v1beta1",
      kind: "L2Advertisement",
      metadata: metadata(settings, "swath", "metallb-system"),
      spec: { ipAddressPools: ["swath"] },
    },
  ];
}
