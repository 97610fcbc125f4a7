import * as s3 from "@aws-sdk/client-s3";

import { type Ends, type SourceVersion, copyVersion } from "./copy-version.ts";
import { copySettings, isUnsupported, makeBucket } from "./settings.ts";

export interface MigrationReport {
  readonly copied: number;
  /** Versions that were at the target already. */
  readonly there: number;
  readonly problems: readonly string[];
}

interface MigrateOptions extends Ends {
  readonly region: string;
  /** Keys that are copied at once. */
  readonly concurrency: number;
}

/**
 * Copies a bucket: every version of every key, oldest first, then its settings. What the target has already is compared and not
 * copied again, so that a run that was interrupted goes on with the next.
 */
export async function migrateBucket(bucket: string, options: MigrateOptions): Promise<MigrationReport> {
  const { source, region, concurrency } = options;
  try {
    await makeBucket(bucket, region, options);
  } catch (error) {
    // The other buckets can be copied all the same.
    const why = error instanceof Error ? error.message : String(error);
    return { copied: 0, there: 0, problems: [`the bucket cannot be made at the target: ${why}`] };
  }
  let copied = 0;
  let there = 0;
  const problems: string[] = [];
  const running = new Set<Promise<void>>();
  for await (const [key, versions] of listKeys(bucket, source)) {
    const work = migrateKey(bucket, key, versions, options)
      .then((counts) => {
        copied += counts.copied;
        there += counts.there;
      })
      .catch((error: unknown) => {
        problems.push(`${key}: ${error instanceof Error ? error.message : String(error)}`);
      })
      .finally(() => running.delete(work));
    running.add(work);
    if (running.size >= concurrency) {
      await Promise.race(running);
    }
  }
  await Promise.all(running);
  problems.push(...(await copySettings(bucket, options)));
  return { copied, there, problems };
}

async function migrateKey(
  bucket: string,
  key: string,
  versions: readonly SourceVersion[],
  ends: Ends,
): Promise<{ readonly copied: number; readonly there: number }> {
  const known = await listVersionsOf(bucket, key, ends.target);
  // Without versions the target has the newest at most, and that is replaced where it is another.
  const isVersioned = versions.length > 1 || versions[0]?.id !== "null" || versions[0].isMarker;
  const there = countSame(known, versions);
  if (there < known.length && isVersioned) {
    throw new Error("the target has other versions of this key; it was changed there since, or by somebody else");
  }
  const missing = versions.slice(there);
  for (const version of missing) {
    await copyVersion(bucket, key, version, ends);
  }
  return { copied: missing.length, there };
}

/**
 * How many of the oldest versions are the same on both sides. Delete markers are counted and not placed: services that tell times by
 * the second do not say which came first.
 */
function countSame(known: readonly SourceVersion[], versions: readonly SourceVersion[]): number {
  const oldest = versions.slice(0, known.length);
  const toText = (list: readonly SourceVersion[]) =>
    list.flatMap(({ isMarker, etag, size }) => (isMarker ? [] : `${etag} ${size}`)).join();
  return oldest.length === known.length && toText(oldest) === toText(known) ? known.length : 0;
}

async function listVersionsOf(bucket: string, key: string, client: s3.S3Client): Promise<readonly SourceVersion[]> {
  try {
    for await (const [name, versions] of listKeys(bucket, client, key)) {
      if (name === key) {
        return versions;
      }
      break;
    }
    return [];
  } catch (error) {
    if (isUnsupported(error)) {
      return findNewest(bucket, key, client);
    }
    throw error;
  }
}

/** The one version that a service without versions has. */
async function findNewest(Bucket: string, Key: string, client: s3.S3Client): Promise<readonly SourceVersion[]> {
  try {
    const { ETag = "", ContentLength = 0 } = await client.send(new s3.HeadObjectCommand({ Bucket, Key }));
    return [{ id: "null", isMarker: false, etag: ETag, size: ContentLength }];
  } catch (error) {
    if (error instanceof Error && error.name === "NotFound") {
      return [];
    }
    throw error;
  }
}

/** Keys in order with their versions, oldest first. */
async function* listKeys(
  Bucket: string,
  client: s3.S3Client,
  Prefix?: string,
): AsyncGenerator<readonly [key: string, versions: readonly SourceVersion[]]> {
  let key: string | undefined;
  let newestFirst: SourceVersion[] = [];
  for (let KeyMarker: string | undefined, VersionIdMarker: string | undefined; ;) {
    const page = await client.send(new s3.ListObjectVersionsCommand({ Bucket, Prefix, KeyMarker, VersionIdMarker }));
    for (const entry of inOrder(page)) {
      if (entry.key !== key) {
        if (key !== undefined) {
          yield [key, newestFirst.toReversed()];
        }
        key = entry.key;
        newestFirst = [];
      }
      newestFirst.push(entry.version);
    }
    if (page.IsTruncated !== true) {
      break;
    }
    ({ NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page);
  }
  if (key !== undefined) {
    yield [key, newestFirst.toReversed()];
  }
}

interface Entry {
  readonly key: string;
  readonly time: number;
  readonly isLatest: boolean;
  readonly version: SourceVersion;
}

/** The SDK gives versions and delete markers apart: joined again by key, the newest of each first. */
function inOrder({ Versions = [], DeleteMarkers = [] }: s3.ListObjectVersionsCommandOutput): readonly Entry[] {
  const toEntry = (each: s3.ObjectVersion | s3.DeleteMarkerEntry, isMarker: boolean): Entry => ({
    key: each.Key ?? "",
    time: each.LastModified?.getTime() ?? 0,
    isLatest: each.IsLatest === true,
    version: {
      id: each.VersionId ?? "null",
      isMarker,
      etag: "ETag" in each ? (each.ETag ?? "") : "",
      size: "Size" in each ? (each.Size ?? 0) : 0,
    },
  });
  return [...Versions.map((each) => toEntry(each, false)), ...DeleteMarkers.map((each) => toEntry(each, true))].sort(
    (a, b) =>
      Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) ||
      Number(b.isLatest) - Number(a.isLatest) ||
      b.time - a.time,
  );
}
