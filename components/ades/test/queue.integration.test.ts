import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import type { Database } from "@swath/postgres";
import { waitUntil } from "@swath/testing";
import { sql } from "kysely";

import { finishJob, listLog, listSteps, saveJobUpdates } from "../store/job-records.ts";
import { type Job, type JobNeeds, findJob, insertJob } from "../store/jobs.ts";
import { claimJob, isHeld, recordRunnerCrash, refuseTooLarge, renewLeases } from "../store/queue.ts";
import { createInstance, registerInstance, releaseInstances, renewInstance } from "../store/instances.ts";
import type { Tables } from "../store/tables.ts";
import { openJobDatabase } from "./job-database.ts";

const ROOM = { cores: 4, ramMiB: 8192 };
const NO_UPDATES = { steps: [], log: [] };
let database: Database<Tables>;

before(async () => {
  database = await openJobDatabase();
});
after(() => database.close());
beforeEach(() => sql`truncate job, queue_turn, instance cascade`.execute(database.db));

const add = (owner: string, needs?: JobNeeds): Promise<Job> =>
  insertJob(database.db, {
    owner,
    processId: "p",
    version: 1,
    request: { inputs: {}, response: "raw" },
    ...(needs && { needs }),
  });
const claim = (freeCapacity = ROOM, passed: readonly string[] = [], instance = "one") =>
  claimJob(database.db, { instance, freeCapacity, passed, maxRamMiB: 8192 });
const release = (instance: string) => releaseInstances(database.db, [instance]);
async function claimAll(): Promise<string> {
  const owners: string[] = [];
  for (let job = await claim(); job !== undefined; job = await claim()) {
    owners.push(job.owner);
    await finishJob(database.db, job, { status: "successful", message: "" }, NO_UPDATES);
  }
  return owners.join("");
}

test("users take turns, however many jobs one of them has sent first", async () => {
  for (const owner of ["a", "a", "a", "a", "b", "b", "c"]) {
    await add(owner);
  }
  assert.equal(await claimAll(), "abcabaa");
});

test("who has fewest jobs at work comes first", async () => {
  for (const owner of ["a", "a", "a", "b"]) {
    await add(owner);
  }
  const taken = [await claim(), await claim()];
  assert.deepEqual(
    taken.map((job) => job?.owner),
    ["a", "b"],
  );
  await finishJob(database.db, taken[1] as Job, { status: "successful", message: "" }, NO_UPDATES);
  await add("b");
  assert.equal((await claim())?.owner, "b");
});

test("a job that does not fit just now is passed, but not for ever", async () => {
  const large = await add("a", { cores: 4, ramMiB: 8000, wishRamMiB: null });
  await add("b", { cores: 1, ramMiB: 100, wishRamMiB: 100 });
  await add("b", { cores: 1, ramMiB: 100, wishRamMiB: 100 });
  assert.equal((await claim({ cores: 2, ramMiB: 4000 }))?.owner, "b");
  await sql`update job set created_at = now() - interval '1 hour' where id = ${large.id}`.execute(database.db);
  assert.equal(await claim({ cores: 1, ramMiB: 4000 }), undefined, "room is kept for it");
  assert.equal((await claim({ cores: 4, ramMiB: 8192 }))?.id, large.id);
});

test("a job that can no longer fit is ended with a reason", async () => {
  const { id } = await add("a", { cores: 8, ramMiB: 100, wishRamMiB: null });
  await refuseTooLarge(database.db, ROOM);
  const job = await findJob(database.db, "a", id);
  assert.equal(job?.status, "failed");
  assert.match(job.message ?? "", /needs 8 cores and 100 MiB .* may have 4 cores and 8192 MiB/);
});

test("each job is given out once, also to services that ask at the same time", async () => {
  for (let index = 0; index < 20; index += 1) {
    await add(`user-${index % 3}`);
  }
  const ids: string[] = [];
  // One that lost a race asks again, as the dispatcher does.
  for (let round = 0; round < 40 && ids.length < 20; round += 1) {
    const jobs = await Promise.all(Array.from({ length: 4 }, () => claim()));
    ids.push(...jobs.flatMap((job) => job?.id ?? []));
  }
  assert.equal(ids.length, 20);
  assert.equal(new Set(ids).size, 20);
  assert.equal(await claim(), undefined);
});

