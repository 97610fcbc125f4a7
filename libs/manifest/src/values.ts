/** A secret setting: either the operator gave it, or the target makes one once, keeps it and shows it on request. */
export type PlatformSecret =
  | {
      readonly kind: "given";
      readonly value: string;
      /** While it is being changed: the other one of the old and the new value. */
      readonly also?: string;
    }
  /** All uses of one `name` within a deployment are the same value. */
  | { readonly kind: "generated"; readonly name: string; readonly bytes: number };

/** Access modes of Kubernetes volumes; `ReadWriteOncePod` needs Kubernetes 1.22 and a CSI driver. */
export type VolumeAccess = "ReadWriteOnce" | "ReadWriteOncePod" | "ReadWriteMany";

/** Persistent storage. Survives `delete`; `deploy/cluster/clean` removes it. */
export interface Volume {
  readonly name: string;
  readonly namespace: string;
  /** Kubernetes quantity, "5Gi". */
  readonly size: string;
  readonly storageClass: string;
  readonly accessMode: VolumeAccess;
  readonly backup: VolumeBackup;
}

/** What a backup of the deployment takes of a volume. */
export type VolumeBackup =
  /**
   * What `components/<component>/<entry>.ts` writes to standard output: a tar stream of the volume as of one moment, made while
   * the workload that owns the volume runs. Unpacked into an empty volume, the workload starts from it.
   */
  | {
      readonly kind: "program";
      readonly component: string;
      readonly entry: string;
      readonly env: Readonly<Record<string, EnvValue>>;
    }
  | { readonly kind: "nothing"; readonly because: string };

/** A Kubernetes Secret, or a 0600 file kept by the embedded cluster. */
export interface Secret {
  readonly name: string;
  readonly namespace: string;
  readonly entries: Readonly<Record<string, SecretEntry>>;
}

/** A value, or a text made of literals and values: a database URL with its password inside. */
export type SecretEntry = PlatformSecret | { readonly kind: "joined"; readonly parts: readonly (string | EnvValue)[] };

export interface ConfigMap {
  readonly name: string;
  readonly namespace: string;
  readonly data: Readonly<Record<string, string>>;
}

/** What an environment variable of a workload holds; the target resolves the references. */
export type EnvValue =
  | string
  /** An entry of a Secret of the same namespace. */
  | { readonly secret: string; readonly key: string }
  /** A secret setting itself, without a Secret of its own declared: the target files it under the workload's name. */
  | PlatformSecret
  /**
   * The other value of a secret while it is being changed, for whoever has to accept both; at any other time the variable is not
   * set. See `swath credentials rotate`.
   */
  | { readonly also: PlatformSecret }
  /**
   * The same for a program that accepts both alike, and is not to be replaced when use turns from one to the other: the first and
   * second of the two values in an order of their own.
   */
  | { readonly eitherOf: PlatformSecret; readonly which: "first" | "second" }
  /** An entry of a ConfigMap of the same namespace. */
  | { readonly configMap: string; readonly key: string }
  /** Base URL of another workload inside the deployment, `http://…` or `http+unix://…`; see `createPeer` of @swath/service. */
  | { readonly peer: string; readonly port?: string }
  /** Connection string of the deployment's PostgreSQL, deployed or external, by the component's own role. */
  | { readonly database: "url" }
  /**
   * Where the target tells, read-only, which pods there are and what they log: a peer address on the embedded cluster
   * (`GET /pods`, `GET /pods/<name>/log?lines=`), the word `kubernetes` where the cluster's own API is to be asked.
   */
  | { readonly platform: "status" }
  /** Directory where a mounted volume is found. */
  | { readonly volume: string }
  /**
   * A text for programs on a Kubernetes cluster; elsewhere the variable is not set. What changes with each version, as images do, stands in a
   * ConfigMap: the definition of the pod stays the same then, and its container is started again in its place.
   */
  | { readonly onKubernetes: string | { readonly configMap: string; readonly key: string } }
  /**
   * File with the certificate of the authority of the deployment's own that signs its public hosts, on the embedded cluster; there is
   * no such file where another authority signs them. On Kubernetes the variable is not set.
   */
  | { readonly authority: "file" };
