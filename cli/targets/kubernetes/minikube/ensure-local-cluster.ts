import { join } from "node:path";

import type { DeployArguments } from "../../../config/arguments.ts";
import { resolveConfig } from "../../../config/resolve.ts";
import { stateRoot } from "../../embedded/state/paths.ts";
import { startMinikube, withFolder } from "./start-minikube.ts";

interface EnsureOptions {
  readonly args: DeployArguments;
  readonly env: NodeJS.ProcessEnv;
  readonly print: (line: string) => void;
}

/**
 * Starts the local cluster where minikube provides it, before anything that depends on its address. A configuration with mistakes
 * starts nothing; they are reported later. Gives the environment in which minikube is found.
 */
export async function ensureLocalCluster({ args, env, print }: EnsureOptions): Promise<NodeJS.ProcessEnv> {
  const binFolder = join(stateRoot(env), "bin");
  // Any address will do: what is made of it is not looked at.
  const facts = { clusterIp: "192.0.2.1", wildcardDnsResolves: true };
  const { config, mistakes } = resolveConfig({ env, args, facts });
  const { REQUIRE_LOCALCLUSTER: isLocal, LOCALCLUSTER_TOOL: tool } = config.variables;
  if (mistakes.length > 0 || !isLocal || tool !== "minikube") {
    return env;
  }
  await startMinikube({ config, env, binFolder, print });
  return withFolder(env, binFolder);
}
