import type { Sql } from "./database.ts";

export const UPSTREAM_KINDS = ["docker-hub", "docker-registry", "harbor"] as const;
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];

/** A registry of others. */
export interface Upstream {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly kind: UpstreamKind;
  readonly url: string;
  readonly username: string | undefined;
  readonly sealedSecret: string | undefined;
  readonly pausedUntil: Date | undefined;
  readonly rateLimit: string | undefined;
  readonly rateRemaining: string | undefined;
  readonly answeredAt: Date | undefined;
  readonly failedAt: Date | undefined;
  readonly failure: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

interface UpstreamRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly kind: UpstreamKind;
  readonly url: string;
  readonly username: string | null;
  readonly sealed_secret: string | null;
  readonly paused_until: Date | null;
  readonly rate_limit: string | null;
  readonly rate_remaining: string | null;
  readonly answered_at: Date | null;
  readonly failed_at: Date | null;
  readonly failure: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const toUpstream = (row: UpstreamRow): Upstream => ({
  id: row.id,
  name: row.name,
  description: row.description,
  kind: row.kind,
  url: row.url,
  username: row.username ?? undefined,
  sealedSecret: row.sealed_secret ?? undefined,
  pausedUntil: row.paused_until ?? undefined,
  rateLimit: row.rate_limit ?? undefined,
  rateRemaining: row.rate_remaining ?? undefined,
  answeredAt: row.answered_at ?? undefined,
  failedAt: row.failed_at ?? undefined,
  failure: row.failure ?? undefined,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export async function listUpstreams(sql: Sql): Promise<readonly Upstream[]> {
  return (await sql.query<UpstreamRow>("select * from upstream order by name")).map(toUpstream);
}

export async function findUpstream(sql: Sql, id: string): Promise<Upstream | undefined> {
  const [row] = await sql.query<UpstreamRow>("/* prepared: upstream */ select * from upstream where id = $1", [id]);
  return row && toUpstream(row);
}

export type UpstreamValues = Pick<Upstream, "name" | "description" | "kind" | "url" | "username" | "sealedSecret">;

/** Undefined when the name is taken. */
export async function insertUpstream(sql: Sql, values: UpstreamValues): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string }>(
    `insert into upstream (name, description, kind, url, username, sealed_secret) values ($1, $2, $3, $4, $5, $6)
     on conflict (name) do nothing returning id`,
    toColumns(values),
  );
  return row?.id;
}

/** False when the name is another one's. */
export async function updateUpstream(sql: Sql, id: string, values: UpstreamValues): Promise<boolean> {
  const rows = await sql.query(
    `update upstream set name = $1, description = $2, kind = $3, url = $4, username = $5, sealed_secret = $6,
       paused_until = null, failure = null, failed_at = null, updated_at = now()
     where id = $7 and not exists (select from upstream o where o.name = $1 and o.id <> $7) returning 1 as updated`,
    [...toColumns(values), id],
  );
  return rows.length > 0;
}

const toColumns = ({ name, description, kind, url, username, sealedSecret }: UpstreamValues): readonly unknown[] => [
  name,
  description,
  kind,
  url,
  username ?? null,
  sealedSecret ?? null,
];

/** What still uses an upstream, in words; nothing when it was deleted. */
export async function deleteUpstream(tx: Sql, id: string): Promise<readonly string[]> {
  const users = await tx.query<{ what: string }>(
    `select 'project ' || name as what from project where upstream_id = $1
     union all select 'replication ' || name from replication where upstream_id = $1 limit 20`,
    [id],
  );
  if (users.length === 0) {
    await tx.query("delete from upstream where id = $1", [id]);
  }
  return users.map(({ what }) => what);
}

export interface UpstreamResponse {
  /** Seconds that nothing which counts is to be asked. */
  readonly pauseSeconds: number;
  readonly limit: string | undefined;
  readonly remaining: string | undefined;
  /** What went wrong; undefined where it answered as it should. */
  readonly failure: string | undefined;
}

/** Notes what an upstream said of its limits, for every replica. */
export async function noteResponse(sql: Sql, id: string, response: UpstreamResponse): Promise<void> {
  await sql.query(
    `update upstream set rate_limit = coalesce($2, rate_limit), rate_remaining = coalesce($3, rate_remaining),
       paused_until = case when $4::int > 0 then now() + $4 * interval '1 second' else paused_until end,
       answered_at = case when $5::text is null then now() else answered_at end,
       failed_at = case when $5::text is null then null else now() end, failure = $5
     where id = $1`,
    [
      id,
      response.limit ?? null,
      response.remaining ?? null,
      response.pauseSeconds,
      response.failure?.slice(0, 500) ?? null,
    ],
  );
}
