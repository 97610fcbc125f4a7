import { stringify } from "yaml";
import type { KubernetesObject } from "./objects.ts";

/** Kinds that others refer to come first; every other kind follows. */
const kindOrder = [
  "Namespace",
  "ServiceAccount",
  "ClusterRole",
  "ClusterRoleBinding",
  "Role",
  "RoleBinding",
  "NetworkPolicy",
  "Secret",
  "ConfigMap",
  "PersistentVolumeClaim",
  "Service",
  "PodDisruptionBudget",
  "StatefulSet",
  "Deployment",
  "DaemonSet",
  "Job",
  "HorizontalPodAutoscaler",
  "Ingress",
  "HTTPRoute",
];

const keyOrder = ["apiVersion", "kind", "metadata", "name", "namespace"];

/** The order in which a cluster can take them, and the same one always. */
export function sortForApply(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const rank = ({ kind }: KubernetesObject) => rankIn(kindOrder, kind);
  const identity = ({ kind, metadata }: KubernetesObject) => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
  return [...objects].sort((a, b) => rank(a) - rank(b) || compare(identity(a), identity(b)));
}

/**
 * One YAML document an object, the same bytes for the same objects: keys in a fixed order, no aliases, no folding, and
 * quoted wherever an older reader (YAML 1.1) would see something else than a text.
 */
export function toYaml(objects: readonly KubernetesObject[]): string {
  return objects.map((object) => `---\n${toPlainYaml(object)}`).join("");
}

/** A value as YAML by the same rules: for files and programs that take any value, like those of charts. */
export function toPlainYaml(value: unknown): string {
  return stringify(value, {
    version: "1.1",
    lineWidth: 0,
    aliasDuplicateObjects: false,
    sortMapEntries: ({ key: a }, { key: b }) => compareKeys(String(a), String(b)),
  });
}

function compareKeys(a: string, b: string): number {
  return rankIn(keyOrder, a) - rankIn(keyOrder, b) || compare(a, b);
}

/** Place in the list; behind it for what is not there. */
function rankIn(list: readonly string[], item: string): number {
  return list.includes(item) ? list.indexOf(item) : list.length;
}

/** By code units: a locale's order differs between machines. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
