import { ensureBundles } from "../../programs/bundles.ts";
import { createControlClient } from "./control-client.ts";
import { endSupervisor, ensureSupervisor, findStatus } from "./ensure-supervisor.ts";
import { readJsonFile, writeJsonFile } from "./state/json-file.ts";
import { clusterPaths } from "./state/paths.ts";
import type { DesiredState } from "./supervisor/supervisor.ts";

/** Stops every pod and remembers that this was wanted. */
export async function stopDeployment(cluster: string, env: NodeJS.ProcessEnv): Promise<void> {
  const paths = clusterPaths(cluster, env);
  const desired = readJsonFile<DesiredState>(paths.planFile);
  if (desired === undefined && (await findStatus(createControlClient(paths))) === undefined) {
    return;
  }
  const supervisor = await ensureSupervisor(paths, env);
  await endSupervisor(supervisor, "stop");
  if (desired !== undefined) {
    writeJsonFile(paths.planFile, { ...desired, stopped: true });
  }
}

/** Brings back what was applied last. */
export async function startDeployment(cluster: string, env: NodeJS.ProcessEnv): Promise<void> {
  const paths = clusterPaths(cluster, env);
  const desired = readJsonFile<DesiredState>(paths.planFile);
  await ensureBundles();
  const supervisor = await ensureSupervisor(paths, env);
  if (desired !== undefined) {
    const { stopped: _stopped, ...running } = desired;
    await supervisor.apply(running);
  }
}
