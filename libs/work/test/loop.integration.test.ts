import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { compiledCode, waitUntil } from "@swath/testing";

import { type Claim, type Loop, type LoopOptions, type Queryable, startLoop } from "../src/index.ts";
import { type Row, createTestQueue, openTestDatabase } from "./fixture.ts";

let fixture: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  fixture = await openTestDatabase();
});
after(async () => {
  await fixture?.database.close();
  await fixture?.server.close();
});

const queue = createTestQueue("lease_until", 2);
let statements = 0;
const db: Queryable = {
  query: (text, values) => {
    statements += 1;
    return fixture.database.pool.query(text, values);
  },
};
const errors: string[] = [];
const start = (options: Partial<LoopOptions<Claim<Row>>>): Promise<Loop> =>
  startLoop<Claim<Row>>({
    concurrency: 4,
    claim: ({ limit }) => queue.claim(db, limit),
    untilDue: () => queue.untilDue(db),
    run: async ({ lease }) => void (await lease.end("state = 'done', done = done + 1")),
    listen: { url: fixture.server.url, channel: "work_item" },
    onError: (error) => void errors.push(error.message),
    ...options,
  });
const countDone = async () =>
  (await fixture.database.pool.query<{ n: number }>("select count(*)::int as n from item where done = 1")).rows[0]?.n;
/** Statements of a loop in two seconds. */
const countStatements = async () => {
  const before = statements;
  await sleep(2000);
  return statements - before;
};

test("asks nothing while all places are taken, and next to nothing while nothing is due", async () => {
  await fixture.reset(20);
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const loop = await start({
    run: async ({ lease }) => {
      await held;
      await lease.end("state = 'done', done = done + 1");
    },
    renewMs: 600,
  });
  await waitUntil("all places are taken", () => loop.counts().running === 4);
  for (let i = 0; i < 50; i++) {
    loop.wake();
  }
  // Renewals alone: four items, three times.
  assert.ok((await countStatements()) <= 4 * 4);
  assert.equal((await queue.claim(fixture.database.pool, 0)).length, 0);
  release();
  await waitUntil("all are done", async () => (await countDone()) === 20);
  await sleep(100);
  assert.ok((await countStatements()) <= 2);
  await loop.stop();
  assert.deepEqual(loop.counts(), { running: 0, claimed: 20, failed: 0, lost: 0 });
});

test("does not spin on what is due and cannot be claimed", async () => {
  await fixture.reset(1);
  const loop = await start({ claim: async () => (statements++, []) });
  await sleep(1000);
  assert.ok((await countStatements()) <= 12);
  await loop.stop();
});

test("takes up what a notification tells of, and what comes due by itself", async () => {
  await fixture.reset(0);
  const loop = await start({ maxSleepMs: 60_000 });
  await sleep(200);
  await fixture.database.pool.query("insert into item (id, next_at) values ('soon', now() + interval '700 ms')");
  await fixture.database.pool.query("notify work_item");
  await waitUntil("it is done", async () => (await countDone()) === 1);
  await loop.stop();
});

test("an item whose run fails is told of and comes again when its lease runs out", async () => {
  await fixture.reset(1);
  errors.length = 0;
  const loop = await start({
    run: async ({ row, lease }) => {
      if (row.attempts === 1) {
        throw new Error("no");
      }
      await lease.end("state = 'done', done = done + 1");
    },
  });
  await waitUntil("it is done", async () => (await countDone()) === 1);
  assert.deepEqual(errors, ["no"]);
  assert.equal(loop.counts().failed, 1);
  await loop.stop();
});

test("stops when what is at work has ended, and takes nothing new", async () => {
  await fixture.reset(12);
  const loop = await start({
    run: async ({ lease }) => {
      await sleep(300);
      await lease.end("state = 'done', done = done + 1");
    },
  });
  await waitUntil("places are taken", () => loop.counts().running === 4);
  await loop.stop();
  assert.equal(loop.counts().running, 0);
  assert.equal(await countDone(), loop.counts().claimed);
  assert.ok(loop.counts().claimed < 12);
});

test("aborts what is at work when its lease is lost", async () => {
  await fixture.reset(1);
  let reason: unknown;
  const loop = await start({
    renewMs: 100,
    run: async (_, signal) => {
      await sleep(20_000, undefined, { signal }).catch(() => (reason = (signal.reason as Error).message));
    },
  });
  await waitUntil("it is at work", () => loop.counts().running === 1);
  await fixture.database.pool.query("update item set state = 'done', lease_until = null");
  await waitUntil("it was aborted", () => reason);
  assert.equal(reason, "the lease was lost");
  assert.equal(loop.counts().lost, 1);
  await loop.stop();
});

test("a worker that is killed in the middle of its items loses none of them", async () => {
  await fixture.reset(40);
  const crash = () =>
    new Promise<void>((resolve) => {
      spawn(process.execPath, [`${import.meta.dirname}/crash-worker.ts`, fixture.server.url], {
        stdio: "ignore",
        // oxlint-disable-next-line node/no-process-env -- a program of its own
        env: { ...process.env, ...compiledCode },
      }).on("exit", () => resolve());
    });
  await Promise.all([crash(), crash(), crash()]);
  const before = await countDone();
  assert.ok(before !== undefined && before > 0 && before < 40);
  const loop = await start({});
  await waitUntil("all are done", async () => (await countDone()) === 40);
  await loop.stop();
});

test("goes on after the database was away, and says so meanwhile", async () => {
  await fixture.reset(30);
  const loop = await start({
    run: async ({ lease }) => {
      await sleep(100);
      await lease.end("state = 'done', done = done + 1");
    },
  });
  await waitUntil("some are done", async () => ((await countDone()) ?? 0) > 2);
  await fixture.server.kill();
  await waitUntil("it is not ready", () =>
    loop.ready().then(
      () => false,
      () => true,
    ),
  );
  await fixture.server.start();
  await waitUntil("all are done", async () => (await countDone().catch(() => 0)) === 30);
  await waitUntil("it is ready", () => loop.ready().then(() => true));
  await loop.stop();
});
