import { rmSync } from "node:fs";
import { join } from "node:path";

import type { Plan } from "../../platform/plan.ts";
import { ensureBundles } from "../../programs/bundles.ts";
import type { Release } from "../../releases/releases.ts";
import type { PodStatus } from "../pod-status.ts";
import type { Target } from "../target.ts";
import { NotRunningError, createControlClient } from "./control-client.ts";
import { endSupervisor, ensureSupervisor, findStatus } from "./ensure-supervisor.ts";
import { followFile } from "./follow-file.ts";
import { readClusterSettings } from "./state/cluster-settings.ts";
import { readJsonFile, writeJsonFile } from "./state/json-file.ts";
import { type ClusterPaths, clusterPaths } from "./state/paths.ts";
import { openSecretStore, readSecretFile, writeSecretFile } from "./state/secrets.ts";
import { logFile } from "./supervisor/log-files.ts";
import { readMetrics } from "./read-metrics.ts";
import { readLastLines } from "./supervisor/log-tail.ts";
import { readIfThere } from "./tls/files.ts";
import { readCertificates } from "./tls/certificate-status.ts";
import { listStoredCertificates, listTrustAnchors } from "./tls/served-certificates.ts";
import type { DesiredState } from "./supervisor/supervisor.ts";

/** The single-node cluster of supervised processes on this machine. */
export function createEmbeddedTarget(cluster: string, env: NodeJS.ProcessEnv): Target {
  const paths = clusterPaths(cluster, env);
  const client = createControlClient(paths);
  const listPods = async (): Promise<readonly PodStatus[]> => (await findStatus(client))?.pods ?? [];
  return {
    title: `embedded cluster "${cluster}"`,
    apply: async (plan) => {
      const settings = readClusterSettings(paths);
      if (settings === undefined) {
        throw new Error(`cluster ${cluster} has no settings; this is a fault of the deployment tool`);
      }
      // Before the supervisor: one of changed code starts pods at once.
      await ensureBundles();
      const supervisor = await ensureSupervisor(paths, env);
      await supervisor.apply({ plan, cluster: settings });
      return { finished: Promise.resolve() };
    },
    delete: () => deleteDeployment(paths, env),
    listPods,
    watchPods: async function* watchPods(signal) {
      for await (const { pods } of client.events(signal)) {
        yield pods;
      }
    },
    restart: async (name) => {
      try {
        return await client.restart(name);
      } catch (error) {
        if (error instanceof NotRunningError) {
          return [];
        }
        throw error;
      }
    },
    tailLog: async (pod, lines) => readLastLines(logFile(paths.logs, pod), lines, 16 * 1024 * 1024),
    followLog: (pod, lines, signal) => followFile(logFile(paths.logs, pod), lines, signal),
    readMetrics: ({ name }) => readMetrics(join(paths.run, "pods", name)),
    readPlan: async () => readPlan(paths),
    releases: {
      read: async () => readJsonFile<readonly Release[]>(join(paths.directory, "releases.json")) ?? [],
      write: async (releases) => writeJsonFile(join(paths.directory, "releases.json"), releases),
    },
    readSecret: (secret) => openSecretStore(paths.secretsFile)(secret),
    readSecrets: async () => readSecretFile(paths.secretsFile),
    changeSecrets: async (change) => {
      const secrets = readSecretFile(paths.secretsFile);
      change(secrets);
      writeSecretFile(paths.secretsFile, secrets);
    },
    databaseFolder: join(paths.run, "svc", "postgres"),
    handOver: async () => {
      if ((await findStatus(client)) !== undefined) {
        await endSupervisor(client, "handOver");
      }
    },
    readCertificates: async () => readCertificates(paths, readPlan(paths)),
    readAccess: async () => {
      const settings = readPlan(paths)?.settings;
      const domains = [settings?.domain, settings?.variables.USER_CONTENT_DOMAIN].filter((name) => name !== undefined);
      const found = await Promise.all(domains.map((domain) => readIfThere(join(paths.tls, `${domain}.ca.crt`))));
      const own = found.filter((certificate) => certificate !== undefined);
      const authorities = [...own, ...listTrustAnchors(listStoredCertificates(paths.tls, ""))];
      return {
        address: "127.0.0.1",
        ...(authorities.length > 0 && { certificateAuthority: authorities.join("\n") }),
      };
    },
  };
}

function readPlan(paths: ClusterPaths): Plan | undefined {
  return readJsonFile<DesiredState>(paths.planFile)?.plan;
}

/** Stops everything and forgets the plan; volumes, secrets, keys and the cluster's addresses stay. */
async function deleteDeployment(paths: ClusterPaths, env: NodeJS.ProcessEnv): Promise<void> {
  const client = createControlClient(paths);
  if (readPlan(paths) === undefined && (await findStatus(client)) === undefined) {
    return;
  }
  // Also when the supervisor was killed: its successor finds the pods that still run and stops them.
  const supervisor = await ensureSupervisor(paths, env);
  await endSupervisor(supervisor, "stop");
  for (const file of [paths.planFile, paths.podsFile, paths.ingressConfig, paths.controlKeyFile]) {
    rmSync(file, { force: true });
  }
  rmSync(paths.run, { recursive: true, force: true });
}
