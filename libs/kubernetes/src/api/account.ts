import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Who a program is to a cluster, and where the cluster answers. */
export interface ClusterAccount {
  /** Base URL of the API server. */
  readonly server: string;
  /** Certificate (PEM) of the authority that the server's own comes from. */
  readonly certificateAuthority: string;
  /** Namespace that the program runs in. */
  readonly namespace: string;
  /** A token that is good now. */
  readonly token: () => string;
}

/** Where a cluster puts the account of a pod that asks for it. */
export const ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Tokens are replaced in the file long before they end; so often it is read again. */
const TOKEN_AGE = 60_000;

/**
 * Opens the account in a folder: the files `token`, `ca.crt` and `namespace`.
 * @throws {Error} saying what is missing and what to do
 */
export function openAccount(folder: string, server: string): ClusterAccount {
  const read = (name: string): string => {
    try {
      return readFileSync(join(folder, name), "utf8").trim();
    } catch (error) {
      throw new Error(
        `the account for the Kubernetes API is not in ${folder} (${name} cannot be read); the pod needs a service account whose token is mounted`,
        { cause: error },
      );
    }
  };
  const [certificateAuthority, namespace] = [read("ca.crt"), read("namespace")];
  let known: { readonly token: string; readonly at: number } | undefined;
  return {
    server: server.replace(/\/+$/, ""),
    certificateAuthority,
    namespace,
    token: () => {
      if (known === undefined || Date.now() - known.at > TOKEN_AGE) {
        known = { token: read("token"), at: Date.now() };
      }
      return known.token;
    },
  };
}
