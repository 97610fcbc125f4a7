import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type CommandResult, runCommand, skipWithout } from "@swath/testing";
import { applyObjects, kubectl, mustKubectl, findKubernetesSkipReason } from "@swath/testing/kubernetes";

export const root: string = join(import.meta.dirname, "../../..");
export const NAME = "swath";
export const DOMAIN = "eo.example.org";

/** Where the test cluster's storage class puts volumes, on this machine; belongs to root, who is not in the pods. */
const HOST_VOLUMES = "/tmp/hostpath_pv";

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly json: () => any;
}

/** A deployment on the cluster of KUBECONFIG, as an operator makes it. */
export interface Deployment {
  readonly env: NodeJS.ProcessEnv;
  readonly apply: (variables?: Readonly<Record<string, string>>, signal?: AbortSignal) => Promise<CommandResult>;
  /** Makes the deployment from a backup. */
  readonly restore: (file: string) => Promise<CommandResult>;
  /** The rendered objects as YAML, with the variables of the deployment. */
  readonly template: (...options: readonly string[]) => Promise<string>;
  readonly swath: (...args: readonly string[]) => Promise<CommandResult>;
  /** Port on loopback that takes every host of the deployment. */
  readonly port: () => Promise<number>;
  /** A request to a host of the deployment through the API server. */
  readonly send: (service: string, path: string, options?: SendOptions) => Promise<TestResponse>;
  readonly close: () => Promise<void>;
  /** Ends what this process does and leaves the deployment as it is, for whoever works on a test. */
  readonly leave: () => void;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Why nothing can be deployed here; `undefined` when it can. */
export async function findDeploymentSkipReason(): Promise<string | undefined> {
  const missing = await findKubernetesSkipReason();
  if (missing !== undefined) {
    return `${missing}; set KUBECONFIG to a cluster for tests`;
  }
  if (process.env["SWATH_IMAGE"] === undefined) {
    return "SWATH_IMAGE names no image that the cluster has; npm run test:kubernetes builds one";
  }
  // What attacks are tried with inside of pods.
  return skipWithout("/bin/busybox") || undefined;
}

interface DeploymentPlace {
  /** Where its hosts are said to be. */
  readonly publicIp?: string;
  /** Port on loopback that takes every host; 0 for any free one. */
  readonly forwardPort?: number;
}

/**
 * A deployment with these variables, and those of SWATH_TEST_VARIABLES (a JSON object). Brings what the test cluster lacks: a
 * class for hosts, and volumes that others than root may write.
 */
export async function openDeployment(
  variables: Readonly<Record<string, string>>,
  { publicIp = "192.0.2.10", forwardPort = 0 }: DeploymentPlace = {},
): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), "swath-kubernetes-"));
  const { PATH, HOME, KUBECONFIG, NODE_COMPILE_CACHE, SWATH_IMAGE } = process.env;
  const env: NodeJS.ProcessEnv = {
    PATH,
    HOME,
    KUBECONFIG,
    NODE_COMPILE_CACHE,
    SWATH_IMAGE,
    SWATH_STATE_DIR: join(folder, "state"),
    REQUIRE_LOCALCLUSTER: "false",
    REQUIRE_INGRESS_CONTROLLER: "false",
    ...variables,
    ...(JSON.parse(process.env["SWATH_TEST_VARIABLES"] ?? "{}") as Record<string, string>),
  };
  await applyObjects([
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: "nginx" },
      spec: { controller: "k8s.io/ingress-nginx" },
    },
  ]);
  const openVolumes = setInterval(openHostVolumes, 300);
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}, signal?: AbortSignal) =>
    runCommand(process.execPath, [join(root, "cli/main.ts"), ...args], {
      env: { ...env, ...more },
      ...(signal && { signal }),
    });
  let forward: { readonly process: ChildProcess; readonly port: number } | undefined;
  const openForward = async () => {
    forward ??= await startForward(env, forwardPort);
    return forward.port;
  };
  const closeForward = () => {
    forward?.process.kill("SIGTERM");
    forward = undefined;
  };
  return {
    env,
    restore: async (file) => {
      closeForward();
      return run(["restore", file]);
    },
    apply: async (more, signal) => {
      // The hosts may be others afterwards.
      closeForward();
      return run(["deploy", "apply", NAME, DOMAIN, publicIp, "--yes"], more, signal);
    },
    template: async (...options) => {
      const { status, stdout, stderr } = await run(["deploy", "template", NAME, DOMAIN, publicIp, ...options]);
      if (status !== 0) {
        throw new Error(stderr);
      }
      return stdout;
    },
    swath: (...args) => run(args),
    port: openForward,
    send: async (service, path, options) => send(await openForward(), `${service}.${DOMAIN}`, path, options),
    leave: () => {
      closeForward();
      clearInterval(openVolumes);
    },
    close: async () => {
      closeForward();
      await run(["deploy", "delete", NAME]);
      await run(["clean", NAME, "--yes"]);
      clearInterval(openVolumes);
      await kubectl(["delete", "ingressclass", "nginx", "--ignore-not-found"]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function openHostVolumes(): void {
  if (existsSync(HOST_VOLUMES) && process.getuid?.() === 0) {
    for (const name of readdirSync(HOST_VOLUMES)) {
      openHostVolume(join(HOST_VOLUMES, name));
    }
  }
}

function openHostVolume(folder: string): void {
  try {
    chmodSync(folder, 0o777);
  } catch (error) {
    // The cluster has deleted it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw error;
    }
  }
}

async function startForward(
  env: NodeJS.ProcessEnv,
  expected: number,
): Promise<{ process: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [join(root, "cli/main.ts"), "forward", "-p", String(expected), NAME], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const found = /127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (found !== undefined) {
        resolve(Number(found));
      }
    });
    child.on("close", (status) => reject(new Error(`swath forward ended with status ${status}`)));
  });
  return { process: child, port };
}

