import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findFreePorts } from "./free-ports.ts";
import { type CommandResult, runCommand } from "./run-command.ts";

/** Root of the checkout. */
const repositoryRoot = join(import.meta.dirname, "../../..");

/** A pod as `swath pods -o json` prints it. */
export interface ListedPod {
  readonly name: string;
  readonly workload: string;
  readonly phase: string;
  readonly ready: boolean;
  readonly restarts: number;
  readonly pid?: number;
  readonly message?: string;
}

/** An embedded cluster of a test's own: its own state folder and ports, nothing shared with any other. */
export interface TestCluster {
  readonly name: string;
  readonly domain: string;
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
  /** Folder of the cluster's state. */
  readonly directory: string;
  readonly apply: (env?: NodeJS.ProcessEnv, signal?: AbortSignal) => Promise<CommandResult>;
  readonly swath: (...args: readonly string[]) => Promise<CommandResult>;
  readonly pods: () => Promise<readonly ListedPod[]>;
  readonly pod: (workload: string) => Promise<ListedPod>;
  /** A request to a service of the cluster through its ingress. */
  readonly get: (
    service: string,
    path: string,
    headers?: Record<string, string>,
  ) => Promise<{ status: number; body: string }>;
  /** Deletes the cluster and its folder. Throws when a pod logged an error that nothing caught. */
  readonly close: () => Promise<void>;
}

/** Makes a cluster that `apply` deploys on; `env` are its variables. */
export async function createTestCluster(variables: NodeJS.ProcessEnv): Promise<TestCluster> {
  const name = `test-${process.pid}`;
  const state = mkdtempSync(join(tmpdir(), "swath-test-"));
  // As root, PostgreSQL runs as another account and has to pass through.
  chmodSync(state, 0o711);
  const [port, tlsPort] = await findFreePorts(2);
  const domain = `${name}.localhost`;
  // The last names the run of tests: what it leaves when it is interrupted is found by it.
  const { PATH, HOME, NODE_COMPILE_CACHE, SWATH_TEST_RUN } = process.env;
  const env: NodeJS.ProcessEnv = {
    PATH,
    HOME,
    NODE_COMPILE_CACHE,
    SWATH_TEST_RUN,
    SWATH_STATE_DIR: state,
    LOCALCLUSTER_EXTRA_OPTIONS: `--ports=${port}:80,${tlsPort}:443`,
    ...variables,
  };
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}, signal?: AbortSignal) =>
    runCommand(process.execPath, [join(repositoryRoot, "cli/main.ts"), ...args], {
      env: { ...env, ...more },
      ...(signal && { signal }),
    });
  const pods = async () => JSON.parse((await run(["pods", "-o", "json", name])).stdout) as readonly ListedPod[];
  return {
    name,
    domain,
    port: port ?? 0,
    env,
    directory: join(state, "clusters", name),
    apply: (more, signal) => run(["deploy", "apply", name, domain, "--yes"], more, signal),
    swath: (...args) => run(args),
    pods,
    pod: async (workload) => {
      const found = (await pods()).findLast((pod) => pod.workload === workload);
      if (found === undefined) {
        throw new Error(`there is no pod of ${workload}`);
      }
      return found;
    },
    get: (service, path, headers = {}) => get(port ?? 0, `${service}.${domain}`, path, headers),
    close: async () => {
      const faults = findFaults(join(state, "clusters", name, "logs"));
      await run(["cluster", "delete", name, "--yes"]);
      rmSync(state, { recursive: true, force: true });
      if (faults.length > 0) {
        throw new Error(`pods logged errors that nothing caught:\n${faults.join("\n")}`);
      }
    },
  };
}

/** What `runService` and the ingress log of such an error. */
const FAULT =
  /"msg":"(?:nothing caught this error of a request|unhandled rejection; stopping|uncaught error; stopping)"/;
const MAX_FAULTS = 10;

/** Lines of logs that tell of an error that nothing caught: the process went on or not, the code is wrong. */
function findFaults(logs: string): readonly string[] {
  const names = existsSync(logs) ? readdirSync(logs) : [];
  return names
    .flatMap((log) =>
      readFileSync(join(logs, log), "utf8")
        .split("\n")
        .filter((line) => FAULT.test(line))
        .map((line) => `${log}: ${line.slice(0, 2000)}`),
    )
    .slice(0, MAX_FAULTS);
}

function get(
  port: number,
  host: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: "127.0.0.1", port, path, headers: { host, ...headers }, agent: false },
      (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (text: string) => (body += text));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
        response.on("error", reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end();
  });
}
