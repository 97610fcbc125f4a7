import { type KubernetesObject, toPlainYaml, toYaml } from "@swath/kubernetes";

import type { Plan } from "../../../platform/plan.ts";
import { describeTooOld, selectRelease } from "../charts/chart.ts";
import { listCharts } from "../charts/charts.ts";
import { renderExtras } from "../charts/extras.ts";
import { makeSecrets } from "../state/generated-secrets.ts";
import { RECORD_NAMESPACE } from "../state/names.ts";
import { commonLabels, keys } from "./labels.ts";
import { type Layout, renderLayout } from "./layout.ts";
import { renderNamespace, renderPlan } from "./render-plan.ts";
import type { SecretsMode } from "./secrets-mode.ts";
import { minorVersion } from "./versions.ts";

/**
 * The whole deployment as YAML documents, the same bytes for the same plan. What is installed from charts follows as comments:
 * which chart, and the values that it gets.
 */
export function renderTemplate(
  plan: Plan,
  secrets: SecretsMode = "described",
  seal = (object: KubernetesObject): KubernetesObject => object,
): string {
  const objects = renderPlan(plan);
  switch (secrets) {
    case "described":
      return toYaml(objects.map(seal)) + renderCharts(plan);
    case "none":
      return toYaml(objects.filter((object) => !isSecret(object))) + describeSecrets(objects) + renderCharts(plan);
    case "only":
      return toYaml([
        ...objects.filter(({ kind }) => kind === "Namespace"),
        renderNamespace(plan, RECORD_NAMESPACE),
        ...makeSecrets(objects.filter(isSecret), commonLabels(plan.settings)),
      ]);
  }
}

/** The deployment as a tree of files; see `layout.ts`. */
export function renderTree(
  plan: Plan,
  layout: Layout,
  { version, seal }: { version: string; seal: ((object: KubernetesObject) => KubernetesObject) | undefined },
): ReadonlyMap<string, string> {
  const objects = renderPlan(plan);
  const kept = seal === undefined ? objects.filter((object) => !isSecret(object)) : objects.map(seal);
  const notes = (seal === undefined ? describeSecrets(objects) : "") + renderCharts(plan);
  return renderLayout(layout, kept, { name: plan.settings.clusterName, version, notes });
}

const isSecret = ({ kind }: KubernetesObject): boolean => kind === "Secret";

/** Names and keys of the Secrets that have to be there, as comments. */
function describeSecrets(objects: readonly KubernetesObject[]): string {
  const lines = objects.filter(isSecret).map(({ metadata, ...secret }) => {
    const made = JSON.parse(metadata.annotations?.[keys.generate] ?? "{}") as object;
    // What is joined with others is no key that a pod reads.
    const provided = Object.keys(secret["data"] ?? {}).filter((key) => !/\.\d+$/.test(key));
    return `#   ${metadata.namespace}/${metadata.name}: ${[...provided, ...Object.keys(made)].toSorted().join(", ")}\n`;
  });
  return lines.length === 0
    ? ""
    : `# Secrets that the pods read, with their keys (template --secrets only makes them):\n${lines.join("")}`;
}

function renderCharts({ settings }: Plan): string {
  const minor = minorVersion({ settings });
  const parts = listCharts(settings).map((chart) => {
    const release = selectRelease(chart, minor);
    return release === undefined
      ? `Chart ${chart.name}: ${describeTooOld(chart, minor)} (--for, LOCALCLUSTER_ORCH_VERSION)\n`
      : `Chart ${chart.name} ${release.version} of ${chart.repository}, release ${chart.name} in namespace ${chart.namespace}, with the values:\n${toPlainYaml(chart.values(settings))}`;
  });
  const extras = renderExtras(settings);
  if (extras.length > 0) {
    parts.push(`Once the charts are up, since they bring these kinds:\n${toYaml(extras)}`);
  }
  return parts.map((part) => part.replace(/^(?=.)/gm, "# ").replace(/^$/gm, "#")).join("\n");
}
