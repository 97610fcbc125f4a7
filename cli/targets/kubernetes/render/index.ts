import { toPlainYaml, toYaml } from "@swath/kubernetes";

import type { Plan } from "../../../platform/plan.ts";
import { describeTooOld, selectRelease } from "../charts/chart.ts";
import { listCharts } from "../charts/charts.ts";
import { renderExtras } from "../charts/extras.ts";
import { renderPlan } from "./render-plan.ts";
import { minorVersion } from "./versions.ts";

/**
 * The whole deployment as YAML documents, the same bytes for the same plan. What is installed from charts follows as comments:
 * which chart, and the values that it gets.
 */
export function renderTemplate(plan: Plan): string {
  return toYaml(renderPlan(plan)) + renderCharts(plan);
}

function renderCharts({ settings }: Plan): string {
  const minor = minorVersion({ settings });
  const parts = listCharts(settings).map((chart) => {
    const release = selectRelease(chart, minor);
    return release === undefined
      ? `Chart ${chart.name}: ${describeTooOld(chart, minor)} (LOCALCLUSTER_ORCH_VERSION)\n`
      : `Chart ${chart.name} ${release.version} of ${chart.repository}, release ${chart.name} in namespace ${chart.namespace}, with the values:\n${toPlainYaml(chart.values(settings))}`;
  });
  const extras = renderExtras(settings);
  if (extras.length > 0) {
    parts.push(`Once the charts are up, since they bring these kinds:\n${toYaml(extras)}`);
  }
  return parts.map((part) => part.replace(/^(?=.)/gm, "# ").replace(/^$/gm, "#")).join("\n");
}
