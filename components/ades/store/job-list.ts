import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from "kysely";

import type { JobStatus } from "./job-states.ts";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** What a list shows of a job: without what was asked for and what came of it, which may be long. */
export type JobSummary = Omit<Selectable<Tables["job"]>, "request" | "result">;

export interface JobFilter {
  readonly processIds: readonly string[];
  readonly statuses: readonly JobStatus[];
  readonly from?: Date;
  readonly to?: Date;
  /** Seconds. */
  readonly minDuration?: number;
  readonly maxDuration?: number;
}

/** Where a page begins: after a job, or before it, in the order of the list. */
export interface JobCursor {
  readonly direction: "next" | "prev";
  /** Microseconds since 1970. */
  readonly created: string;
  readonly id: string;
}

interface JobPage {
  readonly jobs: readonly JobSummary[];
  /** Left out where there is none. */
  readonly next?: JobCursor;
  readonly prev?: JobCursor;
}

/** Jobs are counted up to here: to count more takes longer than everything else of a page. */
export const MAX_COUNTED = 10_000;

const CREATED = sql<string>`(extract(epoch from created_at) * 1000000)::bigint::text`;

/**
 * A page of a user's jobs, the latest first. A page begins where the former ended, so that it costs the same anywhere in the
 * list and jobs that come or go meanwhile are neither left out nor shown twice.
 */
export async function listJobs(
  db: Db,
  owner: string,
  filter: JobFilter,
  { limit, skip, cursor }: { readonly limit: number; readonly skip: number; readonly cursor?: JobCursor },
): Promise<JobPage> {
  const backwards = cursor?.direction === "prev";
  let query = narrow(db.selectFrom("job"), owner, filter);
  if (cursor !== undefined) {
    const at = sql`('epoch'::timestamptz + ${cursor.created}::bigint * interval '1 microsecond', ${cursor.id}::uuid)`;
    query = query.where(backwards ? sql<boolean>`(created_at, id) > ${at}` : sql<boolean>`(created_at, id) < ${at}`);
  }
  const order = backwards ? "asc" : "desc";
  const rows = await query
    .select(["id", "owner", "process_id", "process_version", "status", "message", "progress"])
    .select([
      "created_at",
      "started_at",
      "finished_at",
      "updated_at",
      "attempts",
      "lease_until",
      "bytes_in",
      "bytes_out",
      "stage",
      "heard_at",
    ])
    .select(CREATED.as("created"))
    .orderBy("created_at", order)
    .orderBy("id", order)
    .offset(skip)
    .limit(limit + 1)
    .execute();
  const isMore = rows.length > limit;
  const jobs = rows.slice(0, limit);
  if (backwards) {
    jobs.reverse();
  }
  const [first, last] = [jobs[0], jobs.at(-1)];
  const hasNext = backwards || isMore;
  const hasPrev = backwards ? isMore : cursor !== undefined || skip > 0;
  return {
    jobs: jobs as unknown as readonly JobSummary[],
    ...(hasNext && last && { next: { direction: "next", created: last.created, id: last.id } }),
    ...(hasPrev && first && { prev: { direction: "prev", created: first.created, id: first.id } }),
  };
}

/** How many jobs there are; `undefined` for more than {@link MOST_COUNTED}. */
export async function countJobs(db: Db, owner: string, filter: JobFilter): Promise<number | undefined> {
  const some = narrow(db.selectFrom("job"), owner, filter)
    .select(sql<number>`1`.as("one"))
    .limit(MAX_COUNTED + 1);
  const found = await db
    .selectFrom(some.as("some"))
    .select((select) => select.fn.countAll<string>().as("count"))
    .executeTakeFirst();
  const count = Number(found?.count ?? 0);
  return count > MAX_COUNTED ? undefined : count;
}

function narrow<Output>(
  query: SelectQueryBuilder<Tables, "job", Output>,
  owner: string,
  { processIds, statuses, from, to, minDuration, maxDuration }: JobFilter,
): SelectQueryBuilder<Tables, "job", Output> {
  const duration = sql<number>`extract(epoch from coalesce(finished_at, now()) - started_at)`;
  return (
    query
      .where("owner", "=", owner)
      .$if(processIds.length > 0, (some) => some.where("process_id", "in", processIds))
      .$if(statuses.length > 0, (some) => some.where("status", "in", statuses))
      .$if(from !== undefined, (some) => some.where("created_at", ">=", from as Date))
      // Times are shown in milliseconds and kept more exactly: the one that is shown must be found.
      .$if(to !== undefined, (some) => some.where("created_at", "<", new Date((to as Date).getTime() + 1)))
      .$if(minDuration !== undefined, (some) => some.where(duration, ">=", minDuration as number))
      .$if(maxDuration !== undefined, (some) => some.where(duration, "<=", maxDuration as number))
  );
}
