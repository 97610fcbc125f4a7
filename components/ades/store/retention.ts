import { createQueue } from "@swath/work";
import { type Kysely, type Selectable, sql } from "kysely";

import { filterJobs } from "./job-ids.ts";
import { ENDED_LIST } from "./job-states.ts";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;
type Removal = Selectable<Tables["removal"]>;

/** Jobs that are forgotten in one statement: a long list must not hold up others. */
const BATCH = 500;

/**
 * Forgets jobs that ended long ago, with their logs and steps.
 * @param withResults notes what they stored, to be removed
 * @returns how many
 */
export async function forgetJobs(db: Db, days: number, withResults: boolean): Promise<number> {
  let forgotten = 0;
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      with old as (
        select id from job
        where status in ${ENDED_LIST} and finished_at < now() - make_interval(days => ${days})
        order by finished_at limit ${BATCH} for update skip locked
      ), noted as (
        insert into removal (job, owner, catalog_uri)
        select j.id, j.owner, j.result ->> 'catalogUri' from job j join old using (id)
        where ${withResults} and j.result ->> 'catalogUri' is not null on conflict do nothing
      )
      delete from job where id in (select id from old) returning id`.execute(db);
    forgotten += rows.length;
    if (rows.length < BATCH) {
      return forgotten;
    }
  }
}

/** Versions of a deployed process that are kept to go back to. */
const KEPT_VERSIONS = 10;

/** Versions of processes that are neither deployed nor run by a job that is remembered. */
export async function forgetVersions(db: Db): Promise<number> {
  const { rows } = await sql`
    delete from process p where not current and not exists (
      select from job j where j.owner = p.owner and j.process_id = p.id and j.process_version = p.version)
      and version < (select max(version) from process q where q.owner = p.owner and q.id = p.id)
      -- Of a deployed process the last ones stay, to go back to.
      and (not exists (select from process q where q.owner = p.owner and q.id = p.id and q.current) or ${KEPT_VERSIONS} <= (
        select count(*) from process q where q.owner = p.owner and q.id = p.id and q.version > p.version))
    returning id`.execute(db);
  return rows.length;
}

/** Results whose job is forgotten. Another attempt is made after an hour. */
export const removalQueue = createQueue<Removal>({
  table: "removal",
  key: ["job"],
  isOpen: "true",
  leaseSeconds: 3600,
  onClaim: "attempts = q.attempts + 1",
});

export async function endRemoval(db: Db, job: string): Promise<void> {
  await db.deleteFrom("removal").where("job", "=", job).execute();
}

export async function recordRemovalFailure(db: Db, job: string, error: string): Promise<void> {
  await db.updateTable("removal").set({ error }).where("job", "=", job).execute();
}

/** Which of these jobs wait, are at work, or ended within the last hour: their folders are in use, or soon to go by themselves. */
export const findFresh = (db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> =>
  filterJobs(db, ids, sql`(finished_at is null or finished_at > now() - interval '1 hour')`);
