import type { EnvValue } from "./values.ts";

/**
 * One program: a Deployment, StatefulSet or Job on Kubernetes, a supervised child process on the embedded cluster.
 * The program is `components/<component>/<entry>.ts`.
 */
export interface Workload {
  /** Unique in the deployment, RFC 1123 label. */
  readonly name: string;
  readonly namespace: string;
  readonly component: string;
  /** `service` runs for ever, `task` runs to its end once for every change of its definition. */
  readonly kind: "service" | "task";
  /** File to run without `.ts`; `main` when left out. */
  readonly entry?: string;
  readonly env: Readonly<Record<string, EnvValue>>;
  /**
   * Variables whose new value reaches the running program by another way: on the embedded cluster a change of them alone does not
   * replace it.
   */
  readonly changedWhileRunning?: readonly string[];
  readonly ports?: readonly Port[];
  readonly mounts?: readonly Mount[];
  /**
   * Workloads that must be ready (services) or completed (tasks) before this one starts. Whoever has the database's address in
   * its environment waits for the database by itself.
   */
  readonly needs?: readonly string[];
  /** It uses the database where that is there, and does not wait for it. */
  readonly startsWithoutDatabase?: true;
  readonly probe?: Probe;
  /** `rolling` (default): the new one is ready before the old one stops. `recreate`: never two at once (it owns a volume). */
  readonly strategy?: "rolling" | "recreate";
  readonly replicas?: number;
  /** One on each node of a Kubernetes cluster; callers reach that of their own node. For Kubernetes alone. */
  readonly onEveryNode?: true;
  /** Container image on Kubernetes; SWATH_IMAGE when left out. */
  readonly image?: string;
  /**
   * Version of what runs in it, where a restart is felt by everybody: an apply leaves it in the image that it runs in as long as that
   * has the same version, whatever SWATH_IMAGE is by now.
   */
  readonly keepImageOf?: string;
  readonly resources: Resources;
  /** Signal that asks it to stop; SIGTERM when left out. */
  readonly stopSignal?: "SIGTERM" | "SIGINT";
  /** Seconds it may take to stop before it is killed; 30 when left out. */
  readonly stopSeconds?: number;
  /**
   * Who it runs as on the embedded cluster when the operator is root: `service` (default) an account that its component alone has;
   * `sandbox` the same for programs that make sandboxes and containers, and root where that takes root; `database` a named account of
   * the machine, which PostgreSQL needs.
   */
  readonly account?: "service" | "sandbox" | "database";
  /** True when it calls addresses outside of the deployment that no variable names: inputs of jobs, feeds. */
  readonly callsOutside?: boolean;
  /** What it may do with the Kubernetes API; nothing when left out. */
  readonly clusterRole?: ClusterRole;
  /** What it may do in every namespace of the deployment, and nowhere else. */
  readonly deploymentRules?: readonly PolicyRule[];
  /** Namespaces of others that the operator names, and what it may do in them. */
  readonly secretsInNamespaces?: SecretsInNamespaces;
  /** Namespaces that it makes by itself, and what it may do in them. */
  readonly ownNamespaces?: OwnNamespaces;
  /** It binds all workloads that make namespaces in theirs. For Kubernetes alone. */
  readonly bindsOwnNamespaces?: true;
  /** Label of pods, in any namespace, that call it besides the workloads whose settings name it. */
  readonly calledByPods?: string;
}

/** A listener. The program finds its address in `LISTEN` (port `http`) or `LISTEN_<NAME>` (any other). */
export interface Port {
  readonly name: string;
  /** Port number inside a pod; the embedded cluster uses unix sockets instead. */
  readonly number: number;
}

export interface Mount {
  readonly volume: string;
  /** Where it is mounted in a pod. */
  readonly path: string;
}

/**
 * How readiness is found out. `management` (when left out): GET /readyz and /healthz on the management listener
 * (`MANAGEMENT_LISTEN`). `postgres`: a connection on the port `postgres` is answered by a server that takes queries.
 */
export type Probe = "management" | "postgres";

export interface Resources {
  /** Kubernetes quantities: what it needs in ordinary use. */
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly limits: { readonly cpu?: string; readonly memory: string };
}

/**
 * What pods that a workload starts by itself may reach; nobody may reach them. `none`: nothing. `internet`: names, and every
 * address that is not a private network's, so neither the cluster nor its machines. With both the workloads that are named.
 */
export interface PodNetwork {
  readonly name: string;
  readonly namespace: string;
  /** Labels of the pods. */
  readonly pods: Readonly<Record<string, string>>;
  readonly egress: "none" | "internet";
  readonly workloads?: readonly string[];
}

export interface ClusterRole {
  readonly scope: "namespace" | "cluster";
  readonly rules: readonly PolicyRule[];
}

/** A rule of a Kubernetes Role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/**
 * A workload that makes namespaces. It may make any, and change and remove none: the namespace binder (`bindsOwnNamespaces`) gives it the
 * role `namespaceRoleName(…)` in each that carries the labels, so that it gets no right in a namespace of others. Where the cluster has
 * ValidatingAdmissionPolicy (Kubernetes 1.30), it makes none without the labels either.
 */
export interface OwnNamespaces {
  /** Label of such a namespace; its value is the namespace's name. */
  readonly label: string;
  /** What it may do in such a namespace; a rule for `namespaces` is for the namespace itself. */
  readonly rules: readonly PolicyRule[];
  /** It may bind Roles of such a namespace to accounts there. The API server lets it give nobody rights that it lacks itself. */
  readonly bindsRoles?: true;
}

/**
 * A workload that writes Secrets into namespaces of others. It gets the right to in each of those named, and who owns another one can
 * give it by a RoleBinding of their own to the ClusterRole of the workload's name and `secrets`. Where the cluster has
 * ValidatingAdmissionPolicy (Kubernetes 1.30), it changes none there but those that carry the label.
 */
export interface SecretsInNamespaces {
  readonly namespaces: readonly string[];
  readonly label: string;
}