test("a job whose service died is taken again, by somebody else than its holder", async () => {
  await add("a");
  const first = (await claim()) as Job;
  assert.deepEqual([...(await renewLeases(database.db, [first]))], [first.id]);
  await release("one");
  assert.equal(await claim(ROOM, [first.id]), undefined);
  const second = (await claim()) as Job;
  assert.deepEqual([second.id, second.attempts], [first.id, 2]);
  assert.deepEqual([...(await renewLeases(database.db, [first]))], [], "it is no longer the first one's");
  assert.equal(await finishJob(database.db, first, { status: "failed", message: "late" }, NO_UPDATES), false);
  assert.equal(await finishJob(database.db, second, { status: "successful", message: "" }, NO_UPDATES), true);
  assert.equal(await finishJob(database.db, second, { status: "failed", message: "twice" }, NO_UPDATES), false);
});

/** What a crash of the database does to a claim whose commit was not on the disk yet. */
async function loseClaim({ id, attempts }: Job): Promise<void> {
  await database.db.transaction().execute(async (transaction) => {
    // Without the trigger that knows the transitions: a crash knows none.
    await sql`set local session_replication_role = replica`.execute(transaction);
    await sql`
      update job set status = case when ${attempts} = 1 then 'accepted' else 'running' end, attempts = attempts - 1, holder = null,
        lease_until = case when ${attempts} > 1 then now() - interval '1 second' end
      where id = ${id}`.execute(transaction);
  });
}

test("a claim that was lost with the database is its holder's again, and the job is done once", async () => {
  await add("a");
  const first = (await claim()) as Job;
  await loseClaim(first);
  assert.deepEqual([...(await renewLeases(database.db, [first]))], [first.id]);
  assert.equal(await claim(), undefined);
  await loseClaim(first);
  assert.equal(await isHeld(database.db, first), true);
  await loseClaim(first);
  assert.equal(await finishJob(database.db, first, { status: "successful", message: "" }, NO_UPDATES), true);
  assert.equal(await claim(), undefined);
  assert.equal(await isHeld(database.db, first), false);
});

test("a claim that was lost with the database is not its holder's where another instance was first, with the same number of attempts", async () => {
  await add("a");
  const lost = (await claim(ROOM, [], "one")) as Job;
  await loseClaim(lost);
  const taken = (await claim(ROOM, [], "two")) as Job;
  assert.deepEqual([taken.id, taken.attempts], [lost.id, lost.attempts]);
  assert.deepEqual([...(await renewLeases(database.db, [lost]))], []);
  assert.equal(await isHeld(database.db, lost), false);
  assert.equal(await finishJob(database.db, lost, { status: "failed", message: "late" }, NO_UPDATES), false);
  // Taken a second time, and that was lost.
  await release("two");
  const again = (await claim(ROOM, [], "two")) as Job;
  await loseClaim(again);
  assert.equal(await isHeld(database.db, again), true);
  assert.equal(await finishJob(database.db, again, { status: "successful", message: "" }, NO_UPDATES), true);
});

