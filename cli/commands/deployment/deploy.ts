import { join } from "node:path";

import { WebBuildError } from "@swath/ui/build";

import packageJson from "../../../package.json" with { type: "json" };

import { type Plan, createPlan } from "../../platform/plan.ts";
import { components } from "../../platform/components.ts";
import { listMissingComponents } from "../../platform/missing-components.ts";
import { type DeployArguments, deployUsage, parseArguments } from "../../config/arguments.ts";
import { formatMistake, formatWarning } from "../../config/report.ts";
import type { Resolution } from "../../config/resolve.ts";
import { examineFirst } from "../../doctor/examine.ts";
import type { DoctorContext, Finding } from "../../doctor/finding.ts";
import { createEmbeddedTarget } from "../../targets/embedded/embedded-target.ts";
import { PortError } from "../../targets/embedded/choose-ports.ts";
import { type PreparedCluster, prepareCluster } from "../../targets/embedded/prepare-cluster.ts";
import { stateRoot } from "../../targets/embedded/state/paths.ts";
import { prepareDirectories } from "../../targets/embedded/state/prepare-directories.ts";
import { writeClusterSettings } from "../../targets/embedded/state/cluster-settings.ts";
import { acquireApplyLock } from "../../targets/embedded/acquire-apply-lock.ts";
import { findVariablesAddress } from "../../targets/kubernetes/find-address.ts";
import { describeRelease, withRelease } from "../../releases/releases.ts";
import { watchUntilSettled } from "../../view/watch-until-settled.ts";
import { CommandError, type Command, type CommandContext } from "../command.ts";
import { type ApplyOptions, applyOnKubernetes, deleteOnKubernetes } from "./deploy-kubernetes.ts";
import { formatCredentials, readCredentials } from "../operation/credentials.ts";
import { DEFAULT_CLUSTER } from "../../targets/open-target.ts";
import { type TemplateOptions, takeTemplateOptions } from "./template-options.ts";
import { writeLayout } from "./write-layout.ts";
import { checkPublicAddress } from "./check-public-address.ts";
import { confirmRemovedServices } from "./confirm-removed-services.ts";
import { takeYes } from "../confirm.ts";
import { waitForCertificates } from "./wait-for-certificates.ts";
import { NO_BACKUP, upgradeFirst } from "./upgrade-first.ts";
import { requireNoRotation } from "./rotate-credentials.ts";
import { requireRealm } from "./require-realm.ts";
import { describeNextCommand } from "../next-steps.ts";
import { listUrls } from "../operation/urls.ts";
import { formatTable } from "../../view/table.ts";
import { buildWebPages } from "../../web-pages.ts";

export const deployCommand: Command = {
  name: "deploy",
  summary: "make, remove or print the deployment",
  usage: deployUsage,
  run: async ({ args, env: variables, stdin, stdout, stderr }) => {
    const { yes, rest: others } = takeYes(args);
    const words = others.filter((word) => word !== NO_BACKUP);
    const { version, rest: positionals, ...template } = takeTemplateOptions(words);
    const [action, clusterName, arg3, arg4, ...rest] = positionals;
    if (rest.length > 0) {
      throw new CommandError(`too many arguments: ${rest.join(" ")}\n${deployUsage}`);
    }
    const provided = version === undefined ? variables : { ...variables, LOCALCLUSTER_ORCH_VERSION: version };
    const deployArguments = { action, clusterName, ...placeFromEnvironment(arg3, arg4, provided) };
    const parsed = parseArguments(deployArguments);
    const onKubernetes = findVariablesAddress(parsed.clusterName, provided) !== undefined;
    const env =
      onKubernetes && parsed.action === "apply" && parsed.mistakes.length === 0
        ? await startLocalCluster(deployArguments, provided, stdout)
        : provided;
    const isBound = parsed.action === "apply" && !onKubernetes;
    const prepared = await prepare(parsed.clusterName, deployArguments, env, isBound);
    // What is removed is what was deployed, whatever the variables are now.
    report(parsed.action === "delete" ? { ...prepared.resolution, warnings: [] } : prepared.resolution, stderr);
    const context = { env, stdout, stderr, args, ...(stdin && { stdin }) };
    const options = { yes, withBackup: !args.includes(NO_BACKUP) };
    switch (parsed.action) {
      case "template":
        return printTemplate(prepared, context, template);
      case "delete":
        return onKubernetes
          ? deleteOnKubernetes(parsed.clusterName, context)
          : deleteDeployment(parsed.clusterName, context);
      case "apply":
        return onKubernetes
          ? applyOnKubernetes(prepared.resolution.config, context, options)
          : apply(prepared, context, options);
    }
  },
};

