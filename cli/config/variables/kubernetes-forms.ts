import { text } from "../value-types.ts";

export const NAME = "[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?";
const KEY = "(?:[a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9](?:[-\\w.]*[A-Za-z0-9])?";
const VALUE = "(?:[A-Za-z0-9](?:[-\\w.]*[A-Za-z0-9])?)?";
const EFFECT = "NoSchedule|PreferNoSchedule|NoExecute";

/** One or more of a form, separated by commas. */
export const listOf = (item: string): RegExp => new RegExp(`^(?:${item})(?:,(?:${item}))*$`);

/** @param kind "a priority class" */
export const objectName = (kind: string) => text({ pattern: new RegExp(`^${NAME}$`), allowed: `the name of ${kind}` });

/** Labels that nodes must have. */
export const labels = text({ pattern: listOf(`${KEY}=${VALUE}`), allowed: "labels like disk=ssd,zone=a" });

/** Taints that pods tolerate: KEY[=VALUE][:EFFECT]. */
export const taints = text({
  pattern: listOf(`${KEY}(?:=${VALUE})?(?::(?:${EFFECT}))?`),
  allowed: "taints like dedicated=eo:NoSchedule, separated by commas",
});
