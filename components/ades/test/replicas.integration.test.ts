import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type Database, openDatabase } from "@swath/postgres";
import { readProcesses, waitUntil } from "@swath/testing";

import type { Tables } from "../store/tables.ts";
import { shellPackage } from "./packages.ts";
import { type TestAdes, isRunner, startAdes } from "./start-ades.ts";

let ades: TestAdes;
let database: Database<Tables>;
before(async () => {
  ades = await startAdes({ env: { PARALLEL_JOBS: "2", RUNNER_SILENCE_SECONDS: "5" } });
  database = await openDatabase<Tables>({ url: ades.postgres.url, schema: "ades", onError: () => {} });
  for (const [id, script] of [
    ["wait", 'sleep "$1"; echo done'],
    ["quick", 'echo "$1"'],
  ] as const) {
    const { status } = await ades.send("/eric/ogc-api/processes", {
      text: shellPackage(id, script),
      type: "application/cwl",
    });
    assert.equal(status, 201);
  }
});
after(async () => {
  await database.close();
  await ades.close();
});

const send = async (process: string, name: string): Promise<string> => {
  const { headers, status, body } = await ades.send(`/eric/ogc-api/processes/${process}/execution`, {
    json: { inputs: { name } },
    headers: { prefer: "respond-async" },
  });
  assert.equal(status, 201, JSON.stringify(body));
  return (headers.get("location") ?? "").replace(/^.*\/jobs\//, "");
};
const rowOf = (id: string) => database.db.selectFrom("job").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
const isRunning = (id: string) =>
  waitUntil(
    `${id} is at work`,
    async () => {
      const row = await rowOf(id);
      return row.stage === "running" ? row : undefined;
    },
    30,
  );
const ended = (id: string) => ades.ended(`/eric/ogc-api/jobs/${id}`);

test("a second instance leaves running jobs alone and takes its share of those that wait", async () => {
  const long = await send("wait", "12");
  const before = await isRunning(long);
  const replica = await ades.startReplica();
  try {
    const jobs = await Promise.all(Array.from({ length: 12 }, () => send("wait", "0.3")));
    const holders = new Set<string>();
    for (let waiting = jobs.length; waiting > 0; await sleep(50)) {
      const rows = await database.db.selectFrom("job").select(["holder", "status"]).where("id", "in", jobs).execute();
      rows.forEach(({ holder }) => holder !== null && holders.add(holder));
      waiting = rows.filter(({ status }) => status === "accepted" || status === "running").length;
    }
    assert.equal(holders.size, 2, "both instances had jobs at work");
    assert.equal((await ended(long)).status, "successful");
    const row = await rowOf(long);
    assert.deepEqual([row.attempts, row.deaths], [1, 0], `it was ${before.holder}'s all the time`);
  } finally {
    await replica.kill();
  }
});

test("jobs of an instance that is killed go on with another one, and end once", async () => {
  const replica = await ades.startReplica({ DATA_DIR: `${ades.dataFolder}-of-its-own` });
  const job = await send("wait", "6");
  const { holder } = await isRunning(job);
  const first = await database.db
    .selectFrom("instance")
    .selectAll()
    .where("id", "=", holder ?? "")
    .executeTakeFirst();
  const isReplica = !first?.process.startsWith(`${ades.pid()} `);
  if (isReplica) {
    await replica.kill();
  } else {
    await ades.kill();
  }
  const other = isReplica ? ades.url : replica.url;
  const status = await waitUntil(
    "it has ended",
    async () => {
      const body = (await (await fetch(`${other}/eric/ogc-api/jobs/${job}`)).json()) as { status: string };
      return body.status === "running" || body.status === "accepted" ? undefined : body.status;
    },
    60,
  );
  assert.equal(status, "successful");
  const row = await rowOf(job);
  assert.equal(row.attempts, 2);
  await replica.kill();
  if (!isReplica) {
    await ades.start();
  }
});

const findRunners = (): readonly number[] =>
  readProcesses()
    .filter(({ parent, args }) => parent === ades.pid() && isRunner(args))
    .map(({ pid }) => pid);

test("a runner that stands still is ended, and its job taken again", async () => {
  const job = await send("wait", "8");
  await isRunning(job);
  const pids = findRunners();
  assert.ok(pids.length > 0);
  pids.forEach((pid) => process.kill(pid, "SIGSTOP"));
  assert.equal((await ended(job)).status, "successful");
  const row = await rowOf(job);
  assert.ok(row.attempts > 1 && row.deaths > 0, `attempts ${row.attempts}, deaths ${row.deaths}`);
});

test("users that come one after another do not cost a runner each", async () => {
  const started = new Set<number>();
  const look = () => {
    findRunners().forEach((pid) => started.add(pid));
  };
  for (let user = 0; user < 12; user += 1) {
    await ades.send(`/user${user}/ogc-api/processes`, {
      text: shellPackage("quick", 'echo "$1"'),
      type: "application/cwl",
    });
    const { status } = await ades.send(`/user${user}/ogc-api/processes/quick/execution`, {
      json: { inputs: { name: "x" } },
    });
    assert.equal(status, 200);
    look();
  }
  assert.ok(started.size <= 6, `${started.size} runners for 12 users`);
});