function send(
  port: number,
  host: string,
  path: string,
  { method = "GET", headers = {}, body }: SendOptions = {},
): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: "127.0.0.1", port, path, method, headers: { host, ...headers }, agent: false, timeout: 60_000 },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(parts).toString("utf8");
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: () => JSON.parse(text) as unknown,
          });
        });
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`${host}${path} does not answer`)));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const KINDS =
  "deployments,statefulsets,jobs,services,configmaps,secrets,persistentvolumeclaims,ingresses.networking.k8s.io,networkpolicies,poddisruptionbudgets,serviceaccounts,roles,rolebindings,namespaces";

/** Version of every object of the deployment, by kind and name. */
export async function readVersions(): Promise<Readonly<Record<string, string>>> {
  const text = await mustKubectl(["get", KINDS, "-A", "-l", `swath.io/deployment=${NAME}`, "-o", "json"]);
  const { items } = JSON.parse(text) as {
    items: { kind: string; metadata: { namespace?: string; name: string; resourceVersion: string } }[];
  };
  return Object.fromEntries(
    items.map(({ kind, metadata }) => [
      `${kind} ${metadata.namespace ?? ""}/${metadata.name}`,
      metadata.resourceVersion,
    ]),
  );
}

/** Name of the newest pod of each workload. */
export async function readPodNames(): Promise<Readonly<Record<string, string>>> {
  const text = await mustKubectl(["get", "pods", "-A", "-l", "app.kubernetes.io/managed-by=swath", "-o", "json"]);
  const { items } = JSON.parse(text) as {
    items: {
      metadata: { name: string; uid: string; labels: Record<string, string>; deletionTimestamp?: string };
    }[];
  };
  return Object.fromEntries(
    items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => [metadata.labels["app.kubernetes.io/name"] ?? "", metadata.uid]),
  );
}
