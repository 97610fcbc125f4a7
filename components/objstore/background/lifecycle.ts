import { parseLifecycle, type LifecycleRule } from "../protocol/lifecycle.ts";
import { listVersions } from "../store/listing.ts";
import { isLocked } from "../store/lock.ts";
import type { Bucket } from "../store/rows.ts";
import type { ObjectStore } from "../store/store.ts";

const DAY = 24 * 3600 * 1000;

const EXPIRATION = { kind: "LifecycleExpiration" } as const;

/** Applies the lifecycle rules of all buckets once. Gives back how many versions and uploads it removed. */
export async function applyLifecycle(store: ObjectStore, signal: AbortSignal, day = DAY): Promise<number> {
  let removed = 0;
  for (const bucket of store.buckets.list()) {
    for (const rule of bucket.lifecycle === null ? [] : parseLifecycle(bucket.lifecycle)) {
      removed += await expireVersions(store, bucket, rule, { signal, day });
      removed += await abortUploads(store, bucket, rule, day);
    }
  }
  store.garbage.nudge();
  return removed;
}

async function expireVersions(
  store: ObjectStore,
  bucket: Bucket,
  rule: LifecycleRule,
  { signal, day }: { readonly signal: AbortSignal; readonly day: number },
): Promise<number> {
  const now = store.now();
  let removed = 0;
  let after = "";
  let afterVersion: string | undefined;
  // When the newer version of the same key came: from then on the older one counts as noncurrent.
  let newer: { key: string; modified: number } | undefined;
  // Noncurrent versions of that key that are newer than the one looked at.
  let newerNoncurrent = 0;
  while (!signal.aborted) {
    const page = await listVersions(store.index, {
      bucket: bucket.id,
      prefix: rule.prefix,
      delimiter: "",
      after,
      afterVersion,
      limit: 500,
    });
    const due = page.entries.filter((entry) => {
      const replaced = newer?.key === entry.key ? newer.modified : undefined;
      newerNoncurrent = replaced === undefined || entry.isLatest ? 0 : newerNoncurrent + 1;
      newer = entry;
      if (!isChosen(store, bucket, rule, entry)) {
        return false;
      }
      if (entry.isLatest && entry.marker === 1) {
        const days = rule.expireDays;
        const isDue = rule.lonelyMarkers || (days !== undefined && now >= entry.modified + days * day);
        return isDue && isAlone(store, bucket, entry);
      }
      if (entry.isLatest) {
        const byDate = rule.expireAt !== undefined && now >= rule.expireAt;
        return byDate || (rule.expireDays !== undefined && now >= entry.modified + rule.expireDays * day);
      }
      return (
        rule.noncurrentDays !== undefined &&
        replaced !== undefined &&
        newerNoncurrent > rule.noncurrentKept &&
        now >= replaced + rule.noncurrentDays * day
      );
    });
    if (due.length > 0) {
      await store.index.mutate(() => {
        for (const { key, version, isLatest, seq, marker } of due) {
          // The newest may have been overwritten since the page was read.
          const found = store.versions.find(bucket.id, key, version);
          if (found?.seq !== seq || (isLatest && store.versions.findLatest(bucket.id, key)?.seq !== seq)) {
            continue;
          }
          const isForGood = !isLatest || marker === 1;
          if (!isForGood || !isLocked(found, now)) {
            store.versions.remove(bucket.id, key, isForGood ? version : undefined, undefined, EXPIRATION);
          }
        }
      });
      removed += due.length;
    }
    const last = page.entries.at(-1);
    if (!page.truncated || last === undefined) {
      break;
    }
    after = last.key;
    // A version that was just removed cannot be gone on from; the rest of its key is seen at the next run.
    afterVersion = due.includes(last) ? undefined : last.version;
  }
  return removed;
}

/** Whether a delete marker is all that is left of its key. */
function isAlone(store: ObjectStore, bucket: Bucket, { key, seq }: { key: string; seq: number }): boolean {
  const older = store.index.get(
    "select 1 from versions where bucket = ? and key = ? and seq < ? limit 1",
    bucket.id,
    key,
    seq,
  );
  return older === undefined;
}

/** Whether a version has the size and the tags that a rule asks for. */
function isChosen(
  store: ObjectStore,
  bucket: Bucket,
  rule: LifecycleRule,
  { key, version, size, marker }: { key: string; version: string; size: number; marker: 0 | 1 },
): boolean {
  const sized = rule.largerThan >= 0 || rule.smallerThan < Infinity;
  if (sized && (marker === 1 || size <= rule.largerThan || size >= rule.smallerThan)) {
    return false;
  }
  const wanted = Object.entries(rule.tags);
  if (wanted.length === 0) {
    return true;
  }
  const tags = JSON.parse(store.versions.find(bucket.id, key, version)?.tags ?? "{}") as Record<string, string>;
  return wanted.every(([name, value]) => tags[name] === value);
}

async function abortUploads(store: ObjectStore, bucket: Bucket, rule: LifecycleRule, day: number): Promise<number> {
  const { abortUploadDays: days } = rule;
  if (days === undefined) {
    return 0;
  }
  const { entries } = store.uploads.list({
    bucket: bucket.id,
    prefix: rule.prefix,
    delimiter: "",
    after: "",
    limit: 1000,
  });
  const due = entries.filter(({ initiated }) => store.now() >= initiated + days * day);
  for (const { key, id } of due) {
    await store.uploads.abort(bucket.id, key, id);
  }
  return due.length;
}
