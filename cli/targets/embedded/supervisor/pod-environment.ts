import { join } from "node:path";

import type { LaunchSpec } from "../launch/launch-spec.ts";
import { POD_MARKER } from "./processes.ts";

/** What pods inherit from the operator's environment; everything else stays out, secrets of a shell among it. */
const INHERITED = [
  "PATH",
  "HOME",
  "LANG",
  "TZ",
  "TMPDIR",
  "NODE_COMPILE_CACHE",
  "NODE_EXTRA_CA_CERTS",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
];

/** Seconds that a replaced pod answers on open connections: those who send requests drop theirs after four that were idle. */
const DRAIN_SECONDS = 5;

interface PodPlace {
  /** Folder of the pod's sockets. */
  readonly directory: string;
  readonly marker: string;
  /** Where Node.js finds compiled code, for an account that does not share the operator's. */
  readonly compiled: string;
  /** Whether it opens nothing before its predecessor is gone. */
  readonly waits: boolean;
}

/** The whole environment of a pod's process. */
export function podEnvironment(
  { workload, env, account }: LaunchSpec,
  { directory, marker, compiled, waits }: PodPlace,
): NodeJS.ProcessEnv {
  const sockets = (workload.ports ?? []).map(({ name }) => {
    const group = account?.socketGroups[name];
    return [
      name === "http" ? "LISTEN" : `LISTEN_${name.toUpperCase()}`,
      `unix:${join(directory, `${name}.sock`)}${group === undefined ? "" : `?group=${group}`}`,
    ];
  });
  return {
    ...inheritedEnvironment(),
    ...(account?.account !== undefined && accountEnvironment(directory, compiled)),
    NODE_ENV: "production",
    // Small services: a smaller young generation costs nothing they would notice and saves tens of megabytes.
    NODE_OPTIONS: "--max-semi-space-size=4",
    MANAGEMENT_LISTEN: `unix:${join(directory, "management.sock")}`,
    ...Object.fromEntries(sockets),
    ...(waits && { WAIT_FOR_PREDECESSOR: "true" }),
    ...(drains(workload) && { DRAIN_TIMEOUT: `${DRAIN_SECONDS}s` }),
    ...env,
    [POD_MARKER]: marker,
  };
}

/** The operator's home and compiled code are closed to other accounts. */
export const accountEnvironment = (home: string, compiled: string): NodeJS.ProcessEnv => ({
  HOME: home,
  NODE_COMPILE_CACHE: compiled,
});

/** Whether it serves requests, goes on with those of open connections after SIGTERM, and stops at once after SIGINT. */
export function drains({ kind, ports = [], stopSignal }: LaunchSpec["workload"]): boolean {
  return kind !== "task" && ports.length > 0 && stopSignal === undefined;
}

/** What every process of the cluster gets of the operator's environment. */
export function inheritedEnvironment(): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- a child's environment is made from ours
  return Object.fromEntries(
    INHERITED.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined),
  );
}
