import type { Kysely, Selectable } from "kysely";
import { sql } from "kysely";

import { DISMISSIBLE_LIST } from "./job-states.ts";
import type { JobRequest, Tables } from "./tables.ts";

export type Job = Selectable<Tables["job"]>;
type Db = Kysely<Tables>;

/** Channel on which jobs that have come to another status are told: `<id> <status>`. */
export const JOB_CHANNEL = "ades_job";

/** What a job asks the machine for. */
export interface JobNeeds {
  /** Of its largest tool. */
  readonly cores: number;
  readonly ramMiB: number;
  /** Of all its tools side by side; null for as much as a job may have. */
  readonly wishRamMiB: number | null;
}

const WAITS = "The job is accepted and waits for its turn.";

/** A job that waits for its turn from now on. */
export async function insertJob(
  db: Db,
  job: {
    readonly owner: string;
    readonly processId: string;
    readonly version: number;
    readonly request: JobRequest;
    readonly needs?: JobNeeds;
    /** `created` for a job that is started later. */
    readonly status?: "accepted" | "created";
  },
): Promise<Job> {
  const { owner, processId, version, request, status = "accepted" } = job;
  const message = status === "created" ? "The job is not started yet." : WAITS;
  const { cores, ramMiB, wishRamMiB } = job.needs ?? { cores: 1, ramMiB: 256, wishRamMiB: null };
  const { rows } = await sql<Job>`/* prepared: insert-job */
    with inserted as (
      insert into job (owner, process_id, process_version, status, message, request, need_cores, need_ram_mib, wish_ram_mib)
      values (${owner}, ${processId}, ${version}, ${status}, ${message},
        ${JSON.stringify(request)}::json, ${cores}, ${ramMiB}, ${wishRamMiB})
      returning *
    ), told as (select pg_notify(${JOB_CHANNEL}, id || ' ' || status) from inserted)
    select inserted.* from inserted, told`.execute(db);
  const [inserted] = rows;
  if (inserted === undefined) {
    throw new Error("the database gave no job back");
  }
  return inserted;
}

/** Changes a job that is not started yet; `false` where it is by now. */
export async function changeCreatedJob(
  db: Db,
  id: string,
  {
    processId,
    version,
    request,
    needs,
  }: Pick<Parameters<typeof insertJob>[1], "processId" | "version" | "request"> & {
    readonly needs: JobNeeds;
  },
): Promise<boolean> {
  const { rows } = await sql`
    update job set process_id = ${processId}, process_version = ${version}, request = ${JSON.stringify(request)}::json,
      need_cores = ${needs.cores}, need_ram_mib = ${needs.ramMiB}, wish_ram_mib = ${needs.wishRamMiB}, updated_at = now()
    where id = ${id} and status = 'created' returning id`.execute(db);
  return rows.length === 1;
}

/** Has a job that was made before wait for its turn; `undefined` where it does already. */
export async function startCreatedJob(db: Db, id: string): Promise<Job | undefined> {
  const { rows } = await sql<Job>`
    with started as (
      update job set status = 'accepted', message = ${WAITS}, updated_at = now()
      where id = ${id} and status = 'created' returning *
    ), told as (select pg_notify(${JOB_CHANNEL}, id || ' accepted') from started)
    select started.* from started, told`.execute(db);
  return rows[0];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export async function findJob(db: Db, owner: string, id: string): Promise<Job | undefined> {
  return UUID.test(id)
    ? db.selectFrom("job").selectAll().where("owner", "=", owner).where("id", "=", id).executeTakeFirst()
    : undefined;
}

/**
 * Ends a job that waits or runs, and forgets one that has ended. Gives the job as it is then.
 * @param withResults notes what a forgotten job stored, to be removed
 */
export async function dismissJob(
  db: Db,
  { owner, id, withResults }: { readonly owner: string; readonly id: string; readonly withResults: boolean },
): Promise<Job | undefined> {
  const job = await findJob(db, owner, id);
  if (job === undefined) {
    return undefined;
  }
  if (job.finished_at === null) {
    await sql`
      with dismissed as (
        update job set status = 'dismissed', message = 'The job was dismissed.', finished_at = now(), updated_at = now(),
          lease_until = null, holder = null, stage = null
        where id = ${id} and status in ${DISMISSIBLE_LIST} returning id)
      select pg_notify(${JOB_CHANNEL}, id || ' dismissed') from dismissed`.execute(db);
    return findJob(db, owner, id);
  }
  await sql`
    with noted as (
      insert into removal (job, owner, catalog_uri) select id, owner, result ->> 'catalogUri' from job
      where id = ${id} and ${withResults} and result ->> 'catalogUri' is not null on conflict do nothing)
    delete from job where id = ${id}`.execute(db);
  return { ...job, status: "dismissed", message: "The job was dismissed; its record and results here are gone." };
}
