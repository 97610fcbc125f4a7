import { SERVER_LABEL, WORKSPACE_LABEL } from "@swath/kubernetes";

import type { Workspace } from "../store/workspaces.ts";

export interface NamespaceLimits {
  /** Kubernetes quantities that all pods of a workspace may have together. */
  readonly cpu: string;
  readonly memory: string;
  readonly pods: number;
  readonly storage: string;
}

/** Storage credentials as programs in the namespace find them. */
export interface BucketSecret {
  readonly bucketname: string;
  readonly projectid?: string | undefined;
  readonly access: string;
  readonly secret: string;
  readonly endpoint: string;
  readonly region: string;
}

export interface NamespaceWish {
  readonly workspace: Pick<Workspace, "name" | "quotaMb">;
  /** Name of the deployment that the namespace belongs to and is removed with. */
  readonly deployment: string;
  readonly limits: NamespaceLimits;
  readonly defaultQuotaMb: number;
  /** Left out while the workspace has no storage. */
  readonly bucket?: BucketSecret;
}

/** An object that a namespace has to hold, and where the API has it. */
export interface RequestedObject {
  readonly path: string;
  /** What people call it. */
  readonly title: string;
  readonly object: Readonly<Record<string, unknown>>;
}

export const namespacePath = (name: string): string => `/api/v1/namespaces/${name}`;

/** The namespace of a workspace. Pods in it are held to the restricted security standard. */
export function createNamespace({ workspace: { name }, deployment }: NamespaceWish): RequestedObject {
  return {
    path: namespacePath(name),
    title: "the namespace",
    object: {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name,
        labels: {
          ...commonLabels(name),
          "swath.io/deployment": deployment,
          "pod-security.kubernetes.io/enforce": "restricted",
        },
      },
    },
  };
}

/** What is in the namespace of a workspace. */
export function createContents(wish: NamespaceWish): readonly RequestedObject[] {
  const { workspace, limits, bucket } = wish;
  const { name } = workspace;
  const core = (kind: string, plural: string, own: string, body: object): RequestedObject =>
    place(`${namespacePath(name)}/${plural}`, { apiVersion: "v1", kind, own, name, body });
  return [
    core("ResourceQuota", "resourcequotas", "workspace", {
      spec: {
        hard: {
          "requests.cpu": limits.cpu,
          "limits.cpu": limits.cpu,
          "requests.memory": limits.memory,
          "limits.memory": limits.memory,
          "requests.storage": limits.storage,
          pods: String(limits.pods),
          // What would reach around the platform's ingress.
          "services.loadbalancers": "0",
          "services.nodeports": "0",
        },
      },
    }),
    core("LimitRange", "limitranges", "workspace", {
      spec: {
        limits: [
          {
            type: "Container",
            default: { cpu: "500m", memory: "512Mi" },
            defaultRequest: { cpu: "100m", memory: "128Mi" },
          },
        ],
      },
    }),
    core("ConfigMap", "configmaps", "workspace", {
      data: { quota_in_mb: String(workspace.quotaMb ?? wish.defaultQuotaMb) },
    }),
    ...(bucket === undefined ? [] : [core("Secret", "secrets", "bucket", toSecret(bucket))]),
    place(`/apis/networking.k8s.io/v1/namespaces/${name}/networkpolicies`, {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      own: "workspace",
      name,
      body: NETWORK,
    }),
  ];
}

/**
 * Only the workspace's own pods and the ingress controller come in; everything but the machines' metadata service is reached.
 * Servers of the application hub have policies of their own, which could only add to this one.
 */
const NETWORK = {
  spec: {
    podSelector: { matchExpressions: [{ key: SERVER_LABEL, operator: "DoesNotExist" }] },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      {
        from: [
          { podSelector: {} },
          { namespaceSelector: {}, podSelector: { matchLabels: { "app.kubernetes.io/name": "ingress-nginx" } } },
        ],
      },
    ],
    egress: [
      { to: [{ namespaceSelector: {} }] },
      { to: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.0.0/16"] } }] },
      { to: [{ ipBlock: { cidr: "::/0", except: ["fe80::/10"] } }] },
    ],
  },
};

/** The keys that programs of existing workspaces read, and where the storage is. */
function toSecret({ bucketname, access, secret, projectid = "", endpoint, region }: BucketSecret): object {
  const entries = { bucketname, access, secret, projectid, endpoint, region };
  return {
    type: "Opaque",
    data: Object.fromEntries(
      Object.entries(entries).map(([key, value]) => [key, Buffer.from(value, "utf8").toString("base64")]),
    ),
  };
}

function place(
  folder: string,
  options: { apiVersion: string; kind: string; own: string; name: string; body: object },
): RequestedObject {
  const { apiVersion, kind, own, name, body } = options;
  return {
    path: `${folder}/${own}`,
    title: `${kind} ${own}`,
    object: { apiVersion, kind, metadata: { name: own, namespace: name, labels: commonLabels(name) }, ...body },
  };
}

const commonLabels = (workspace: string) => ({
  "app.kubernetes.io/part-of": "swath",
  "app.kubernetes.io/managed-by": "swath-workspaces",
  [WORKSPACE_LABEL]: workspace,
});

/** Whether everything that is wanted is there; the API server adds fields of its own, lists have to be the same. */
export function isAsWanted(actual: unknown, requested: unknown): boolean {
  if (Array.isArray(requested)) {
    return (
      Array.isArray(actual) &&
      actual.length === requested.length &&
      requested.every((item, index) => isAsWanted(actual[index], item))
    );
  }
  if (typeof requested !== "object" || requested === null) {
    return actual === requested;
  }
  const fields = (typeof actual === "object" && actual !== null ? actual : {}) as Readonly<Record<string, unknown>>;
  return (
    typeof actual === "object" &&
    actual !== null &&
    Object.entries(requested).every(([key, value]) => isAsWanted(fields[key], value))
  );
}
