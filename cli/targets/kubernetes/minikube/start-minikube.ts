import { spawn } from "node:child_process";

import type { Config } from "../../../config/config.ts";
import { isInstalled } from "../charts/helm.ts";
import { KubernetesError } from "../kubernetes-error.ts";
import { installMinikube } from "./install-minikube.ts";

interface StartOptions {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  /** Folder where a minikube goes that this machine does not have. */
  readonly binFolder: string;
  readonly print: (line: string) => void;
}

/** Addons by the switches: the ones of the tool itself, where no chart is asked for. */
export function listAddons({ variables }: Config): readonly string[] {
  return [
    "storage-provisioner",
    "default-storageclass",
    ...(variables.REQUIRE_INGRESS_CONTROLLER && !variables.USE_INGRESS_CONTROLLER_HELM ? ["ingress"] : []),
    ...(variables.USE_LOADBALANCER_ADDON ? ["metallb"] : []),
  ];
}

/** Arguments of `minikube start` for a configuration. */
export function startArguments(config: Config): readonly string[] {
  const { variables, extraOptions } = config;
  const ports = extraOptions.ports.map(({ address, machinePort, clusterPort }) =>
    [address, machinePort, clusterPort].filter((part) => part !== undefined).join(":"),
  );
  return [
    "start",
    `--profile=${config.clusterName}`,
    `--kubernetes-version=${variables.LOCALCLUSTER_ORCH_VERSION}`,
    `--cpus=${variables.LOCALCLUSTER_CPU_AMOUNT}`,
    `--memory=${variables.LOCALCLUSTER_MEMORY_AMOUNT}`,
    `--disk-size=${variables.LOCALCLUSTER_DISK_AMOUNT}`,
    "--interactive=false",
    ...(ports.length > 0 ? [`--ports=${ports.join(",")}`] : []),
    ...(extraOptions.listenAddress === undefined ? [] : [`--listen-address=${extraOptions.listenAddress}`]),
    ...extraOptions.others,
  ];
}

/**
 * Makes sure that the minikube cluster of the configuration runs, with its addons; installs minikube where the machine has none.
 * A cluster that runs is left as it is. Gives its address.
 */
export async function startMinikube({ config, env, binFolder, print }: StartOptions): Promise<string> {
  const path = isInstalled("minikube", env) ? env : withFolder(env, binFolder);
  if (!isInstalled("minikube", path)) {
    print(`minikube is not installed; installing ${config.variables.LOCALCLUSTER_VERSION} into ${binFolder}`);
    await installMinikube({ version: config.variables.LOCALCLUSTER_VERSION, folder: binFolder });
  }
  const profile = `--profile=${config.clusterName}`;
  const run = (args: readonly string[]) => runMinikube(args, path);
  const isRunning = await run(["status", profile]).then(
    () => true,
    () => false,
  );
  if (isRunning) {
    print(`minikube cluster "${config.clusterName}" is running already`);
  } else {
    print(`starting minikube cluster "${config.clusterName}" ...`);
    await run(startArguments(config));
  }
  for (const addon of listAddons(config)) {
    await run(["addons", "enable", addon, profile]);
  }
  return (await run(["ip", profile])).trim();
}

export function withFolder(env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv {
  return { ...env, PATH: `${env["PATH"] ?? ""}:${folder}` };
}

function runMinikube(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("minikube", args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    child.on("error", (cause) =>
      reject(new KubernetesError(`minikube could not be started: ${cause.message}`, { cause })),
    );
    child.on("close", (status) =>
      status === 0
        ? resolve(output)
        : reject(
            new KubernetesError(
              `minikube ${args[0]} failed: ${(errors.trim() || output.trim()).split("\n").slice(-8).join("\n")}`,
            ),
          ),
    );
  });
}
