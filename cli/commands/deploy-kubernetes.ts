import { components } from "../platform/components.ts";
import { listMissingComponents } from "../platform/missing-components.ts";
import { createPlan } from "../platform/plan.ts";
import type { Config } from "../config/config.ts";
import { holdApply } from "../targets/embedded/hold-apply.ts";
import { findDeploymentAddress, findVariablesAddress } from "../targets/kubernetes/find-address.ts";
import { forgetKnownCluster, writeKnownCluster } from "../targets/kubernetes/known-clusters.ts";
import { createKubernetesTarget } from "../targets/kubernetes/kubernetes-target.ts";
import { formatTable } from "../view/table.ts";
import { watchUntilSettled } from "../view/watch-until-settled.ts";
import { CommandError, type CommandContext } from "./command.ts";
import { DEFAULT_CLUSTER } from "./open-target.ts";
import { requireRealm } from "./require-realm.ts";
import { listUrls } from "./urls.ts";

/** Makes the deployment on the cluster that the variables mean. */
export async function applyOnKubernetes(config: Config, { env, stdout, stderr }: CommandContext): Promise<number> {
  const started = performance.now();
  const { clusterName } = config;
  const plan = createPlan(config, components);
  const { resolveContext } = await import("../targets/kubernetes/api/resolve-context.ts");
  const address = resolveContext(findVariablesAddress(clusterName, env) ?? {});
  const target = createKubernetesTarget({ clusterName, address, env });
  const release = await holdApply(`kubernetes/${address.context}`, () =>
    stderr.write(`another apply on the ${target.title} is at work; waiting for it to end ...\n`),
  );
  const controller = new AbortController();
  try {
    stdout.write(`Deploying ${plan.components.map(({ title }) => title).join(", ")} on the ${target.title}\n`);
    const missing = listMissingComponents(config, components);
    if (missing.length > 0) {
      stdout.write(`Note: asked for, but not part of this version yet: ${missing.join(", ")}.\n`);
    }
    await requireRealm(target, plan);
    const { finished } = await target.apply(plan, controller.signal);
    writeKnownCluster(clusterName, { ...address, domain: config.domain }, env);
    const outcome = await watchUntilSettled({ target, stdout, finished });
    if (!outcome.settled) {
      stderr.write(outcome.explanation);
      return 1;
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    stdout.write(`\nReady after ${seconds} s: ${outcome.pods} pods are Running or Completed.\n\n`);
    stdout.write(formatTable(listUrls(plan), { indent: "  " }));
    stdout.write(
      `\nUsers and passwords: bin/swath credentials${clusterName === DEFAULT_CLUSTER ? "" : ` ${clusterName}`}\n`,
    );
    return 0;
  } finally {
    controller.abort();
    release();
  }
}

/** Removes the deployment from its cluster; volumes and generated secrets stay. */
export async function deleteOnKubernetes(clusterName: string, { env, stdout }: CommandContext): Promise<number> {
  const { connection, undeploy, title } = await openDeployment(clusterName, env);
  const { removed, kept, shared } = await undeploy({ connection, clusterName, env });
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
export async function cleanOnKubernetes(clusterName: string, { env, stdout }: CommandContext): Promise<number> {
  const { connection, undeploy, readPlan, title } = await openDeployment(clusterName, env);
  if ((await readPlan(connection, clusterName)) !== undefined) {
    throw new CommandError(
      `"${clusterName}" has a deployment that uses its volumes; remove it first: deploy/swath/swath.sh delete ${clusterName}`,
    );
  }
  const { removed, shared } = await undeploy({ connection, clusterName, env, everything: true });
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
    import("../targets/kubernetes/api/resolve-context.ts"),
    import("../targets/kubernetes/api/connection.ts"),
    import("../targets/kubernetes/deploy.ts"),
    import("../targets/kubernetes/state/record.ts"),
  ]);
  const address = resolveContext(findDeploymentAddress(clusterName, env) ?? {});
  const { title } = createKubernetesTarget({ clusterName, address, env });
  return { connection: connect(address), undeploy, readPlan, title };
}
