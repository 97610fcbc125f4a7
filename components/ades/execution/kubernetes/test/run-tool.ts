// Runs a CWL document with pods, as the service's user: node run-tool.ts '{"document": …, "options"}' (PodRun as JSON). Prints
// the log as it comes, and at last the outputs or the failure as one line of JSON.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { CwlError, loadDocument, runProcess, toJson } from "@swath/cwl";
import { openAccount } from "@swath/kubernetes/account";
import { openClusterApi } from "@swath/kubernetes/api";

import { createPodExecutor } from "../pod-executor.ts";
import { type ObjectFiles, openObjectFiles } from "./object-files.ts";

export interface PodRun {
  readonly server: string;
  readonly account: string;
  readonly namespace: string;
  readonly claim: string;
  readonly volume: string;
  readonly user: number;
  /** CWL text. */
  readonly document: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Name of the job's folder in the volume. */
  readonly job: string;
  readonly defaultImage?: string;
  /** Files go through an object storage. */
  readonly files?: ObjectFiles;
  /** Cores that steps have together. */
  readonly cores?: number;
  readonly timeouts?: { readonly room: number; readonly start: number };
}

export interface PodRunResult {
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly code?: string;
  readonly message?: string;
  readonly exitCode?: number;
}

const run = JSON.parse(process.argv[2] ?? "{}") as PodRun;
process.setgid?.(run.user);
process.setuid?.(run.user);
const api = openClusterApi(openAccount(run.account, run.server));
const objects = run.files && openObjectFiles(run.files, api, run.job);
const pods = createPodExecutor({
  api,
  timeouts: run.timeouts ?? { room: 60, start: 30 },
  podContext: async () => ({
    namespace: run.namespace,
    claim: run.claim,
    volumeRoot: run.volume,
    ...(objects && { transfer: objects.transfer }),
    user: { uid: run.user, gid: run.user },
    placement: {},
    pullSecrets: [],
    // The only node of a test has few cores, and others use them too.
    cpuPercent: 1,
    maxRamMiB: 512,
    labels: { "swath.io/job": run.job },
    ...(run.defaultImage !== undefined && { defaultImage: run.defaultImage }),
  }),
});
const folder = join(run.volume, "jobs", run.job);
mkdirSync(folder, { recursive: true });
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
let end: PodRunResult;
try {
  const outputs = await runProcess({
    document: await loadDocument("file:///test.cwl", { text: run.document }),
    inputs: run.inputs,
    executors: { host: pods, container: pods },
    journal: join(folder, "journal"),
    outDir: join(folder, "out"),
    limits: { infrastructureRetries: 0, cores: run.cores ?? 10_000, ramMiB: 100_000 },
    signal: stop.signal,
    onEvent: (event) => {
      if (event.type === "step-log") {
        process.stdout.write(event.text);
      }
    },
  });
  end = { outputs: JSON.parse(toJson(outputs)) as Record<string, unknown> };
} catch (error) {
  if (!(error instanceof CwlError)) {
    throw error;
  }
  end = { code: error.code, message: error.message, ...(error.exitCode !== undefined && { exitCode: error.exitCode }) };
}
await api.close();
await objects?.close();
process.stdout.write(`\n${JSON.stringify(end)}\n`);
