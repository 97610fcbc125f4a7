import { execFile } from "node:child_process";
import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { DeployArguments } from "../config/arguments.ts";
import type { Config } from "../config/config.ts";
import type { MachineFacts } from "../config/facts.ts";
import type { PortalValuesFile } from "../config/portal-values/read-portal-values.ts";
import { resolveConfig } from "../config/resolve.ts";

export interface FactSources {
  readonly env: NodeJS.ProcessEnv;
  readonly args: DeployArguments;
  /** The domain an earlier apply chose for that cluster, if there was one. */
  readonly readKeptDomain: (clusterName: string) => Promise<string | undefined>;
}

/** Finds out about the machine no more than this configuration asks for: a name is looked up only where the domain depends on it. */
export async function collectMachineFacts({ env, args, readKeptDomain }: FactSources): Promise<MachineFacts> {
  const { config } = resolveConfig({ env, args, facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: true } });
  const { PORTAL_VALUES: file } = config.variables;
  const [place, portalValues] = await Promise.all([
    collectPlace(config, { env, readKeptDomain }),
    file === undefined ? undefined : readPortalValuesFile(file),
  ]);
  return { ...place, ...(portalValues && { portalValues }) };
}

async function readPortalValuesFile(path: string): Promise<PortalValuesFile> {
  try {
    return { path, content: { text: await readFile(path, "utf8") } };
  } catch (error) {
    const problem = `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return { path, content: { problem } };
  }
}

async function collectPlace(
  config: Config,
  { env, readKeptDomain }: Pick<FactSources, "env" | "readKeptDomain">,
): Promise<MachineFacts> {
  const { REQUIRE_LOCALCLUSTER: isLocal, LOCALCLUSTER_TOOL: tool } = config.variables;
  if (!isLocal) {
    return { clusterIp: undefined, wildcardDnsResolves: true };
  }
  if (tool === "minikube") {
    const knowsAddress = config.origins.publicIp.kind === "argument";
    return {
      clusterIp: knowsAddress ? undefined : await readMinikubeAddress(config.clusterName, env),
      wildcardDnsResolves: true,
    };
  }
  if (config.origins.domain.kind === "argument") {
    return { clusterIp: "127.0.0.1", wildcardDnsResolves: true };
  }
  const keptDomain = await readKeptDomain(config.clusterName);
  const usesKept = keptDomain !== undefined && config.origins.publicIp.kind !== "argument";
  return {
    clusterIp: "127.0.0.1",
    keptDomain,
    wildcardDnsResolves: usesKept || (await resolves(`identity.${config.domain}`, config.publicIp)),
  };
}

/** Undefined where minikube is not installed or has no such cluster yet. */
async function readMinikubeAddress(profile: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("minikube", ["ip", "--profile", profile], { timeout: 10_000, env });
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Waits no longer than a person would for a name server that does not answer. */
async function resolves(name: string, address: string): Promise<boolean> {
  const response = lookup(name, { all: true }).then(
    (found) => found.some((one) => one.address === address),
    () => false,
  );
  return await Promise.race([response, sleep(2000, false, { ref: false })]);
}
