import { namespaceRoleName } from "@swath/kubernetes";
import type { PlatformSettings, Workload } from "@swath/manifest";

/** Workloads that make namespaces, and the ClusterRole that each gets in its own. */
export function listMakers(
  { clusterName }: PlatformSettings,
  workloads: readonly Workload[],
): readonly { readonly workload: Workload; readonly role: string }[] {
  return workloads
    .filter(({ ownNamespaces }) => ownNamespaces !== undefined)
    .map((workload) => ({ workload, role: namespaceRoleName(clusterName, workload.namespace, workload.name) }));
}

/**
 * The program that gives the makers of namespaces their rights in them. It listens on no port, so that a service that strangers reach
 * holds no right to give rights.
 */
export function planNamespaceBinder(settings: PlatformSettings, workloads: readonly Workload[]): readonly Workload[] {
  const { clusterName, variables } = settings;
  const makers = listMakers(settings, workloads);
  // On an embedded cluster there are no namespaces.
  const isEmbedded = variables.REQUIRE_LOCALCLUSTER && variables.LOCALCLUSTER_TOOL === "embedded";
  if (isEmbedded || makers.length === 0) {
    return [];
  }
  const roles = makers.map(({ workload, role }) => ({
    role,
    account: workload.name,
    accountNamespace: workload.namespace,
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
