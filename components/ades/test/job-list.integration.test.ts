import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Database } from "@swath/postgres";
import { sql } from "kysely";

import { MAX_COUNTED, countJobs, listJobs } from "../store/job-list.ts";
import type { JobCursor, JobFilter } from "../store/job-list.ts";
import type { Tables } from "../store/tables.ts";
import { openJobDatabase } from "./job-database.ts";

const JOBS = 20_000;
const EVERYTHING: JobFilter = { processIds: [], statuses: [] };
let database: Database<Tables>;
before(async () => {
  database = await openJobDatabase();
  // One in a thousand failed; two jobs at each time, so that times alone are no order.
  await sql`
    insert into job (owner, process_id, process_version, status, request, created_at, started_at, finished_at)
    select 'eric', 'p' || n % 5, 1, case when n % 1000 = 0 then 'failed' else 'successful' end, '{"inputs":{}}',
      '2026-01-01Z'::timestamptz + (n / 2) * interval '1.000001 seconds', '2026-01-01Z', '2026-01-01Z'::timestamptz + n % 100 * interval '1 second'
    from generate_series(1, ${sql.lit(JOBS)}) n`.execute(database.db);
  await sql`analyze job`.execute(database.db);
});
after(() => database.close());

const page = (filter: JobFilter, limit: number, cursor?: JobCursor) =>
  listJobs(database.db, "eric", filter, { limit, skip: 0, ...(cursor && { cursor }) });

test("pages follow each other without a gap or a repetition, forwards and backwards", async () => {
  const filter = { ...EVERYTHING, processIds: ["p0"] };
  const forwards: string[][] = [];
  let cursor: JobCursor | undefined;
  do {
    const { jobs, next } = await page(filter, 900, cursor);
    forwards.push(jobs.map(({ id }) => id));
    cursor = next;
  } while (cursor !== undefined);
  const ids = forwards.flat();
  assert.deepEqual([ids.length, new Set(ids).size, forwards.length], [4000, 4000, 5]);
  const [last] = (await page(filter, 4000)).jobs.slice(-1);
  assert.equal(last?.id, ids.at(-1));
  const second = await page(filter, 900, (await page(filter, 900)).next);
  const first = await page(filter, 900, second.prev);
  assert.deepEqual(
    first.jobs.map(({ id }) => id),
    forwards[0],
  );
  assert.equal(first.prev, undefined);
  assert.ok(first.next);
});

test("jobs that come meanwhile are not shown twice", async () => {
  const { jobs, next } = await page(EVERYTHING, 10);
  await sql`insert into job (owner, process_id, process_version, status, request) values ('eric', 'late', 1, 'accepted', '{}')`.execute(
    database.db,
  );
  const more = await page(EVERYTHING, 10, next);
  assert.equal(new Set([...jobs, ...more.jobs].map(({ id }) => id)).size, 20);
});

test("a page is read by an index that is in its order, wherever it is", async () => {
  const { next } = await page(EVERYTHING, 50);
  const deep = {
    direction: "next",
    created: String(BigInt(next?.created ?? "0") - 5_000_000_000n),
    id: next?.id ?? "",
  } as const;
  const conditions = [
    sql`true`,
    sql`(created_at, id) < ('epoch'::timestamptz + ${sql.lit(deep.created)}::bigint * interval '1 microsecond', ${sql.lit(deep.id)}::uuid)`,
    sql`status in ('failed')`,
    sql`process_id in ('p3')`,
    sql`process_id in ('p3') and status in ('failed')`,
  ];
  for (const condition of conditions) {
    const { rows } = await sql<{ "QUERY PLAN": string }>`
      explain select id from job where owner = 'eric' and ${condition} order by created_at desc, id desc limit 51`.execute(
      database.db,
    );
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    assert.match(plan, /Index (Only )?Scan.* using job_owner/);
    assert.doesNotMatch(plan, /Seq Scan|Sort/);
  }
});

test("jobs are counted as far as it is cheap; filters narrow the list", async () => {
  assert.ok(JOBS > MAX_COUNTED);
  assert.equal(await countJobs(database.db, "eric", EVERYTHING), undefined);
  assert.equal(await countJobs(database.db, "eric", { ...EVERYTHING, statuses: ["failed"] }), 20);
  assert.equal(await countJobs(database.db, "bob", EVERYTHING), 0);
  const { jobs } = await page({ ...EVERYTHING, minDuration: 98, maxDuration: 98 }, 1000);
  assert.equal(jobs.length, 200);
  const [some] = jobs;
  const at = some?.created_at ?? new Date();
  const found = await page({ ...EVERYTHING, from: at, to: at }, 10);
  assert.ok(
    found.jobs.some(({ id }) => id === some?.id),
    "the time that is shown finds the job",
  );
});
