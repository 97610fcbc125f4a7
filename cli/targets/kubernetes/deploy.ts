import { setTimeout as sleep } from "node:timers/promises";

import type { Plan } from "../../platform/plan.ts";
import type { Connection } from "./api/connection.ts";
import { applyObject, deleteObject, forEachConcurrent } from "./api/objects.ts";
import { type AcceptedPlan, acceptPlan } from "./apply/apply-plan.ts";
import { applyNamespace } from "./apply/apply-namespace.ts";
import { type Deleted, deleteDeployment } from "./apply/delete-deployment.ts";
import type { RollOutProgress } from "./apply/roll-out.ts";
import { requireRelease } from "./charts/chart.ts";
import { listCharts } from "./charts/charts.ts";
import { renderExtras } from "./charts/extras.ts";
import { installChart, uninstallChart } from "./charts/helm.ts";
import { checkCluster, readMinorVersion } from "./checks/check-cluster.ts";
import { adjustIngressController } from "./ingress-service.ts";
import { KubernetesError } from "./kubernetes-error.ts";
import { type Lease, acquireLease } from "./lease/acquire-lease.ts";
import { renderNamespace } from "./render/render-plan.ts";
import { RECORD_NAMESPACE } from "./state/names.ts";
import { readPlan } from "./state/record.ts";

/** Seconds that a namespace may take to go. */
const NAMESPACE_TIMEOUT = 180;

interface DeployOptions {
  readonly connection: Connection;
  readonly plan: Plan;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: RollOutProgress;
  readonly signal: AbortSignal;
  /** Called with who changes the deployment at present, when that has to be waited for. */
  readonly onWait: (holder: string) => void;
  readonly beforeChange?: () => Promise<void>;
  readonly record?: () => Promise<void>;
}

export interface Deploying extends AcceptedPlan {
  /** Lets other machines change the deployment again. */
  readonly release: () => Promise<void>;
}

/**
 * Checks everything, waits until no other machine changes the deployment, installs what the cluster lacks, then makes the
 * deployment what the plan says.
 */
export async function deploy(options: DeployOptions): Promise<Deploying> {
  const { connection, plan, env, progress } = options;
  let { minor } = await checkCluster(connection, plan, env);
  await options.beforeChange?.();
  const lease = await startChange(options, async () => {
    // Somebody else changed it meanwhile.
    ({ minor } = await checkCluster(connection, plan, env));
  });
  const signal = AbortSignal.any([options.signal, lease.signal]);
  try {
    await options.record?.();
    const helm = { env, context: connection.context };
    for (const chart of listCharts(plan.settings)) {
      const { version } = requireRelease(chart, minor);
      await installChart(chart, version, plan.settings, helm);
    }
    await adjustIngressController(connection, plan.settings);
    await forEachConcurrent(
      renderExtras(plan.settings),
      async (object) => void (await applyObject(connection, object)),
    );
    const { finish } = await acceptPlan({ connection, plan, minor, progress, signal });
    return {
      finish: () => finish().catch((error: unknown) => throwLoss(lease, error)),
      release: lease.release,
    };
  } catch (error) {
    await lease.release();
    return throwLoss(lease, error);
  }
}

/** The lease of a deployment that is there or about to be; its namespace is made for it. */
async function startChange(
  { connection, plan, onWait }: DeployOptions,
  checkAgain: () => Promise<void>,
): Promise<Lease> {
  let hasWaited = false;
  for (let attempt = 0; attempt < NAMESPACE_TIMEOUT; attempt += 1) {
    await applyNamespace(connection, renderNamespace(plan, RECORD_NAMESPACE));
    const lease = await acquireLease({
      connection,
      onWait: (holder) => {
        hasWaited = true;
        onWait(holder);
      },
    });
    // A deletion that was waited for may have taken the namespace with it.
    if (lease === undefined) {
      await sleep(1000);
      continue;
    }
    try {
      await (hasWaited ? checkAgain() : undefined);
      return lease;
    } catch (error) {
      await lease.release();
      throw error;
    }
  }
  throw new KubernetesError(
    `namespace ${RECORD_NAMESPACE} is being deleted and does not go; kubectl describe says why`,
  );
}

function throwLoss({ signal }: Lease, error: unknown): never {
  throw signal.aborted ? signal.reason : error;
}

interface UndeployOptions {
  readonly connection: Connection;
  readonly clusterName: string;
  readonly env: NodeJS.ProcessEnv;
  /** Also volumes and generated secrets. */
  readonly everything?: boolean;
  /** Called with who changes the deployment at present, when that has to be waited for. */
  readonly onWait: (holder: string) => void;
}

/** Removes the deployment, and the charts that it installed; never the cluster. */
export async function undeploy(options: UndeployOptions): Promise<Deleted> {
  const { connection, onWait } = options;
  const minor = await readMinorVersion(connection);
  const lease = await acquireLease({ connection, onWait });
  try {
    return await remove(options, minor);
  } finally {
    await lease?.release();
  }
}

async function remove({ connection, clusterName, env, everything }: UndeployOptions, minor: number): Promise<Deleted> {
  const plan = await readPlan(connection, clusterName);
  const deleted = await deleteDeployment({
    connection,
    clusterName,
    minor,
    ...(everything !== undefined && { everything }),
  });
  if (plan !== undefined) {
    await forEachConcurrent(renderExtras(plan.settings), (object) => deleteObject(connection, object));
    for (const chart of listCharts(plan.settings).toReversed()) {
      await uninstallChart(chart, { env, context: connection.context });
    }
  }
  return deleted;
}
