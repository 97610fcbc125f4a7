import { namespaceRoleName } from "@swath/kubernetes";
import type { PlatformSettings, Workload } from "@swath/manifest";

/**
 * The program that gives the makers of namespaces their rights in them. It takes requests from nobody, so that a service that strangers
 * reach holds no right to give rights.
 */
export function planNamespaceBinder(
  { clusterName, variables }: PlatformSettings,
  workloads: readonly Workload[],
): readonly Workload[] {
  const makers = workloads.filter(({ ownNamespaces }) => ownNamespaces !== undefined);
  // On an embedded cluster there are no namespaces.
  const isEmbedded = variables.REQUIRE_LOCALCLUSTER && variables.LOCALCLUSTER_TOOL === "embedded";
  if (isEmbedded || makers.length === 0) {
    return [];
  }
  const roles = makers.map(({ name, namespace }) => ({
    role: namespaceRoleName(clusterName, namespace, name),
    account: name,
    accountNamespace: namespace,
  }));
  return [
    {
      name: "namespace-binder",
      namespace: "rm",
      component: "workspace-api",
      entry: "namespace-binder/main",
      kind: "service",
      env: { DEPLOYMENT: clusterName, WORKSPACE_ROLES: JSON.stringify(roles) },
      bindsOwnNamespaces: true,
      resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "192Mi" } },
    },
  ];
}
