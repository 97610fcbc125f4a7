import { type Kysely, sql } from "kysely";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

import type { FreeCapacity } from "./queue.ts";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** One life of one instance of the service. */
export interface Instance {
  readonly id: string;
  readonly host: string;
  readonly process: string;
}

/** Seconds after which an instance that was not heard of counts for nothing. */
const GONE_SECONDS = 60;

export function createInstance(): Instance {
  const host = hostname();
  return { id: `${host}/${randomUUID()}`, host, process: processName(process.pid) };
}

/** A process by its number and when it began, since numbers are used again. */
function processName(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return `${pid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""}`;
  } catch {
    // There is none, or this system does not tell.
    return `${pid} `;
  }
}

/**
 * Makes an instance known, and has jobs of instances on this machine that have ended taken again at once. Those of other machines
 * are taken again when their leases have run out.
 * @param most what it gives to one job
 */
export async function registerInstance(db: Db, instance: Instance, { cores, ramMiB }: FreeCapacity): Promise<void> {
  const known = await db.selectFrom("instance").select(["id", "process"]).where("host", "=", instance.host).execute();
  const own = processName(process.pid).split(" ", 1)[0];
  const ended = known.filter(({ process: name }) => {
    const [pid = ""] = name.split(" ");
    // In a container the next process has the number of the former.
    return pid === own || processName(Number(pid)) !== name;
  });
  await releaseInstances(
    db,
    ended.map(({ id }) => id),
  );
  await sql`insert into instance (id, host, process, job_cores, job_ram_mib)
    values (${instance.id}, ${instance.host}, ${instance.process}, ${cores}, ${ramMiB})`.execute(db);
}

/** Has the jobs of instances taken again now, and forgets the instances. */
export async function releaseInstances(db: Db, ids: readonly string[]): Promise<void> {
  await sql`
    with released as (
      update job set lease_until = now() - interval '1 second', holder = null
      where status = 'running' and holder = any(${ids as string[]}::text[]))
    delete from instance where id = any(${ids as string[]}::text[])`.execute(db);
}

/**
 * Says that an instance is there, and forgets those that were not heard of for long.
 * @returns memory that other instances on the same machine have given to their jobs, and cores that these need
 */
export async function renewInstance(db: Db, { id, host }: Instance): Promise<FreeCapacity> {
  const { rows } = await sql<FreeCapacity>`
    with seen as (
      update instance set seen_at = now() where id = ${id}
    ), gone as (
      delete from instance where seen_at < now() - make_interval(secs => ${GONE_SECONDS}) and id <> ${id}
    )
    select coalesce(sum(need_cores), 0)::float8 as cores, coalesce(sum(granted_ram_mib), 0)::float8 as "ramMiB"
    from job where status = 'running' and lease_until > now() and holder <> ${id}
      and holder in (select i.id from instance i where i.host = ${host})`.execute(db);
  return rows[0] ?? { cores: 0, ramMiB: 0 };
}