/** Domain and address that were not typed can be in the environment variables `domain` and `public_ip`, as with the known scripts. */
function placeFromEnvironment(
  arg3: string | undefined,
  arg4: string | undefined,
  env: NodeJS.ProcessEnv,
): Pick<DeployArguments, "arg3" | "arg4"> {
  const isTyped = [arg3, arg4].some((argument) => argument !== undefined && argument !== "");
  return isTyped ? { arg3, arg4 } : { arg3: env["domain"], arg4: env["public_ip"] };
}

async function startLocalCluster(
  args: DeployArguments,
  env: NodeJS.ProcessEnv,
  stdout: NodeJS.WriteStream,
): Promise<NodeJS.ProcessEnv> {
  const { ensureLocalCluster } = await import("../../targets/kubernetes/minikube/ensure-local-cluster.ts");
  return ensureLocalCluster({ args, env, print: (line) => stdout.write(`${line}\n`) });
}

async function prepare(
  clusterName: string,
  args: Parameters<typeof prepareCluster>[0]["args"],
  env: NodeJS.ProcessEnv,
  bindPorts: boolean,
): Promise<PreparedCluster> {
  try {
    return await prepareCluster({ args, env, clusterName, bindPorts });
  } catch (error) {
    throw error instanceof PortError ? new CommandError(error.message) : error;
  }
}

/** Warnings are printed; mistakes end the command, all of them at once. */
function report({ warnings, mistakes }: Resolution, stderr: NodeJS.WriteStream): void {
  for (const warning of warnings) {
    stderr.write(`WARNING: ${formatWarning(warning)}\n`);
  }
  if (mistakes.length > 0) {
    const lines = mistakes.map((mistake) => `ERROR: ${formatMistake(mistake)}`);
    const usage = mistakes.some((mistake) => mistake.usage || mistake.subject === "action") ? `\n${deployUsage}` : "";
    throw new CommandError(`nothing was changed, because the configuration has mistakes:\n${lines.join("\n")}${usage}`);
  }
}

async function printTemplate(
  { resolution: { config } }: PreparedCluster,
  { env, stdout, stderr }: CommandContext,
  { secrets, sealed, tree }: Pick<TemplateOptions, "secrets" | "sealed" | "tree">,
): Promise<number> {
  const { renderTemplate, renderTree } = await import("../../targets/kubernetes/render/index.ts");
  const plan = createPlan(config, components);
  const sealing =
    sealed === undefined
      ? undefined
      : (await import("../../targets/kubernetes/sealing.ts")).createSealing(
          sealed,
          join(stateRoot(env), "sealed", `${config.clusterName}.json`),
        );
  if (tree === undefined) {
    stdout.write(renderTemplate(plan, secrets, sealing?.seal));
  } else {
    const files = renderTree(plan, tree.layout, { version: packageJson.version, seal: sealing?.seal });
    writeLayout(tree.folder, tree.layout, files);
    stdout.write(`${files.size} files in ${tree.folder}; docs/how-to/kubernetes.md says how a cluster follows them\n`);
  }
  if (sealing !== undefined) {
    stderr.write(`Generated secrets are kept in ${sealing.keptIn}, so that the next template has the same ones.\n`);
  }
  return 0;
}

