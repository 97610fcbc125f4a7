import { toYaml } from "@swath/kubernetes";

import type { Plan } from "../../../platform/plan.ts";
import { renderPlan } from "./render-plan.ts";

/** The whole deployment as YAML documents, the same bytes for the same plan. */
export function renderTemplate(plan: Plan): string {
  return toYaml(renderPlan(plan));
}
