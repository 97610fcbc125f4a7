import { type ClusterApi, ClusterApiError } from "@swath/kubernetes/api";

import type { Login } from "../platform-images/platform-registry.ts";
import { podKeys } from "./pod-types.ts";

/** The Secret that the pods of one job pull images of the platform's registry with. */
export interface PullSecret {
  /** Makes it, with these credentials; again only when they are others. */
  readonly put: (host: string, login: Login) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** Pods name it whether or not it is there. */
export const pullSecretOf = (job: string): string => `ades-pull-${job}`;

export function createPullSecret(api: ClusterApi, job: string): PullSecret {
  const name = pullSecretOf(job);
  const path = `/api/v1/namespaces/${api.namespace}/secrets`;
  let current: string | undefined;
  return {
    put: async (host, { username, password }) => {
      if (current === password) {
        return;
      }
      const auth = Buffer.from(`${username}:${password}`).toString("base64");
      const secret = {
        apiVersion: "v1",
        kind: "Secret",
        type: "kubernetes.io/dockerconfigjson",
        metadata: {
          name,
          labels: { "app.kubernetes.io/managed-by": "swath-ades", [podKeys.job]: job },
        },
        stringData: { ".dockerconfigjson": JSON.stringify({ auths: { [host]: { username, password, auth } } }) },
      };
      try {
        await api.create(path, secret);
      } catch (error) {
        if (!(error instanceof ClusterApiError) || error.reason !== "AlreadyExists") {
          throw error;
        }
        // Of an earlier attempt, or with credentials that end soon.
        await api.remove(`${path}/${name}`);
        await api.create(path, secret);
      }
      current = password;
    },
    remove: async () => {
      if (current !== undefined) {
        await api.remove(`${path}/${name}`);
      }
    },
  };
}