async function apply(
  prepared: PreparedCluster,
  context: CommandContext,
  { yes, withBackup }: ApplyOptions,
): Promise<number> {
  const { env, stdout, stderr } = context;
  const started = performance.now();
  const {
    resolution: { config },
    cluster,
    paths,
    notes,
  } = prepared;
  const plan = createPlan(config, components);
  await runPreflight({ env, prepared, plan }, stderr);
  await warnOfNames(prepared, stderr);
  const target = createEmbeddedTarget(cluster.name, env);
  const release = await upgradeFirst({
    target,
    cluster: cluster.name,
    release: describeRelease(env),
    context,
    withBackup,
  });
  const letGo = await acquireApplyLock(paths.id, () =>
    stderr.write(`another apply of cluster "${cluster.name}" is at work; waiting for it to end ...\n`),
  );
  try {
    await requireRealm(target, plan);
    await requireNoRotation(target);
    await confirmRemovedServices(target, plan, { context, yes });
    stdout.write(`Deploying ${plan.components.map(({ title }) => title).join(", ")} on the ${target.title}\n`);
    const missing = listMissingComponents(config, components);
    if (missing.length > 0) {
      stdout.write(`Note: requested but not available in this version: ${missing.join(", ")}.\n`);
    }
    for (const note of notes) {
      stdout.write(`Note: ${note}\n`);
    }
    await buildPages(plan, stdout, config.onLoopback);
    prepareDirectories(paths);
    writeClusterSettings(paths, cluster);
    await target.releases.write(withRelease(await target.releases.read(), release));
    const { finished } = await target.apply(plan);
    const outcome = await watchUntilSettled({ target, stdout, finished });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    if (!outcome.settled) {
      stderr.write(outcome.explanation);
      return 1;
    }
    const unsigned = await waitForCertificates(target, stdout);
    const unreachable = config.onLoopback ? undefined : await checkPublicAddress(target, plan);
    stdout.write(`\nReady after ${seconds} s: ${outcome.pods} pods are Running or Completed.\n\n`);
    stdout.write(formatTable(listUrls(plan), { indent: "  " }));
    if (unreachable !== undefined) {
      stderr.write(`\nWARNING: ${unreachable}\n`);
    }
    if (unsigned !== undefined) {
      stderr.write(`\nWARNING: ${unsigned}\n`);
    }
    const credentials = await readCredentials(target, plan);
    // Shown to a person; what is not a terminal may be a log.
    if (stdout.isTTY && credentials.length > 0) {
      stdout.write(`\n${formatCredentials(credentials, "  ")}`);
    }
    stdout.write(formatNextSteps(cluster, plan));
    return 0;
  } finally {
    letGo();
  }
}

/**
 * Says what will not work in this deployment, and the command that mends it.
 * @throws {CommandError} with all that keeps the platform from working on this machine
 */
async function runPreflight(context: DoctorContext, stderr: NodeJS.WriteStream): Promise<void> {
  const { obstacles, limits } = await examineFirst(context);
  if (obstacles.length > 0) {
    const lines = obstacles.map((finding) => formatFinding("ERROR", finding)).join("\n");
    throw new CommandError(`nothing was changed (bin/swath doctor shows everything):\n${lines}`);
  }
  for (const finding of limits) {
    stderr.write(`${formatFinding("WARNING", finding)}\n`);
  }
}

function formatFinding(severity: string, { subject, found, meaning, advice }: Finding): string {
  return [
    `${severity}: ${subject}: ${found}`,
    ...(meaning === undefined ? [] : [`  ${meaning}`]),
    ...(advice === undefined ? [] : [`  -> ${advice}`]),
  ].join("\n");
}

/** Said before anything is changed: names that lead elsewhere are no reason to refuse, for a record may come later. */
async function warnOfNames(prepared: PreparedCluster, stderr: NodeJS.WriteStream): Promise<void> {
  if (prepared.resolution.config.onLoopback) {
    return;
  }
  const { checkNames } = await import("../../doctor/checks/public.ts");
  for (const { verdict, found, meaning, advice } of await checkNames({ prepared })) {
    if (verdict !== "good") {
      stderr.write(`WARNING: ${found}. ${meaning ?? ""} ${advice ?? ""}\n`);
    }
  }
}

/** Pages are there before the services that serve them start. */
async function buildPages(plan: Plan, stdout: NodeJS.WriteStream, onLoopback: boolean): Promise<void> {
  const components = [...new Set(plan.workloads.map(({ component }) => component))];
  try {
    // On this machine itself nothing is won by sending less.
    await buildWebPages({ components, stdout, ...(!onLoopback && { compression: "fast" }) });
  } catch (error) {
    throw error instanceof WebBuildError ? new CommandError(`\n${error.message}`) : error;
  }
}

function formatNextSteps({ name, domain }: PreparedCluster["cluster"], plan: Plan): string {
  const argument = name === DEFAULT_CLUSTER ? "" : ` ${name}`;
  const isLocal = domain.endsWith(".localhost");
  return (
    `\nUsers and passwords: bin/swath credentials${argument}\n` +
    `After a restart of this machine: bin/swath start${argument} (bin/swath service install${argument}: by itself)\n` +
    (isLocal
      ? `Browsers and curl find *.${domain} by themselves; for other programs: bin/swath hosts --write${argument}\n`
      : "") +
    `${describeNextCommand(plan, argument)}\n`
  );
}

async function deleteDeployment(name: string, { env, stdout }: CommandContext): Promise<number> {
  const target = createEmbeddedTarget(name, env);
  const pods = await target.listPods();
  await target.delete();
  stdout.write(
    pods.length === 0
      ? `nothing was deployed on the ${target.title}\n`
      : `removed ${pods.length} pods from the ${target.title}; volumes are kept (deploy/cluster/clean removes them)\n`,
  );
  return 0;
}
