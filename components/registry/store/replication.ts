import { createQueue } from "@swath/work";

import type { Sql } from "./database.ts";
import type { Schedule } from "./retention.ts";

export type Direction = "pull" | "push";

/** What is copied from or to another registry, and when. */
export interface Replication {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly direction: Direction;
  readonly upstreamId: string;
  /** Patterns of names at the source; here they begin with the project. */
  readonly repositories: string;
  readonly tags: string;
  /** A project here, or a namespace there; '' keeps the names. */
  readonly target: string;
  readonly overrides: boolean;
  readonly isEnabled: boolean;
  readonly schedule: Schedule;
  readonly nextAt: Date | undefined;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type ReplicationValues = Omit<Replication, "id" | "nextAt" | "createdBy" | "createdAt" | "updatedAt">;

interface ReplicationRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly direction: Direction;
  readonly upstream_id: string;
  readonly repositories: string;
  readonly tags: string;
  readonly target: string;
  readonly overrides: boolean;
  readonly is_enabled: boolean;
  readonly schedule: Schedule;
  readonly next_at: Date | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const toReplication = (row: ReplicationRow): Replication => ({
  id: row.id,
  name: row.name,
  description: row.description,
  direction: row.direction,
  upstreamId: row.upstream_id,
  repositories: row.repositories,
  tags: row.tags,
  target: row.target,
  overrides: row.overrides,
  isEnabled: row.is_enabled,
  schedule: row.schedule,
  nextAt: row.next_at ?? undefined,
  createdBy: row.created_by,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const NEXT = `case when $9 and $10 <> 'none' then
  now() + case $10 when 'hourly' then interval '1 hour' when 'weekly' then interval '7 days' else interval '1 day' end end`;

export async function listReplications(sql: Sql): Promise<readonly Replication[]> {
  return (await sql.query<ReplicationRow>("select * from replication order by name")).map(toReplication);
}

export async function findReplication(sql: Sql, id: string): Promise<Replication | undefined> {
  const [row] = await sql.query<ReplicationRow>("select * from replication where id = $1", [id]);
  return row && toReplication(row);
}

const toColumns = (values: ReplicationValues): readonly unknown[] => [
  values.name,
  values.description,
  values.direction,
  values.upstreamId,
  values.repositories,
  values.tags,
  values.target,
  values.overrides,
  values.isEnabled,
  values.schedule,
];

/** Undefined when the name is taken. */
export async function insertReplication(
  sql: Sql,
  values: ReplicationValues,
  createdBy: string,
): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string }>(
    `insert into replication (name, description, direction, upstream_id, repositories, tags, target, overrides, is_enabled,
       schedule, next_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9::boolean, $10::text, ${NEXT}, $11)
     on conflict (name) do nothing returning id`,
    [...toColumns(values), createdBy],
  );
  return row?.id;
}

/** False when the name is another one's. */
export async function updateReplication(sql: Sql, id: string, values: ReplicationValues): Promise<boolean> {
  const rows = await sql.query(
    `update replication set name = $1, description = $2, direction = $3, upstream_id = $4, repositories = $5, tags = $6,
       target = $7, overrides = $8, is_enabled = $9::boolean, schedule = $10::text, next_at = ${NEXT}, updated_at = now()
     where id = $11 and not exists (select from replication o where o.name = $1 and o.id <> $11) returning 1 as updated`,
    [...toColumns(values), id],
  );
  return rows.length > 0;
}

export async function deleteReplication(sql: Sql, id: string): Promise<void> {
  await sql.query("delete from replication where id = $1", [id]);
}

/** SQL interval between runs, of the column `schedule`. */
export const INTERVAL_OF_SCHEDULE =
  "case schedule when 'hourly' then interval '1 hour' when 'weekly' then interval '7 days' else interval '1 day' end";

/** Replications whose turn it is. */
export const dueReplications = createQueue<{ readonly id: string }>({
  table: "replication",
  key: ["id"],
  isOpen: "q.is_enabled",
  leaseSeconds: 60,
  returning: "q.id",
});
