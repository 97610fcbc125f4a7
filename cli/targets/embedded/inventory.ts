import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { formatBytes } from "../../view/bytes.ts";
import { listVolumes } from "./state/list-volumes.ts";
import { type ClusterPaths, stateRoot } from "./state/paths.ts";

/** A file or folder that is left of a deployment. */
export interface Artefact {
  readonly path: string;
  /** What is in it. */
  readonly holds: string;
}

/** What stays, and why. */
export interface KeptArtefact extends Artefact {
  readonly because: string;
}

export interface Inventory {
  readonly removed: readonly Artefact[];
  readonly kept: readonly KeptArtefact[];
}

const HOLDS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    volumes: "data of the services",
    "secrets.json": "generated secrets",
    "releases.json": "variables of former deployments, with the passwords that were given",
    logs: "logs of the pods",
    tls: "private keys and certificates, the local authority's too",
    run: "sockets",
    "pods.json": "pods that ran",
    "accounts.json": "numbers of the accounts of services",
    compiled: "links to compiled code",
  }),
);

/** Everything in the folder of a cluster that nothing runs of. No secret is among what stays. */
export function takeInventory(paths: ClusterPaths, env: NodeJS.ProcessEnv): Inventory {
  const own = existsSync(paths.directory) ? readdirSync(paths.directory).toSorted() : [];
  const root = stateRoot(env);
  const elsewhere: readonly Artefact[] = [
    { path: join(root, "sealed", `${paths.cluster}.json`), holds: "secrets of templates" },
    ...(paths.run.startsWith(paths.directory) ? [] : [{ path: paths.run, holds: "sockets" }]),
  ];
  const kept: readonly KeptArtefact[] = [
    {
      path: paths.clusterFile,
      holds: "name, domain and ports",
      because: "the next deployment of that name gets the same addresses; swath cluster delete removes it",
    },
    {
      path: join(root, "backups", paths.cluster),
      holds: "backups",
      because: "they are made to outlive the deployment; delete the folder to lose them, and the secrets in them",
    },
  ];
  return {
    removed: [
      ...own
        .map((name) => ({ path: join(paths.directory, name), holds: HOLDS.get(name) ?? "state of the cluster" }))
        .filter(({ path }) => path !== paths.clusterFile),
      ...elsewhere.filter(({ path }) => existsSync(path)),
    ],
    kept: kept.filter(({ path }) => existsSync(path)),
  };
}

/** One line an artefact, each volume with its size. */
export function describeRemoved({ removed }: Inventory, paths: ClusterPaths): readonly string[] {
  return removed.flatMap(({ path, holds }) => [
    `${path} (${holds})`,
    ...(path === paths.volumes
      ? listVolumes(paths).map(({ volume, bytes }) => `  volume ${volume} (${formatBytes(bytes)})`)
      : []),
  ]);
}
