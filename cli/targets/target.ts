import type { PlatformSecret } from "@swath/manifest";

import type { Plan } from "../platform/plan.ts";
import type { ReleaseRecord } from "../releases/releases.ts";
import type { PodStatus } from "./pod-status.ts";

export interface ApplyOptions {
  readonly signal?: AbortSignal;
  /** Called once the target was checked and before anything is changed; a rejection ends the apply. */
  readonly beforeChange?: () => Promise<void>;
  /** Called after that, when nobody else changes the deployment any more: for what is noted of the apply. */
  readonly record?: () => Promise<void>;
}

/** A place where deployments run. Commands know nothing else of it. */
export interface Target {
  /** What people call it: `embedded cluster "swath"`. */
  readonly title: string;
  /**
   * Makes the deployment what the plan says; what has not changed is not touched. Resolves when it has been accepted. The signal
   * ends what is left to do.
   */
  readonly apply: (plan: Plan, options?: ApplyOptions) => Promise<Applying>;
  /** Removes the deployment and keeps volumes. */
  readonly delete: () => Promise<void>;
  readonly listPods: () => Promise<readonly PodStatus[]>;
  /** Every change of the pods, the present state first, until the signal. */
  readonly watchPods: (signal: AbortSignal) => AsyncIterable<readonly PodStatus[]>;
  /** Restarts a pod, or all pods of a workload; gives the names of those that were meant. */
  readonly restart: (name: string) => Promise<readonly string[]>;
  /** The last lines of a pod's log. */
  readonly tailLog: (pod: string, lines: number) => Promise<readonly string[]>;
  /** The log from its last `lines` on, as it grows, until the signal. */
  readonly followLog: (pod: string, lines: number, signal: AbortSignal) => AsyncIterable<string>;
  /** What a pod says of itself, as Prometheus text; undefined when it has nothing to say, as a database has not. */
  readonly readMetrics: (pod: PodStatus) => Promise<string | undefined>;
  /** The plan that was applied last. */
  readonly readPlan: () => Promise<Plan | undefined>;
  /** The versions of this code that were applied. */
  readonly releases: ReleaseRecord;
  readonly readSecret: SecretReader;
  /** Secrets that the deployment made for itself, and what is kept beside them, by their names. */
  readonly readSecrets: () => Promise<ReadonlyMap<string, string>>;
  /** Changes them all at once. The pods learn of it by the next apply. */
  readonly changeSecrets: (change: (secrets: Map<string, string>) => void) => Promise<void>;
  /** Folder of the socket of the deployed database, where this machine can reach it past every pod. */
  readonly databaseFolder?: string;
  /** Opens a way to the deployed database, where it is in a pod that this machine reaches through others. */
  readonly openDatabase?: () => Promise<DatabaseWay>;
  /** How programs on this machine reach the hosts of the deployment, where names and public certificates do not lead there. */
  readonly readAccess: () => Promise<DeploymentAccess>;
  /** Lets go of the pods so that an earlier version of this code can take them over. Left out where nothing of this code runs. */
  readonly handOver?: () => Promise<void>;
  /** What certificates the hosts have. Left out where others look after them. */
  readonly readCertificates?: () => Promise<readonly CertificateStatus[]>;
  /** Opens a way in past the ingress, which others run and may not be there yet. Left out where the ingress is the target's own. */
  readonly forward?: (port: number) => Promise<Forward>;
}

/** A way to the deployed database, until it is closed. */
export interface DatabaseWay {
  /** Folder of a unix socket that leads there. */
  readonly folder: string;
  readonly close: () => Promise<void>;
}

/** A way in past the ingress, until it is closed. */
export interface Forward {
  /** Port on this machine's loopback that takes every host of the deployment. */
  readonly port: number;
  readonly close: () => Promise<void>;
}

export interface Applying {
  /** Resolves when all that the tool itself has to do is done; rejects with what is in the way. */
  readonly finished: Promise<void>;
  /** Lets others change the deployment again; for a target that other machines may change at the same time. */
  readonly release?: () => Promise<void>;
}

export interface DeploymentAccess {
  /** IP address that stands for every host of the domain; left out where names resolve. */
  readonly address?: string;
  /** Certificates (PEM) that the hosts' certificates lead to where these are not of a public authority. */
  readonly certificateAuthority?: string;
}

/** A certificate that the deployment needs, and how it stands. */
export interface CertificateStatus {
  readonly hosts: readonly string[];
  /** Value of TLS_CLUSTER_ISSUER. */
  readonly issuer: string;
  /** `temporary`: the deployment's own authority signed while the issuer has not; `expired` and `renewing` are served as well. */
  readonly state: "issued" | "renewing" | "expired" | "temporary";
  /** Who signed what is served now. */
  readonly signedBy?: string;
  readonly expires?: Date;
  readonly nextAttempt?: Date;
  readonly lastError?: { readonly at: Date; readonly text: string; readonly advice: string };
}

/** Gives the value of a secret of the deployment. */
export type SecretReader = (secret: PlatformSecret) => string | Promise<string>;
