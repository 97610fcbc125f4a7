import { userInfo } from "node:os";

import { DEFAULT_CLUSTER, openTarget } from "../targets/open-target.ts";
import { listClusters } from "../targets/embedded/state/paths.ts";
import { openTrail } from "./open-trail.ts";
import { describeAct } from "./operator-acts.ts";

/**
 * Notes what an operator did in the audit trail of the deployment, once it is done. An act does not fail because it cannot be noted.
 * @returns why it could not, where there is a trail that it belongs to
 */
export async function noteOperatorAct(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const { action, words } = describeAct(command, args);
  const clusters = listClusters(env);
  const cluster = words.find((word) => clusters.includes(word)) ?? DEFAULT_CLUSTER;
  try {
    const target = openTarget(cluster, env);
    const plan = await target.readPlan();
    if (plan === undefined || (plan.database.roles ?? []).length === 0) {
      return undefined;
    }
    const trail = await openTrail(target, plan);
    try {
      const entry = {
        action,
        actor: `operator ${userInfo().username}`,
        target: words.join(" ").slice(0, 500),
        details: { administrator: true },
      };
      await trail.query("select audit.note($1::jsonb)", [JSON.stringify(entry)]);
      await trail.query("select audit.seal()");
    } finally {
      await trail.close();
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
