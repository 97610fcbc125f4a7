import { rmSync } from "node:fs";

import { createEmbeddedTarget } from "./embedded-target.ts";
import { clusterPaths } from "./state/paths.ts";

/** Stops a cluster and removes everything it has on this machine. */
export async function deleteCluster(cluster: string, env: NodeJS.ProcessEnv): Promise<void> {
  const paths = clusterPaths(cluster, env);
  await createEmbeddedTarget(cluster, env).delete();
  rmSync(paths.run, { recursive: true, force: true });
  // Servers of the hub are no pods: they end when they see that its folder is gone, and may write until then.
  rmSync(paths.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
