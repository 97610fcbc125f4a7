import { components } from "../../platform/components.ts";
import { listMissingComponents } from "../../platform/missing-components.ts";
import { type Plan, createPlan } from "../../platform/plan.ts";
import type { Config } from "../../config/config.ts";
import type { ClusterAddress } from "../../targets/kubernetes/api/connection.ts";
import { findDeploymentAddress, findVariablesAddress } from "../../targets/kubernetes/find-address.ts";
import { forgetKnownCluster, writeKnownCluster } from "../../targets/kubernetes/known-clusters.ts";
import { createKubernetesTarget } from "../../targets/kubernetes/kubernetes-target.ts";
import type { Applying } from "../../targets/target.ts";
import { type Release, describeRelease, withRelease } from "../../releases/releases.ts";
import { formatTable } from "../../view/table.ts";
import { watchUntilSettled } from "../../view/watch-until-settled.ts";
import { CommandError, type CommandContext } from "../command.ts";
import { confirmRemoval } from "../confirm.ts";
import { confirmRemovedServices } from "./confirm-removed-services.ts";
import { DEFAULT_CLUSTER } from "../../targets/open-target.ts";
import { requireNoRotation } from "./rotate-credentials.ts";
import { requireRealm } from "./require-realm.ts";
import { printWaiting } from "../print-waiting.ts";
import { describeNextCommand } from "../next-steps.ts";
import { upgradeFirst } from "./upgrade-first.ts";
import { listUrls } from "../operation/urls.ts";

export interface ApplyOptions {
  /** Removes what goes without asking. */
  readonly yes: boolean;
  /** Makes a backup before the data are changed. */
  readonly withBackup: boolean;
}

/** Makes the deployment on the cluster that the variables mean. */
export async function applyOnKubernetes(
  config: Config,
  context: CommandContext,
  options: ApplyOptions,
): Promise<number> {
  const { stdout, env } = context;
  const plan = createPlan(config, components);
  const { resolveContext } = await import("../../targets/kubernetes/api/resolve-context.ts");
  const address = await resolveContext(findVariablesAddress(config.clusterName, env) ?? {});
  const missing = listMissingComponents(config, components);
  if (missing.length > 0) {
    stdout.write(`Note: requested but not available in this version: ${missing.join(", ")}.\n`);
  }
  return applyPlan(plan, address, context, options);
}

/** Brings a cluster to a plan, showing the progress of every pod. */
export async function applyPlan(
  plan: Plan,
  address: ClusterAddress & { readonly context: string },
  context: CommandContext,
  { yes, withBackup }: ApplyOptions,
): Promise<number> {
  const { env, stdout, stderr } = context;
  const started = performance.now();
  const { clusterName, domain } = plan.settings;
  const target = createKubernetesTarget({ clusterName, address, env, onWait: printWaiting(stderr) });
  const controller = new AbortController();
  let letGo: Applying["release"];
  let release: Release = describeRelease(env);
  try {
    stdout.write(`Deploying ${plan.components.map(({ title }) => title).join(", ")} on the ${target.title}\n`);
    await requireRealm(target, plan);
    const applying = await target.apply(plan, {
      signal: controller.signal,
      beforeChange: async () => {
        await requireNoRotation(target);
        await confirmRemovedServices(target, plan, { context, yes });
        release = await upgradeFirst({ target, cluster: clusterName, release, context, withBackup });
      },
      record: async () => target.releases.write(withRelease(await target.releases.read(), release)),
    });
    letGo = applying.release;
    writeKnownCluster(clusterName, { ...address, domain }, env);
    const outcome = await watchUntilSettled({ target, stdout, finished: applying.finished });
    if (!outcome.settled) {
      stderr.write(outcome.explanation);
      return 1;
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    stdout.write(`\nReady after ${seconds} s: ${outcome.pods} pods are Running or Completed.\n\n`);
    stdout.write(formatTable(listUrls(plan), { indent: "  " }));
    const argument = clusterName === DEFAULT_CLUSTER ? "" : ` ${clusterName}`;
    stdout.write(`\nUsers and passwords: bin/swath credentials${argument}\n${describeNextCommand(plan, argument)}\n`);
    return 0;
  } finally {
    controller.abort();
    await letGo?.();
  }
}

/** Removes the deployment from its cluster; volumes and generated secrets stay. */
export async function deleteOnKubernetes(
  clusterName: string,
  { env, stdout, stderr }: CommandContext,
): Promise<number> {
  const { connection, undeploy, title } = await openDeployment(clusterName, env);
  const { removed, kept, shared } = await undeploy({ connection, clusterName, env, onWait: printWaiting(stderr) });
  stdout.write(
    removed === 0 ? `nothing was deployed on the ${title}\n` : `removed ${removed} objects from the ${title}\n`,
  );
  if (kept.length > 0) {
    stdout.write(
      `volumes and generated secrets are kept in ${kept.join(", ")} (deploy/cluster/clean ${clusterName} removes them)\n`,
    );
  }
  sayShared(shared, stdout);
  return 0;
}

/** Removes what outlives a deletion, while nothing is deployed. */
export async function cleanOnKubernetes(
  clusterName: string,
  { env, stdin, stdout, stderr }: CommandContext,
  yes: boolean,
): Promise<number> {
  const { connection, undeploy, readPlan, title } = await openDeployment(clusterName, env);
  if ((await readPlan(connection, clusterName)) !== undefined) {
    throw new CommandError(
      `"${clusterName}" has a deployment that uses its volumes; remove it first: deploy/swath/swath.sh delete ${clusterName}`,
    );
  }
  await confirmRemoval(
    { stderr, ...(stdin && { stdin }) },
    { yes, removed: [`volumes, generated secrets and namespaces of "${clusterName}" on the ${title}`] },
  );
  const { removed, shared } = await undeploy({
    connection,
    clusterName,
    env,
    everything: true,
    onWait: printWaiting(stderr),
  });
  forgetKnownCluster(clusterName, env);
  stdout.write(
    removed === 0
      ? `nothing was left of "${clusterName}" on the ${title}\n`
      : `removed ${removed} objects from the ${title}: volumes, generated secrets and their namespaces\n`,
  );
  sayShared(shared, stdout);
  return 0;
}

function sayShared(shared: readonly string[], stdout: NodeJS.WriteStream): void {
  if (shared.length > 0) {
    stdout.write(`others use these namespaces too, so they stay: ${shared.join(", ")}\n`);
  }
}

async function openDeployment(clusterName: string, env: NodeJS.ProcessEnv) {
  const [{ resolveContext }, { connect }, { undeploy }, { readPlan }] = await Promise.all([
    import("../../targets/kubernetes/api/resolve-context.ts"),
    import("../../targets/kubernetes/api/connection.ts"),
    import("../../targets/kubernetes/deploy.ts"),
    import("../../targets/kubernetes/state/record.ts"),
  ]);
  const address = await resolveContext(findDeploymentAddress(clusterName, env) ?? {});
  const { title } = createKubernetesTarget({ clusterName, address, env });
  return { connection: await connect(address), undeploy, readPlan, title };
}
