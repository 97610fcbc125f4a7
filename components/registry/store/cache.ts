import { type Claim, createBackOff, createQueue } from "@swath/work";

import type { Sql } from "./database.ts";
import type { StoredManifest } from "./manifests.ts";

/** What a tag was at its upstream when that was asked last. */
export interface CachedTag {
  readonly digest: string;
  readonly isFresh: boolean;
}

export async function findCachedTag(
  sql: Sql,
  repository: string,
  { tag, freshSeconds }: { readonly tag: string; readonly freshSeconds: number },
): Promise<CachedTag | undefined> {
  const [row] = await sql.query<{ digest: string; fresh: boolean }>(
    `/* prepared: cached-tag */ select t.digest, t.checked_at > now() - $3 * interval '1 second' as fresh
     from cached_tag t join repository r on r.id = t.repository_id where r.name = $1 and t.name = $2`,
    [repository, tag, freshSeconds],
  );
  return row && { digest: row.digest, isFresh: row.fresh };
}

export async function noteCachedTag(sql: Sql, repository: string, tag: string, digest: string): Promise<void> {
  await sql.query(
    `insert into cached_tag (repository_id, name, digest) select id, $2, $3 from repository where name = $1
     on conflict (repository_id, name) do update set digest = excluded.digest, checked_at = now()`,
    [repository, tag, digest],
  );
}

export interface ArrivingManifest {
  readonly repository: string;
  readonly digest: string;
  readonly mediaType: string;
  readonly content: Buffer;
  /** To fetch what is missing, this one included. */
  readonly attempts?: number;
}

/** Clients fetch what they want of it at once; what is missing after this is fetched for the cache. */
const FILL_AFTER_SECONDS = 15;
const MAX_ATTEMPTS = 12;
/** An arrival of a process that died is another one's after this. */
const LEASE_SECONDS = 60;
export const RENEW_MS = 15_000;
const backOff = createBackOff({ firstSeconds: 600, maxSeconds: 3600 });

export async function addArriving(tx: Sql, repositoryId: string, manifest: ArrivingManifest): Promise<void> {
  await tx.query(
    `insert into arriving_manifest (repository_id, digest, media_type, content, next_at)
     values ($1, $2, $3, $4, now() + interval '${FILL_AFTER_SECONDS} seconds')
     on conflict (repository_id, digest) do update set attempts = 0, next_at = excluded.next_at`,
    [repositoryId, manifest.digest, manifest.mediaType, manifest.content],
  );
}

interface ArrivingRow {
  readonly name: string;
  readonly digest: string;
  readonly media_type: string;
  readonly content: Buffer;
}

const toArriving = (row: ArrivingRow): ArrivingManifest => ({
  repository: row.name,
  digest: row.digest,
  mediaType: row.media_type,
  content: row.content,
});

export async function findArriving(sql: Sql, repository: string, digest: string): Promise<StoredManifest | undefined> {
  const [row] = await sql.query<ArrivingRow>(
    `/* prepared: arriving */ select r.name, a.digest, a.media_type, a.content
     from arriving_manifest a join repository r on r.id = a.repository_id where r.name = $1 and a.digest = $2`,
    [repository, digest],
  );
  return row && { ...toArriving(row), isCached: true };
}

/** Those of a repository that may be complete now that something has come. */
export async function listArriving(sql: Sql, repository: string): Promise<readonly ArrivingManifest[]> {
  const rows = await sql.query<ArrivingRow>(
    `select r.name, a.digest, a.media_type, a.content from arriving_manifest a join repository r on r.id = a.repository_id
     where r.name = $1 order by a.created_at desc limit 50`,
    [repository],
  );
  return rows.map(toArriving);
}

/** Ends an arrival; false when somebody else has. */
export async function deleteArriving(tx: Sql, repository: string, digest: string): Promise<boolean> {
  const rows = await tx.query(
    `delete from arriving_manifest a using repository r where r.id = a.repository_id and r.name = $1 and a.digest = $2
     returning 1 as deleted`,
    [repository, digest],
  );
  return rows.length > 0;
}

/** Tags that are said to be a manifest. */
export async function listCachedTags(sql: Sql, repository: string, digest: string): Promise<readonly string[]> {
  const rows = await sql.query<{ name: string }>(
    "select t.name from cached_tag t join repository r on r.id = t.repository_id where r.name = $1 and t.digest = $2",
    [repository, digest],
  );
  return rows.map(({ name }) => name);
}

/** Arrivals whose rest is to be fetched. */
export const arrivalQueue = createQueue<ArrivingManifest>({
  table: "arriving_manifest",
  key: ["repository_id", "digest"],
  isOpen: `q.attempts < ${MAX_ATTEMPTS}`,
  leaseSeconds: LEASE_SECONDS,
  onClaim: "attempts = q.attempts + 1",
  join: { from: "repository r", on: "r.id = q.repository_id" },
  returning: `r.name as repository, q.digest, q.media_type as "mediaType", q.content, q.attempts`,
});

/** Has an arrival that is not complete yet fetched again after a while, or given up. */
export async function postponeArrival({ row: { attempts = 0 }, lease }: Claim<ArrivingManifest>): Promise<void> {
  await lease.end("next_at = now() + make_interval(secs => $1)", [backOff(attempts)]);
}

export async function deleteGivenUpArrivals(sql: Sql): Promise<void> {
  await sql.query("delete from arriving_manifest where attempts >= $1 and next_at <= now()", [MAX_ATTEMPTS]);
}
