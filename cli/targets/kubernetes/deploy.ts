import type { Plan } from "../../platform/plan.ts";
import type { Connection } from "./api/connection.ts";
import { applyObject, deleteObject, forEachOf } from "./api/objects.ts";
import { type AcceptedPlan, acceptPlan } from "./apply/apply-plan.ts";
import { type Deleted, deleteDeployment } from "./apply/delete-deployment.ts";
import type { RollOutProgress } from "./apply/roll-out.ts";
import { listCharts } from "./charts/charts.ts";
import { renderExtras } from "./charts/extras.ts";
import { installChart, uninstallChart } from "./charts/helm.ts";
import { checkCluster, readMinorVersion } from "./checks/check-cluster.ts";
import { adjustIngressController } from "./ingress-service.ts";
import { readPlan } from "./state/record.ts";

interface DeployOptions {
  readonly connection: Connection;
  readonly plan: Plan;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: RollOutProgress;
  readonly signal: AbortSignal;
}

/** Checks everything, installs what the cluster lacks, then makes the deployment what the plan says. */
export async function deploy({ connection, plan, env, progress, signal }: DeployOptions): Promise<AcceptedPlan> {
  const { minor } = await checkCluster(connection, plan, env);
  const helm = { env, context: connection.context };
  for (const chart of listCharts(plan.settings)) {
    await installChart(chart, plan.settings, helm);
  }
  await adjustIngressController(connection, plan.settings);
  await forEachOf(renderExtras(plan.settings), async (object) => void (await applyObject(connection, object)));
  return acceptPlan({ connection, plan, minor, progress, signal });
}

interface UndeployOptions {
  readonly connection: Connection;
  readonly clusterName: string;
  readonly env: NodeJS.ProcessEnv;
  /** Also volumes and generated secrets. */
  readonly everything?: boolean;
}

/** Removes the deployment, and the charts that it installed; never the cluster. */
export async function undeploy({ connection, clusterName, env, everything }: UndeployOptions): Promise<Deleted> {
  const minor = await readMinorVersion(connection);
  const plan = await readPlan(connection, clusterName);
  const deleted = await deleteDeployment({
    connection,
    clusterName,
    minor,
    ...(everything !== undefined && { everything }),
  });
  if (plan !== undefined) {
    await forEachOf(renderExtras(plan.settings), (object) => deleteObject(connection, object));
    for (const chart of listCharts(plan.settings).toReversed()) {
      await uninstallChart(chart, { env, context: connection.context });
    }
  }
  return deleted;
}
