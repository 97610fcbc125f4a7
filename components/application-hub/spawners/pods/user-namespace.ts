import { WORKSPACE_LABEL } from "@swath/kubernetes";
import { type ClusterApi, ClusterApiError } from "@swath/kubernetes/api";

/** How the hub gets its rights in the namespace of a workspace: a ClusterRole, and its own service account. */
export interface NamespaceBinding {
  readonly deployment: string;
  readonly role: string;
  readonly account: string;
  readonly accountNamespace: string;
}

interface Namespace {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly status?: { readonly phase?: string };
}

const RBAC = "rbac.authorization.k8s.io";

/**
 * Sees to the namespace of a user's workspace, which the workspace API makes too, and to the hub's rights in it.
 * @throws {Error} where the namespace is somebody else's
 */
export async function openUserNamespace(api: ClusterApi, name: string, binding: NamespaceBinding): Promise<void> {
  const path = `/api/v1/namespaces/${name}`;
  const existing = await api.get<Namespace>(path);
  if (existing === undefined) {
    await ignoreExisting(
      api.create("/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: {
          name,
          labels: {
            "app.kubernetes.io/part-of": "swath",
            "swath.io/deployment": binding.deployment,
            [WORKSPACE_LABEL]: name,
            "pod-security.kubernetes.io/enforce": "restricted",
          },
        },
      }),
    );
  } else if (existing.metadata.labels?.[WORKSPACE_LABEL] !== name) {
    throw new Error(
      `the cluster has a namespace ${name} that is no workspace's; an operator removes it or labels it ${WORKSPACE_LABEL}=${name}`,
    );
  } else if (existing.status?.phase === "Terminating") {
    throw new Error(`the namespace ${name} of an earlier workspace is still being removed; try again in a minute`);
  }
  const bindings = `/apis/${RBAC}/v1/namespaces/${name}/rolebindings`;
  if ((await api.get(`${bindings}/${binding.account}`)) === undefined) {
    await ignoreExisting(
      api.create(bindings, {
        apiVersion: `${RBAC}/v1`,
        kind: "RoleBinding",
        metadata: { name: binding.account, namespace: name, labels: { "app.kubernetes.io/part-of": "swath" } },
        roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: binding.role },
        subjects: [{ kind: "ServiceAccount", name: binding.account, namespace: binding.accountNamespace }],
      }),
    );
  }
}

/** Two servers of a user may start at once. */
export async function ignoreExisting(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof ClusterApiError) || error.reason !== "AlreadyExists") {
      throw error;
    }
  }
}
