import { createHash } from "node:crypto";

const LONGEST = 63;

/** Label of a workspace's namespace; its value is the workspace's name. */
export const WORKSPACE_LABEL = "swath.io/workspace";

/** Label of a server's pod that the application hub starts in the namespace of a workspace; its value is the server's id. */
export const SERVER_LABEL = "swath.io/hub-server";

/**
 * An RFC 1123 label of the parts. Where that loses something (other characters, more than 63), a hash of the whole
 * keeps different parts apart.
 */
export function toName(...parts: readonly string[]): string {
  const whole = parts.join("-");
  if (whole.length <= LONGEST && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(whole)) {
    return whole;
  }
  const hash = hashOf(parts);
  const readable = whole
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST - hash.length - 1)
    .replace(/^-+|-+$/g, "");
  return readable === "" ? `x-${hash}` : `${readable}-${hash}`;
}

/** Name of the ClusterRole that a workload gets in namespaces that it makes. */
export function namespaceRoleName(deployment: string, namespace: string, workload: string): string {
  return toName(deployment, namespace, workload, "own-namespaces");
}

/** Name of the ClusterRole by which a workload writes Secrets in namespaces where it is bound. */
export function secretsRoleName(deployment: string, namespace: string, workload: string): string {
  return toName(deployment, namespace, workload, "secrets");
}

/** Eight hexadecimal digits that change when the value does, whatever the order of its keys. */
export function hashOf(value: unknown): string {
  const text = JSON.stringify(sortKeys(value));
  return notNumber(createHash("sha256").update(text).digest("hex").slice(0, 8));
}

/** Programs that rewrite YAML (kustomize) print 009e5130 without quotes, and others read infinity there. */
export const notNumber = (hash: string): string => hash.replace(/^(\d+)e(\d+)$/, "$1f$2");

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sortKeys);
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => [key, sortKeys(item)]),
    );
  }
  return value;
}
