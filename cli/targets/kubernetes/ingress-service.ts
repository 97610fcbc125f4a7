import type { PlatformSettings } from "@swath/manifest";

import type { Connection } from "./api/connection.ts";
import { applyObject } from "./api/objects.ts";

const NAMESPACE = "ingress-nginx";
const SERVICE = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "ingress-nginx-controller", namespace: NAMESPACE },
} as const;
const CONFIG = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "ingress-nginx-controller", namespace: NAMESPACE },
} as const;

/**
 * Gives the cluster's own ingress controller the kind of service that the variables ask for, and no redirection where there is no
 * TLS. One installed from its chart is told by its values.
 */
export async function adjustIngressController(connection: Connection, settings: PlatformSettings): Promise<void> {
  const { variables } = settings;
  if (!variables.REQUIRE_INGRESS_CONTROLLER || variables.USE_INGRESS_CONTROLLER_HELM) {
    return;
  }
  const type = variables.USE_INGRESS_CONTROLLER_LOADBALANCER ? "LoadBalancer" : "NodePort";
  await applyObject(connection, { ...SERVICE, spec: { type } });
  await applyObject(connection, { ...CONFIG, data: { "ssl-redirect": String(variables.USE_TLS) } });
  if (variables.USE_LOADBALANCER_ADDON) {
    await applyObject(connection, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "config", namespace: "metallb-system" },
      data: { config: addressPool(settings) },
    });
  }
}

/** Addresses that minikube's load balancer gives out. */
function addressPool({ publicIp }: PlatformSettings): string {
  return `address-pools:\n- name: default\n  protocol: layer2\n  addresses:\n  - ${publicIp}-${publicIp}\n`;
}
