import { WORKSPACE_LABEL } from "@swath/kubernetes";
import { type ClusterApi, ClusterApiError } from "@swath/kubernetes/api";

interface Namespace {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly status?: { readonly phase?: string };
}

/**
 * Sees to the namespace of a user's workspace, which the workspace API makes too. The namespace binder gives the hub its rights in it, a moment
 * later.
 * @throws {Error} where the namespace is somebody else's
 */
export async function openUserNamespace(api: ClusterApi, name: string, deployment: string): Promise<void> {
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
            "swath.io/deployment": deployment,
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
