import { parseLifecycle, type LifecycleRule } from "../protocol/lifecycle.ts";
import { cutIntoSteps } from "../store/delete-steps.ts";
import { type ListedVersion, listVersions } from "../store/listing.ts";
import { isLocked } from "../store/lock.ts";
import type { Bucket } from "../store/rows.ts";
import type { ObjectStore } from "../store/store.ts";
import { takeTurns } from "../store/turns.ts";

const DAY = 24 * 3600 * 1000;

/** Versions that one query gives, and that are judged before others have their turn: each some milliseconds. */
const PAGE = 500;
const JUDGED = 100;

const EXPIRATION = { kind: "LifecycleExpiration" } as const;

/** Applies the lifecycle rules of all buckets once. Gives back how many versions and uploads it removed. */
export async function applyLifecycle(store: ObjectStore, signal: AbortSignal, day = DAY): Promise<number> {
  let removed = 0;
  for (const bucket of store.buckets.list()) {
    for (const rule of bucket.lifecycle === null ? [] : parseLifecycle(bucket.lifecycle)) {
      removed += await expireVersions(store, bucket, rule, { signal, day });
      removed += await abortUploads(store, bucket, rule, { signal, day });
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
  const isDue = createJudge(store, bucket, rule, day);
  let removed = 0;
  let after = "";
  let afterVersion: string | undefined;
  while (!signal.aborted) {
    const page = await listVersions(store.index, {
      bucket: bucket.id,
      prefix: rule.prefix,
      delimiter: "",
      after,
      afterVersion,
      limit: PAGE,
    });
    const due: ListedEntry[] = [];
    for (const [position, entry] of page.entries.entries()) {
      if (isDue(entry)) {
        due.push(entry);
      }
      if (position % JUDGED === JUDGED - 1) {
        await takeTurns();
      }
    }
    for (const step of cutIntoSteps(due, ({ size }) => size)) {
      await store.index.mutate(() => step.forEach((entry) => expire(store, bucket, entry)));
    }
    removed += due.length;
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

type ListedEntry = ListedVersion & { readonly isLatest: boolean };

/** Whether a version is due by a rule; to be asked about all versions in the order of a listing. */
function createJudge(
  store: ObjectStore,
  bucket: Bucket,
  rule: LifecycleRule,
  day: number,
): (entry: ListedEntry) => boolean {
  const now = store.now();
  // When the newer version of the same key came: from then on the older one counts as noncurrent.
  let newer: { key: string; modified: number } | undefined;
  // Noncurrent versions of that key that are newer than the one looked at.
  let newerNoncurrent = 0;
  return (entry) => {
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
  };
}

/** Removes a version that is due, inside `mutate`. */
function expire(store: ObjectStore, bucket: Bucket, { key, version, isLatest, seq, marker }: ListedEntry): void {
  // The newest may have been overwritten since the page was read.
  const found = store.versions.find(bucket.id, key, version);
  if (found?.seq !== seq || (isLatest && store.versions.findLatest(bucket.id, key)?.seq !== seq)) {
    return;
  }
  const isForGood = !isLatest || marker === 1;
  if (!isForGood || !isLocked(found, store.now())) {
    store.versions.remove(bucket.id, key, isForGood ? version : undefined, undefined, EXPIRATION);
  }
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
  const requested = Object.entries(rule.tags);
  if (requested.length === 0) {
    return true;
  }
  const tags = JSON.parse(store.versions.find(bucket.id, key, version)?.tags ?? "{}") as Record<string, string>;
  return requested.every(([name, value]) => tags[name] === value);
}

async function abortUploads(
  store: ObjectStore,
  bucket: Bucket,
  rule: LifecycleRule,
  { signal, day }: { readonly signal: AbortSignal; readonly day: number },
): Promise<number> {
  const { abortUploadDays: days } = rule;
  let aborted = 0;
  let after = "";
  let afterId: string | undefined;
  while (days !== undefined && !signal.aborted) {
    const { entries, truncated } = store.uploads.list({
      bucket: bucket.id,
      prefix: rule.prefix,
      delimiter: "",
      after,
      afterId,
      limit: PAGE,
    });
    for (const { key, id, initiated } of entries) {
      if (store.now() >= initiated + days * day) {
        await store.uploads.abort(bucket.id, key, id);
        aborted += 1;
      }
    }
    const last = entries.at(-1);
    if (!truncated || last === undefined) {
      break;
    }
    [after, afterId] = [last.key, last.id];
    await takeTurns();
  }
  return aborted;
}