test("another instance leaves running jobs to their holder, until its lease has run out or it is known to have ended", async () => {
  const [mine, theirs] = [createInstance(), createInstance()];
  await registerInstance(database.db, mine, ROOM);
  await add("a");
  const job = (await claim(ROOM, [], mine.id)) as Job;
  // Two of one process number cannot be there at the same time; that of another machine is nobody's business here.
  await registerInstance(database.db, { ...theirs, host: "elsewhere", process: "1 1" }, ROOM);
  assert.equal(await claim(ROOM, [], theirs.id), undefined);
  await sql`update job set lease_until = now() - interval '1 second'`.execute(database.db);
  // While the database was away nobody could renew; a moment after it is back nobody is taken for dead.
  const taken = await waitUntil("it is taken", () => claim(ROOM, [], theirs.id), 20);
  assert.deepEqual([taken.id, taken.holder, taken.attempts], [job.id, theirs.id, 2]);
  assert.deepEqual([...(await renewLeases(database.db, [job]))], []);
  // An instance that was killed: the next one on its machine knows.
  const dead = { id: "dead", host: mine.host, process: "4000000 1" };
  await sql`insert into instance (id, host, process, job_cores, job_ram_mib) values (${dead.id}, ${dead.host}, ${dead.process}, 4, 8192)`.execute(
    database.db,
  );
  await add("b");
  const lost = (await claim(ROOM, [], dead.id)) as Job;
  assert.equal(await claim(ROOM, [], mine.id), undefined);
  await registerInstance(database.db, { ...createInstance(), process: "1 2" }, ROOM);
  assert.equal((await claim(ROOM, [], mine.id))?.id, lost.id);
});

test("instances on one machine share what it has", async () => {
  const [one, other, far] = [createInstance(), createInstance(), { ...createInstance(), host: "elsewhere" }];
  for (const { id, host, process } of [one, other, far]) {
    await sql`insert into instance (id, host, process, job_cores, job_ram_mib) values (${id}, ${host}, ${process}, 4, 8192)`.execute(
      database.db,
    );
  }
  await add("a", { cores: 2, ramMiB: 1000, wishRamMiB: 3000 });
  await add("b", { cores: 1, ramMiB: 500, wishRamMiB: null });
  assert.equal((await claim({ cores: 4, ramMiB: 2000 }, [], other.id))?.granted_ram_mib, 2000);
  assert.equal((await claim(ROOM, [], far.id))?.granted_ram_mib, 8192);
  assert.deepEqual(await renewInstance(database.db, one), { cores: 2, ramMiB: 2000 });
});

test("a job whose runner dies is tried three times; restarts of the service do not count", async () => {
  const { id } = await add("a");
  for (let restart = 0; restart < 5; restart += 1) {
    await claim();
    await release("one");
  }
  for (const expected of ["running", "running", "failed"]) {
    await recordRunnerCrash(database.db, (await claim()) as Job, "it died of SIGKILL");
    assert.equal((await findJob(database.db, "a", id))?.status, expected);
  }
  assert.equal((await findJob(database.db, "a", id))?.message, "it died of SIGKILL");
});

test("news and the end of a job are written in one statement each; odd bytes do no harm", async () => {
  await add("a");
  const job = (await claim()) as Job;
  const at = "2026-01-01T00:00:00.000Z";
  const used = { cpuSeconds: 1.5, peakMemoryBytes: 2 ** 33, wallSeconds: 2, bytesIn: 2 ** 40, bytesOut: 7 };
  const started = { ...used, name: "s", startedAt: at, command: ["echo", "a\0"], image: null };
  const running = { ...started, status: "running", exitCode: null, message: null, finishedAt: null } as const;
  await saveJobUpdates(database.db, job, {
    steps: [running],
    log: [{ at, step: "s", text: "a\0b\uD800" }],
    progress: 41.7,
  });
  await saveJobUpdates(database.db, job, { ...NO_UPDATES, progress: 20, message: "still" });
  const now = await findJob(database.db, "a", job.id);
  assert.deepEqual([now?.progress, now?.message], [41, "still"]);
  const done = { ...running, status: "failed", exitCode: 3, message: "no", finishedAt: at } as const;
  await finishJob(database.db, job, { status: "failed", message: "m\0" }, { steps: [done], log: [] });
  const [step] = await listSteps(database.db, job.id);
  assert.deepEqual([step?.status, step?.exit_code, step?.finished_at?.toISOString()], ["failed", 3, at]);
  assert.deepEqual([step?.bytes_in, step?.bytes_out], [String(2 ** 40), "7"]);
  assert.deepEqual(
    (await listLog(database.db, job.id, "0")).map(({ text }) => text),
    ["a\uFFFDb\uFFFD"],
  );
  assert.equal((await findJob(database.db, "a", job.id))?.progress, 41);
});
