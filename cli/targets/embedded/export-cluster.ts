import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { type ArchiveWriter, readEntries } from "@swath/archive";
import type { Volume, Workload } from "@swath/manifest";

import type { Plan } from "../../platform/plan.ts";
import { commandOf } from "./accounts/command-of.ts";
import { openServiceAccounts } from "./accounts/service-accounts.ts";
import { createCodeVersions, repositoryRoot } from "./launch/code-version.ts";
import { createLaunchSpec } from "./launch/launch-spec.ts";
import type { ClusterPaths } from "./state/paths.ts";
import { openOtherReader, openSecretStore } from "./state/secrets.ts";
import { accountEnvironment, inheritedEnvironment } from "./supervisor/pod-environment.ts";

/** Last part of what a backup program says when it fails. */
const EXPLANATION_CHARACTERS = 2000;

/**
 * Adds a running cluster to a backup: its settings, secrets and keys, then the volumes in the order of deployment. The database
 * comes before what it refers to, so that everything its rows name is there.
 * @throws {Error} when a volume's backup program fails, with what it said
 */
export async function exportCluster(paths: ClusterPaths, plan: Plan, archive: ArchiveWriter): Promise<void> {
  for (const file of [paths.clusterFile, paths.planFile, paths.secretsFile]) {
    await archive.addFile(file, `cluster/${file.slice(paths.directory.length + 1)}`);
  }
  await archive.addFolder(paths.tls, { prefix: "cluster/tls/" });
  for (const volume of plan.volumes) {
    if (volume.backup.kind === "program") {
      await exportVolume(volume, volume.backup, { paths, plan, archive });
    }
  }
}

async function exportVolume(
  { namespace, name }: Volume,
  program: Extract<Volume["backup"], { kind: "program" }>,
  { paths, plan, archive }: { paths: ClusterPaths; plan: Plan; archive: ArchiveWriter },
): Promise<void> {
  const workload: Workload = {
    ...program,
    name: `${name}-backup`,
    namespace,
    kind: "task",
    resources: { requests: { cpu: "0", memory: "0" }, limits: { memory: "0" } },
  };
  const spec = createLaunchSpec(workload, {
    plan,
    paths,
    readSecret: openSecretStore(paths.secretsFile),
    readOther: openOtherReader(paths.secretsFile),
    codeVersion: createCodeVersions(),
    accounts: undefined,
  });
  const accounts = openServiceAccounts(paths, () => {});
  const owner = plan.workloads.find(
    (candidate) => candidate.namespace === namespace && candidate.mounts?.some(({ volume }) => volume === name),
  );
  // As its owner: files that it makes beside others, as databases do, must not be root's.
  const account = accounts?.plan(plan).get(owner?.name ?? "")?.account;
  const [command, ...args] = commandOf(join(repositoryRoot, spec.program), account, accounts?.means);
  const child = spawn(command, args, {
    env: {
      ...inheritedEnvironment(),
      ...(account !== undefined && accountEnvironment("/nonexistent", paths.compiled)),
      ...spec.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let explanation = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    explanation = `${explanation}${text}`.slice(-EXPLANATION_CHARACTERS);
  });
  const closed = once(child, "close");
  try {
    for await (const entry of readEntries(child.stdout)) {
      await archive.addEntry(entry, `volumes/${namespace}/${name}/${entry.name}`);
    }
  } catch (error) {
    child.kill();
    await closed;
    throw explain(`${(error as Error).message}; ${explanation}`);
  }
  await closed;
  if (child.exitCode !== 0) {
    throw explain(explanation);
  }

  function explain(reason: string): Error {
    return new Error(`the volume ${namespace}/${name} could not be backed up: ${reason.trim()}`);
  }
}
