import type { Plan } from "../../../platform/plan.ts";
import type { Connection } from "../api/connection.ts";
import { PLAN_SECRET } from "./names.ts";
import { packedSecret } from "./packed-secret.ts";

const secret = packedSecret<Plan>(PLAN_SECRET, "plan.json.gz");

/** The plan that was applied last. */
export async function readPlan(connection: Connection, clusterName: string): Promise<Plan | undefined> {
  const plan = await secret.read(connection);
  return plan?.settings.clusterName === clusterName ? plan : undefined;
}

export async function writePlan(connection: Connection, plan: Plan): Promise<void> {
  await secret.write(connection, plan.settings.clusterName, plan);
}
