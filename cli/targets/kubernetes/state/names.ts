import { keys } from "../render/labels.ts";

/** Namespace of what the deployment tool itself remembers: the plan, the versions that were applied, and generated secrets. */
export const RECORD_NAMESPACE = "swath";
export const PLAN_SECRET = "swath-plan";
export const RELEASES_SECRET = "swath-releases";
export const GENERATED_SECRET = "swath-generated-secrets";

/** Everything that belongs to a deployment, whoever made it. */
export function selectDeployment(clusterName: string): string {
  return `${keys.deployment}=${clusterName}`;
}

/** What the deployment tool made; services label what they make with another manager. */
export function selectApplied(clusterName: string): string {
  return `${selectDeployment(clusterName)},app.kubernetes.io/managed-by=swath`;
}
