import type { Bucket, Version } from "../store/rows.ts";
import { type LifecycleRule, parseLifecycle } from "./lifecycle.ts";

const DAY = 24 * 3600 * 1000;
const known = new WeakMap<Bucket, readonly LifecycleRule[]>();

/** Enabled rules of a bucket, parsed once as long as its row is remembered. */
function rulesOf(bucket: Bucket): readonly LifecycleRule[] {
  let rules = known.get(bucket);
  if (rules === undefined) {
    rules = bucket.lifecycle === null ? [] : parseLifecycle(bucket.lifecycle);
    known.set(bucket, rules);
  }
  return rules;
}

/** The header `x-amz-expiration` of an object: when the first rule that fits lets it go; undefined when none does. */
export function toExpirationHeader(bucket: Bucket, version: Version): string | undefined {
  if (bucket.lifecycle === null) {
    return undefined;
  }
  const tags = (version.tags === null ? {} : JSON.parse(version.tags)) as Record<string, string>;
  let first: { readonly at: number; readonly id: string } | undefined;
  for (const rule of rulesOf(bucket)) {
    const fits =
      version.key.startsWith(rule.prefix) &&
      version.size > rule.largerThan &&
      version.size < rule.smallerThan &&
      Object.entries(rule.tags).every(([name, value]) => tags[name] === value);
    // Days end at midnight.
    const at =
      rule.expireDays === undefined ? rule.expireAt : Math.ceil((version.modified + rule.expireDays * DAY) / DAY) * DAY;
    if (fits && at !== undefined && (first === undefined || at < first.at)) {
      first = { at, id: rule.id };
    }
  }
  return first && `expiry-date="${new Date(first.at).toUTCString()}", rule-id="${encodeURIComponent(first.id)}"`;
}
