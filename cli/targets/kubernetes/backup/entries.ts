/** Entries of a backup that hold what the cluster keeps of a deployment. */
export const PLAN_ENTRY = "cluster/kubernetes/plan.json";
export const SECRETS_ENTRY = "cluster/kubernetes/secrets.json";
