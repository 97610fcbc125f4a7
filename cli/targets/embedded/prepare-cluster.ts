import { networkInterfaces } from "node:os";

import type { DeployArguments } from "../../config/arguments.ts";
import { type Resolution, resolveConfig } from "../../config/resolve.ts";
import { collectMachineFacts } from "../machine-facts.ts";
import { type ChosenPorts, choosePorts } from "./choose-ports.ts";
import { INGRESS } from "./launch/ingress-spec.ts";
import { type ClusterSettings, readClusterSettings } from "./state/cluster-settings.ts";
import { type ClusterPaths, clusterPaths } from "./state/paths.ts";
import { findMarkedProcesses } from "./supervisor/processes.ts";

/** A resolved configuration, and the cluster it is for, not yet written. */
export interface PreparedCluster {
  readonly resolution: Resolution;
  readonly cluster: ClusterSettings;
  readonly paths: ClusterPaths;
  /** What the operator should know of the place: a fallback of ports or domain. */
  readonly notes: readonly string[];
}

interface PrepareOptions {
  readonly args: DeployArguments;
  readonly env: NodeJS.ProcessEnv;
  readonly clusterName: string;
  /** Whether to look for free ports; a printed template needs none. */
  readonly bindPorts: boolean;
}

const LOOPBACK = "127.0.0.1";

/** Finds out what the configuration needs to know of this machine and this cluster, and resolves it. Changes nothing. */
export async function prepareCluster({ args, env, clusterName, bindPorts }: PrepareOptions): Promise<PreparedCluster> {
  const paths = clusterPaths(clusterName, env);
  const kept = readClusterSettings(paths);
  const facts = await collectMachineFacts({ env, args, readKeptDomain: async () => kept?.domain });
  const first = resolveConfig({ env, args, facts });
  const { config } = first;
  const desired = {
    http: findPort(config.extraOptions.ports, 80),
    https: findPort(config.extraOptions.ports, 443),
  };
  const addresses = listenAddresses(config);
  const portsAreGiven = config.origins.LOCALCLUSTER_EXTRA_OPTIONS.kind !== "default";
  const ports: ChosenPorts =
    bindPorts && first.mistakes.length === 0 && config.variables.REQUIRE_INGRESS_CONTROLLER
      ? await findPorts({ paths, kept, desired, portsAreGiven, addresses })
      : { http: kept?.httpPort ?? desired.http, https: kept?.httpsPort ?? desired.https };
  const resolution = resolveConfig({ env, args, facts: { ...facts, ingressPorts: ports } });
  const cluster: ClusterSettings = {
    name: clusterName,
    domain: resolution.config.domain,
    addresses,
    httpPort: ports.http,
    httpsPort: ports.https,
    portsAreGiven,
    createdAt: kept?.createdAt ?? new Date().toISOString(),
  };
  return { resolution, cluster, paths, notes: listNotes(ports, desired) };
}

interface FindPortsOptions {
  readonly paths: ClusterPaths;
  readonly kept: ClusterSettings | undefined;
  readonly desired: { readonly http: number; readonly https: number };
  readonly portsAreGiven: boolean;
  readonly addresses: readonly string[];
}

async function findPorts({ paths, kept, desired, portsAreGiven, addresses }: FindPortsOptions): Promise<ChosenPorts> {
  const isSameWish =
    kept !== undefined &&
    kept.portsAreGiven === portsAreGiven &&
    kept.addresses.join() === addresses.join() &&
    (!portsAreGiven || (kept.httpPort === desired.http && kept.httpsPort === desired.https));
  if (isSameWish) {
    const keptPorts = { http: kept.httpPort, https: kept.httpsPort };
    // Its own ingress has them, perhaps without a supervisor at the moment.
    if (findMarkedProcesses(paths.id).some(({ pod }) => pod.startsWith(`${INGRESS}-`))) {
      return keptPorts;
    }
    // Links that people have kept lead to these ports: better an error than to move silently.
    return choosePorts({ desired: keptPorts, isProvided: true, addresses });
  }
  return choosePorts({ desired, isProvided: portsAreGiven, addresses });
}

function listNotes(ports: ChosenPorts, desired: { http: number; https: number }): readonly string[] {
  return ports.reason !== undefined && ports.http !== desired.http
    ? [`${ports.reason}; this cluster uses ${ports.http} and ${ports.https} instead.`]
    : [];
}

function findPort(mappings: readonly { machinePort: number; clusterPort: number }[], clusterPort: number): number {
  return mappings.find((mapping) => mapping.clusterPort === clusterPort)?.machinePort ?? clusterPort;
}

/** Loopback (both families) when nobody else is to reach it; else every address of the machine. */
function listenAddresses({ onLoopback, extraOptions, publicIp }: Resolution["config"]): readonly string[] {
  const hasIpv6 = Object.values(networkInterfaces()).some((entries) =>
    entries?.some(({ address }) => address === "::1"),
  );
  if (onLoopback) {
    const address = publicIp.startsWith("127.") ? publicIp : LOOPBACK;
    return hasIpv6 ? [address, "::1"] : [address];
  }
  const provided = [extraOptions.listenAddress, ...extraOptions.ports.map((mapping) => mapping.address)].filter(
    (address) => address !== undefined,
  );
  return provided.length > 0 ? [...new Set(provided)] : hasIpv6 ? ["0.0.0.0", "::"] : ["0.0.0.0"];
}
