import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import type { Database } from "@swath/postgres";
import { sql } from "kysely";

import { finishJob } from "../store/job-records.ts";
import { ENDED_LIST, JOB_STATES, JOB_STATUSES, type JobStatus, OPEN_LIST, hasEnded } from "../store/job-states.ts";
import { type Job, dismissJob, findJob, insertJob, startCreatedJob } from "../store/jobs.ts";
import { claimJob, recordRunnerCrash, refuseTooLarge, setJobAside } from "../store/queue.ts";
import type { Tables } from "../store/tables.ts";
import { openJobDatabase } from "./job-database.ts";

const ROOM = { cores: 4, ramMiB: 8192 };
const NO_UPDATES = { steps: [], log: [] };
const OWNER = "eric";
let database: Database<Tables>;

before(async () => {
  database = await openJobDatabase();
});
after(() => database.close());
beforeEach(() => sql`truncate job, queue_turn, instance cascade`.execute(database.db));

const subscriber = {
  inProgressUri: "http://example.org/inProgressUri",
  successUri: "http://example.org/successUri",
  failedUri: "http://example.org/failedUri",
};

async function makeJob(status: JobStatus): Promise<Job> {
  const { id } = await insertJob(database.db, {
    owner: OWNER,
    processId: "p",
    version: 1,
    request: { inputs: {}, response: "raw", subscriber },
    status: "created",
  });
  await sql`
    update job set status = ${status}, attempts = 1, lease_until = case when ${status} = 'running' then now() end,
      finished_at = case when ${hasEnded(status)} then now() end
    where id = ${id}`.execute(database.db);
  await sql`truncate delivery`.execute(database.db);
  const job = await findJob(database.db, OWNER, id);
  assert.ok(job);
  return job;
}

/** Everything that changes the state of a job. */
const OPERATIONS: Readonly<Record<string, (job: Job) => Promise<unknown>>> = {
  start: ({ id }) => startCreatedJob(database.db, id),
  claim: () => claimJob(database.db, { instance: "one", freeCapacity: ROOM, passed: [], maxRamMiB: 8192 }),
  succeed: (job) => finishJob(database.db, job, { status: "successful", message: "" }, NO_UPDATES),
  fail: (job) => finishJob(database.db, job, { status: "failed", message: "" }, NO_UPDATES),
  dismiss: ({ id }) => dismissJob(database.db, { owner: OWNER, id, withResults: false }),
  setAside: ({ id }) => setJobAside(database.db, id, "why"),
  refuse: () => refuseTooLarge(database.db, { cores: 0, ramMiB: 0 }),
  crash: async (job) => {
    for (let deaths = 0; deaths < 10; deaths += 1) {
      await recordRunnerCrash(database.db, job, "why");
    }
  },
};

test("jobs come from each state to those that the table of states names, and to no other", async () => {
  const seen = new Map<JobStatus, Set<JobStatus>>(JOB_STATUSES.map((status) => [status, new Set()]));
  for (const from of JOB_STATUSES) {
    for (const operate of Object.values(OPERATIONS)) {
      await sql`truncate job, queue_turn cascade`.execute(database.db);
      const job = await makeJob(from);
      await operate(job);
      const to = (await findJob(database.db, OWNER, job.id))?.status;
      // A job that had ended may be forgotten.
      if (to !== undefined && to !== from) {
        seen.get(from)?.add(to);
      }
    }
  }
  assert.deepEqual(
    JOB_STATUSES.map((status) => [status, [...(seen.get(status) ?? [])].toSorted()]),
    JOB_STATUSES.map((status) => [status, JOB_STATES[status].next.toSorted()]),
  );
});

test("subscribers are told of each state what the table of states says", async () => {
  for (const from of JOB_STATUSES) {
    for (const to of JOB_STATES[from].next) {
      const { id } = await makeJob(from);
      await sql`update job set status = ${to} where id = ${id}`.execute(database.db);
      const told = await sql<{ kind: string; target: string }>`select kind, target from delivery`.execute(database.db);
      const { delivery: kind, subscriberUri } = JOB_STATES[to];
      const expected = subscriberUri === undefined ? [] : [{ kind, target: subscriber[subscriberUri] }];
      assert.deepEqual(
        told.rows.map((row) => ({ ...row })),
        expected,
        `${from} → ${to}`,
      );
    }
  }
});

test("the database takes the states of the table, and has indices of those that are open or have ended", async () => {
  for (const status of JOB_STATUSES) {
    await makeJob(status);
  }
  await assert.rejects(sql`update job set status = 'paused'`.execute(database.db), /job_status_check/);
  // Small tables are read whole otherwise.
  await database.db.connection().execute(async (connection) => {
    await sql`set enable_seqscan = off`.execute(connection);
    for (const [list, order, index] of [
      [OPEN_LIST, sql`owner, created_at, id`, "job_queue"],
      [ENDED_LIST, sql`finished_at`, "job_ended"],
    ] as const) {
      const plan = await sql`explain select id from job where status in ${list} order by ${order}`.execute(connection);
      assert.match(JSON.stringify(plan.rows), new RegExp(`scan (?:using|on) ${index}`, "i"));
    }
    await sql`reset enable_seqscan`.execute(connection);
  });
});
