import { createEmbeddedTarget } from "../targets/embedded/embedded-target.ts";
import { listClusters } from "../targets/embedded/state/paths.ts";
import type { Plan } from "../platform/plan.ts";
import type { Target } from "../targets/target.ts";
import { CommandError } from "./command.ts";

export const DEFAULT_CLUSTER = "swath";

/** The target of an existing cluster by its name. */
export function openTarget(cluster: string | undefined, env: NodeJS.ProcessEnv): Target {
  const name = cluster ?? DEFAULT_CLUSTER;
  const known = listClusters(env);
  if (!known.includes(name)) {
    throw new CommandError(
      `there is no cluster "${name}"${known.length > 0 ? ` (there are: ${known.join(", ")})` : ""}; make one: deploy/simple/simple`,
    );
  }
  return createEmbeddedTarget(name, env);
}

/** The plan of what is deployed on a target. */
export async function readDeployedPlan(target: Target): Promise<Plan> {
  const plan = await target.readPlan();
  if (plan === undefined) {
    throw new CommandError(`nothing is deployed on the ${target.title}; deploy something: deploy/simple/simple`);
  }
  return plan;
}
