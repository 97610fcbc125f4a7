import type { PortalIngress, PortalValues } from "@swath/manifest";
import { stringify } from "yaml";

import type { Plan } from "./plan.ts";

const PORTAL = "portal";

/** The portal's chart values as they are in force, as YAML; `undefined` where it is not deployed. */
export function showPortalValues(plan: Plan): string | undefined {
  const configMap = plan.configMaps.find(({ name, namespace }) => name === PORTAL && namespace === "demo")?.data;
  if (configMap === undefined) {
    return undefined;
  }
  const values = { configMap, ingress: findIngress(plan) };
  return stringify(values, { defaultStringType: "PLAIN", lineWidth: 0 });
}

/** What was asked for, and for the rest what the Ingress of any host has. */
function findIngress({ settings, routes }: Plan): PortalIngress {
  const { domain, variables, portalValues } = settings;
  const requested: PortalValues["ingress"] = portalValues?.ingress;
  const route = routes.find(({ workload }) => workload === PORTAL);
  const host = route?.host ?? requested?.hosts?.[0]?.host ?? `${PORTAL}.${domain}`;
  const { USE_TLS: useTls, TLS_CLUSTER_ISSUER: issuer } = variables;
  return {
    enabled: route !== undefined,
    annotations: requested?.annotations ?? {
      "kubernetes.io/ingress.class": "nginx",
      "nginx.ingress.kubernetes.io/ssl-redirect": String(useTls),
      ...(useTls && { "cert-manager.io/cluster-issuer": issuer }),
    },
    hosts: [{ host, paths: [{ path: "/", pathType: "Prefix" }] }],
    tls: useTls ? (requested?.tls ?? [{ secretName: "portal-tls", hosts: [host] }]) : [],
  };
}
