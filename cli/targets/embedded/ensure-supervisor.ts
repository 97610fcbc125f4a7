import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { SUPERVISOR, openBundles } from "../../programs/bundles.ts";
import { type ControlClient, NotRunningError, createControlClient } from "./control-client.ts";
import { createCodeVersions, repositoryRoot } from "./launch/code-version.ts";
import type { ClusterPaths } from "./state/paths.ts";
import { prepareDirectories } from "./state/prepare-directories.ts";
import type { SupervisorStatus } from "./supervisor/control-server.ts";
import { logFile, openLog } from "./supervisor/log-files.ts";
import { readLastLine } from "./supervisor/log-tail.ts";
import { isRunning, readStat } from "./supervisor/processes.ts";

const START_LIMIT_MS = 20_000;
const END_LIMIT_MS = 20_000;

/** Makes sure that a supervisor of this code runs for the cluster, and gives a client of it. */
export async function ensureSupervisor(paths: ClusterPaths, env: NodeJS.ProcessEnv): Promise<ControlClient> {
  const client = createControlClient(paths);
  const status = await findStatus(client);
  const codeVersion = createCodeVersions()("cli");
  if (status?.codeVersion === codeVersion) {
    return client;
  }
  if (status !== undefined) {
    // Of another version: it leaves the pods to its successor.
    await endSupervisor(client, "handOver");
  }
  prepareDirectories(paths);
  await startSupervisor(paths, env, client);
  return client;
}

/** Stops all pods, or leaves them to a successor, and resolves when the supervisor's process is gone. */
export async function endSupervisor(client: ControlClient, how: "stop" | "handOver"): Promise<void> {
  const { pid } = await client.status();
  const startedAt = readStat(pid)?.startedAt ?? "";
  await client[how]().catch((error: unknown) => {
    // It may be gone before its answer is: what counts is that its process ends.
    if (!(error instanceof NotRunningError)) {
      throw error;
    }
  });
  const deadline = Date.now() + END_LIMIT_MS;
  while (isRunning(pid, startedAt)) {
    if (Date.now() > deadline) {
      throw new Error(`the supervisor (process ${pid}) did not end within ${END_LIMIT_MS / 1000} s`);
    }
    await sleep(5);
  }
}

/** The running supervisor's status, or `undefined` when none runs. */
export async function findStatus(client: ControlClient): Promise<SupervisorStatus | undefined> {
  try {
    return await client.status();
  } catch (error) {
    if (error instanceof NotRunningError) {
      return undefined;
    }
    throw error;
  }
}

async function startSupervisor(paths: ClusterPaths, env: NodeJS.ProcessEnv, client: ControlClient): Promise<void> {
  const log = openLog(paths.logs, "supervisor");
  const program = openBundles()(SUPERVISOR) ?? join(repositoryRoot, SUPERVISOR);
  const child = spawn(process.execPath, [program, paths.cluster], {
    cwd: repositoryRoot,
    detached: true,
    stdio: ["ignore", log, log],
    env: { ...env, NODE_OPTIONS: "--max-semi-space-size=4" },
  });
  closeSync(log);
  let ended: number | null | undefined;
  child.on("exit", (code) => (ended = code));
  child.on("error", () => (ended = 1));
  child.unref();
  const deadline = Date.now() + START_LIMIT_MS;
  while ((await findStatus(client)) === undefined) {
    if ((ended !== undefined && ended !== 0) || Date.now() > deadline) {
      const file = logFile(paths.logs, "supervisor");
      throw new Error(
        `The cluster's supervisor did not start: ${readLastLine(file) ?? "it said nothing"} (log: ${file})`,
      );
    }
    await sleep(10);
  }
}
