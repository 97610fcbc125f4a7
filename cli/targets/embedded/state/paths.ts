import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Where an embedded cluster keeps everything. */
export interface ClusterPaths {
  readonly cluster: string;
  /** Folder of this cluster; the folders of clusters lie side by side. */
  readonly directory: string;
  /** Ports, domain and address, chosen once. */
  readonly clusterFile: string;
  /** What is deployed: the last plan that was applied. */
  readonly planFile: string;
  /** Generated secrets. */
  readonly secretsFile: string;
  /** Numbers of the accounts that services run as, where they have accounts of their own. */
  readonly accountsFile: string;
  /** Links to compiled code, by the numbers of accounts. */
  readonly compiled: string;
  /** Pods that run now; read by the next supervisor to adopt them. */
  readonly podsFile: string;
  /** Unix sockets. */
  readonly run: string;
  readonly logs: string;
  readonly volumes: string;
  readonly tls: string;
  /** Certificates of the deployment's own authorities, for every service. */
  readonly authorities: string;
  /** The supervisor answers here … */
  readonly controlSocket: string;
  /** … those who show what stands here; only the operator can read it. */
  readonly controlKeyFile: string;
  /** It also answers here, to services that may look and nothing else. */
  readonly statusSocket: string;
  readonly ingressConfig: string;
  /** What the ingress reads: responses to ACME challenges, and all it needs where it has its own account. */
  readonly ingress: string;
  /** Short name of this folder, the same for everyone who looks at it. */
  readonly id: string;
}

/** A unix socket's path has 107 bytes at most, and the longest name below `run` takes up to 68 of them. */
const MAX_RUN_PATH = 107 - 68;

/** Folder that holds all clusters of this user. */
export function stateRoot(env: NodeJS.ProcessEnv, uid: number = process.getuid?.() ?? 1): string {
  if (env["SWATH_STATE_DIR"]) {
    return resolve(env["SWATH_STATE_DIR"]);
  }
  return uid === 0 ? "/var/lib/swath" : join(env["XDG_STATE_HOME"] || join(homedir(), ".local/state"), "swath");
}

export function clusterPaths(cluster: string, env: NodeJS.ProcessEnv): ClusterPaths {
  const directory = join(stateRoot(env), "clusters", cluster);
  const id = createHash("sha256").update(directory).digest("hex").slice(0, 12);
  const run = join(directory, "run");
  const shortRun = run.length <= MAX_RUN_PATH ? run : join(tmpdir(), `swath-${process.getuid?.() ?? 0}-${id}`);
  return {
    cluster,
    directory,
    clusterFile: join(directory, "cluster.json"),
    planFile: join(directory, "plan.json"),
    secretsFile: join(directory, "secrets.json"),
    accountsFile: join(directory, "accounts.json"),
    compiled: join(directory, "compiled"),
    podsFile: join(directory, "pods.json"),
    run: shortRun,
    logs: join(directory, "logs"),
    volumes: join(directory, "volumes"),
    tls: join(directory, "tls"),
    authorities: join(directory, "authorities"),
    controlSocket: join(shortRun, "control.sock"),
    controlKeyFile: join(directory, "control.json"),
    statusSocket: join(shortRun, "status.sock"),
    ingressConfig: join(directory, "ingress.json"),
    ingress: join(directory, "ingress"),
    id,
  };
}

/** Names of the clusters that have a folder. */
export function listClusters(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    return readdirSync(join(stateRoot(env), "clusters"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return [];
    }
    throw error;
  }
}
