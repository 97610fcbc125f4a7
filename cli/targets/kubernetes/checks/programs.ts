import { describeTooOld, selectRelease } from "../charts/chart.ts";
import { listCharts } from "../charts/charts.ts";
import { isInstalled } from "../charts/helm.ts";
import type { Check } from "./check.ts";

/** Charts need helm, and a cluster that they support. */
export const checkPrograms: Check = async ({ plan, env, minor }) => {
  const charts = listCharts(plan.settings);
  const tooOld = charts.filter((chart) => selectRelease(chart, minor) === undefined);
  const problems = tooOld.map((chart) => describeTooOld(chart, minor));
  if (charts.length > 0 && !isInstalled("helm", env)) {
    problems.push(
      `helm is not installed, and this deployment installs charts with it: ${charts.map(({ title }) => title).join(", ")}. Install helm 3, or use what the cluster has: ${charts.map(({ alternative }) => alternative).join(" ")}`,
    );
  }
  return problems;
};
