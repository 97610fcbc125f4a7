import { sortForApply, type KubernetesObject } from "@swath/kubernetes";
import type { RenderInput } from "./render-input.ts";
import { renderEnvironment } from "./environment.ts";
import { renderHost } from "./http-routes.ts";
import { keys, metadata } from "./labels.ts";
import { renderMetrics } from "./metrics.ts";
import { renderAllow, renderAllowDns, renderAllowSolver, renderDefaultDeny } from "./network-policies.ts";
import { renderPodNetwork } from "./pod-networks.ts";
import { renderSecret } from "./secrets.ts";
import { renderWorkload } from "./workloads.ts";

/** The plan as Kubernetes objects, in the order a cluster can take them. Pure: the same plan gives the same objects. */
export function renderPlan(plan: RenderInput): readonly KubernetesObject[] {
  const { settings } = plan;
  const namespaces = [
    ...new Set(
      [...plan.workloads, ...plan.volumes, ...plan.secrets, ...plan.configMaps].map(({ namespace }) => namespace),
    ),
  ];
  const ownSecrets = plan.workloads.flatMap((workload) => renderEnvironment(plan, workload).secret ?? []);
  const secrets = [...plan.secrets, ...ownSecrets].map((secret) => renderSecret(plan, secret));
  const configMaps = plan.configMaps.map(({ name, namespace, data }): KubernetesObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadata(settings, name, namespace),
    data,
  }));
  const configs = [...secrets, ...configMaps];
  return sortForApply([
    ...namespaces.map((namespace) => renderNamespace(plan, namespace)),
    ...namespaces.flatMap((namespace) => [renderDefaultDeny(plan, namespace), renderAllowDns(plan, namespace)]),
    ...namespaces.flatMap((namespace) => [...renderAllowSolver(plan, namespace), ...renderMetrics(plan, namespace)]),
    ...configs,
    ...plan.volumes.map((volume) => renderClaim(plan, volume)),
    ...plan.workloads.flatMap((workload) => [
      ...renderWorkload(
        plan,
        workload,
        configs.filter((object) => object.metadata.namespace === workload.namespace),
      ),
      ...renderAllow(plan, workload),
    ]),
    ...plan.podNetworks.map((network) => renderPodNetwork(plan, network)),
    ...plan.routes.map((route) => renderHost(plan, route)),
  ]);
}

export function renderNamespace({ settings }: Pick<RenderInput, "settings">, name: string): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: metadata(settings, name, undefined, {
      labels: { [keys.namespace]: name, "pod-security.kubernetes.io/enforce": "restricted" },
    }),
  };
}

function renderClaim(
  { settings }: RenderInput,
  { name, namespace, size, storageClass, accessMode }: RenderInput["volumes"][number],
): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: metadata(settings, name, namespace),
    spec: { accessModes: [accessMode], resources: { requests: { storage: size } }, storageClassName: storageClass },
  };
}
