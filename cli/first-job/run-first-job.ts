import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Plan } from "../platform/plan.ts";
import { loginHint, runQuickProcedure } from "../quick-procedure/procedure.ts";
import { clusterPaths } from "../targets/embedded/state/paths.ts";
import type { Target } from "../targets/target.ts";

interface FirstJobContext {
  readonly target: Target;
  readonly plan: Plan;
  readonly env: NodeJS.ProcessEnv;
}

/** Takes what the quick procedure prints. */
const NOWHERE = { write: () => true } as unknown as NodeJS.WriteStream;

/**
 * The quick procedure without its transcript, once in the life of a deployment: whether a real scene becomes a picture here.
 * @returns what to tell; nothing where it was done before, or the deployment has no processing or no object storage
 * @throws {CommandError} when the job fails
 */
export async function runFirstJob({ target, plan, env }: FirstJobContext): Promise<string> {
  const has = (name: string) => plan.components.some((component) => component.name === name);
  const isPossible = has("ades") && has("objstore") && plan.settings.variables.STAGEOUT_TARGET === "objstore";
  const { directory } = clusterPaths(plan.settings.clusterName, env);
  const mark = join(directory, "first-job");
  if (!isPossible || !existsSync(directory) || existsSync(mark)) {
    return "";
  }
  const { seconds, page } = await runQuickProcedure({ target, plan, env, stdout: NOWHERE });
  writeFileSync(mark, "");
  const where = page === undefined ? "bin/swath jobs lists it" : `${page} ${loginHint(plan)}`;
  return `\nIts first job, the vegetation index of a Landsat scene, took ${seconds.toFixed(1)} s. The picture: ${where}\n`;
}
