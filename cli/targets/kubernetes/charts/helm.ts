import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";

import { toPlainYaml } from "@swath/kubernetes";
import type { PlatformSettings } from "@swath/manifest";

import { KubernetesError } from "../kubernetes-error.ts";
import type { Chart } from "./chart.ts";

/** How helm is told of the cluster. */
export interface HelmContext {
  readonly env: NodeJS.ProcessEnv;
  readonly context: string;
}

/** Installs a chart, or brings an installed one to that version and these values; waits until it is up. */
export async function installChart(
  chart: Chart,
  version: string,
  settings: PlatformSettings,
  helm: HelmContext,
): Promise<void> {
  const { name, repository, namespace } = chart;
  await runHelm(
    [
      "upgrade",
      "--install",
      name,
      name,
      `--repo=${repository}`,
      `--version=${version}`,
      `--namespace=${namespace}`,
      "--create-namespace",
      "--wait",
      "--timeout=5m",
      "--values=-",
    ],
    helm,
    toPlainYaml(chart.values(settings)),
  );
}

/** Removes a chart's release; one that is gone is as good. */
export async function uninstallChart({ name, namespace }: Chart, helm: HelmContext): Promise<void> {
  try {
    await runHelm(["uninstall", name, `--namespace=${namespace}`, "--wait", "--timeout=5m"], helm);
  } catch (error) {
    if (!(error instanceof Error && /release: not found|not found/i.test(error.message))) {
      throw error;
    }
  }
}

export function isInstalled(program: string, env: NodeJS.ProcessEnv): boolean {
  return (env["PATH"] ?? "").split(":").some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function runHelm(args: readonly string[], { env, context }: HelmContext, input = ""): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("helm", [...args, `--kube-context=${context}`], { env, stdio: ["pipe", "ignore", "pipe"] });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    child.on("error", (cause) => reject(new KubernetesError(`helm could not be started: ${cause.message}`, { cause })));
    child.on("close", (status) =>
      status === 0
        ? resolve()
        : reject(
            new KubernetesError(`helm ${args.slice(0, 3).join(" ")} failed: ${errors.trim() || `status ${status}`}`),
          ),
    );
    // A helm that ends before it has read everything says why itself.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}
