import { listCharts } from "../charts/charts.ts";
import { isInstalled } from "../charts/helm.ts";
import type { Check } from "./check.ts";

/** Charts need helm. */
export const checkPrograms: Check = async ({ plan, env }) => {
  const wanted = listCharts(plan.settings);
  if (wanted.length === 0 || isInstalled("helm", env)) {
    return [];
  }
  const switches = {
    "ingress-nginx": "REQUIRE_INGRESS_CONTROLLER=false",
    "cert-manager": "REQUIRE_CERTIFICATE_MANAGER=false",
    "sealed-secrets": "REQUIRE_SEALED_SECRETS=false",
    metallb: "USE_LOADBALANCER_ADDON=false",
  } as Readonly<Record<string, string>>;
  return [
    `helm is not installed, and this deployment installs charts with it: ${wanted.map(({ title }) => title).join(", ")}. Install helm 3, or use what the cluster has: ${wanted.map(({ name }) => switches[name]).join(" ")}`,
  ];
};
