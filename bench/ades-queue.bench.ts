import { setTimeout as sleep } from "node:timers/promises";

import { openDatabase } from "@swath/postgres";

import { ECHO_TOOL, shellPackage } from "../components/ades/test/packages.ts";
import { type TestAdes, startAdes } from "../components/ades/test/start-ades.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const USERS = 200;
const JOBS_OF_USER = 10;
const DRAINED = 1000;
/** Seconds of a tool that only waits: instances on one machine share its cores, and are compared by what waits. */
const SLEEP = 0.4;
/** Seconds after which the rest is not waited for. */
const TIMEOUT = 240;

/** The queue of the processing service: many users, several instances, and somebody who sends what takes long to read. */
export async function bench(): Promise<BenchRow[]> {
  return [...(await benchUsers()), await benchHostile(), await benchReplicas()];
}

async function benchUsers(): Promise<BenchRow[]> {
  const ades = await startAdes({ env: { PARALLEL_JOBS: "2", LOG_LEVEL: "fatal" } });
  try {
    const users = Array.from({ length: USERS }, (_, index) => `user${index}`);
    await inBatches(users, 8, (user) => deploy(ades, user, ECHO_TOOL));
    const jobs = Array.from({ length: JOBS_OF_USER }, () => users).flat();
    const started = performance.now();
    await inBatches(jobs, 16, (user) => send(ades, user, "say", { text: "queued" }));
    const done = await untilDrained(ades, jobs.length);
    const seconds = (performance.now() - started) / 1000;
    const { pool, close } = await openDatabase({ url: ades.postgres.url, schema: "ades", onError: () => {} });
    const { rows } = await pool.query<{ wait: number }>(
      "select avg(extract(epoch from finished_at - created_at))::float8 as wait from job where finished_at is not null group by owner",
    );
    await close();
    const waits = rows.map(({ wait }) => wait);
    const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
    return [
      {
        name: `${USERS} users × ${JOBS_OF_USER} jobs, 2 at a time`,
        value: done / seconds,
        unit: "jobs/s",
        aim: "≥ 25 jobs/s",
        note: `${done} in ${Math.round(seconds)} s`,
      },
      {
        name: "the same: longest wait of a user beside the mean",
        value: Math.max(...waits) / mean,
        unit: "×",
        aim: "≤ 2 ×",
        note: `mean ${mean.toFixed(1)} s from sending to the end`,
      },
    ];
  } finally {
    await ades.close();
  }
}

async function benchHostile(): Promise<BenchRow> {
  const ades = await startAdes({ env: { LOG_LEVEL: "fatal" } });
  try {
    await deploy(ades, "eric", ECHO_TOOL);
    const head =
      "cwlVersion: v1.2\nclass: CommandLineTool\nid: bad\nbaseCommand: 'true'\ninputs: []\noutputs: []\nx:\n";
    // Below the limit of bytes, so that it is read; one after another, 8 MB in all.
    const text = `${head}${"- a\n".repeat(480_000)}`;
    let isOver = false;
    const reading = (async () => {
      for (let sent = 0; sent < 8_000_000; sent += text.length) {
        await ades.send("/eve/ogc-api/processes", { text, type: "application/cwl" });
      }
      isOver = true;
    })();
    const times: number[] = [];
    while (!isOver) {
      const started = performance.now();
      await ades.send("/eric/ogc-api/processes/say");
      times.push(performance.now() - started);
      await sleep(5);
    }
    await reading;
    const sorted = times.toSorted((a, b) => a - b);
    return {
      name: "others' requests while 8 MB of hostile YAML are read, p99",
      value: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
      unit: "ms",
      aim: "≤ 50 ms",
      note: `median ${median(times).toFixed(1)} ms, longest ${Math.round(sorted.at(-1) ?? 0)} ms of ${times.length} requests`,
    };
  } finally {
    await ades.close();
  }
}

async function benchReplicas(): Promise<BenchRow> {
  const drain = async (instances: number): Promise<number> => {
    const ades = await startAdes({
      env: {
        PARALLEL_JOBS: "4",
        LOG_LEVEL: "fatal",
        CAPACITY_RAM_MIB: "16384",
        MAX_RAM_MIB: "256",
        HOST_TOOLS: "open",
      },
    });
    try {
      // One core each in the books, although they only wait.
      const tool = shellPackage("wait", 'sleep "$1"', "{ ResourceRequirement: { coresMin: 0.1, ramMin: 64 } }");
      await deploy(ades, "eric", tool);
      for (let more = 1; more < instances; more += 1) {
        await ades.startReplica();
      }
      // Runners are started and warm.
      await inBatches(Array.from({ length: 16 }), 16, () => send(ades, "eric", "wait", { name: "0.1" }));
      await untilDrained(ades, 16);
      const started = performance.now();
      await inBatches(Array.from({ length: DRAINED }), 16, () => send(ades, "eric", "wait", { name: String(SLEEP) }));
      const done = await untilDrained(ades, DRAINED);
      return done / ((performance.now() - started) / 1000);
    } finally {
      await ades.close();
    }
  };
  const [one, two] = [await drain(1), await drain(2)];
  return {
    name: `${DRAINED} jobs of ${SLEEP} s drained by two instances, 4 at a time each`,
    value: two,
    unit: "jobs/s",
    aim: "≥ 1.7 × one",
    peer: { name: "one instance", value: one },
    ratio: two / one,
  };
}

async function deploy(ades: TestAdes, user: string, text: string): Promise<void> {
  const { status, body } = await ades.send(`/${user}/ogc-api/processes`, { text, type: "application/cwl" });
  if (status !== 201) {
    throw new Error(`cannot deploy: ${JSON.stringify(body)}`);
  }
}

async function send(ades: TestAdes, user: string, process: string, inputs: object): Promise<void> {
  const { status, body } = await ades.send(`/${user}/ogc-api/processes/${process}/execution`, {
    json: { inputs },
    headers: { prefer: "respond-async" },
  });
  if (status !== 201) {
    throw new Error(`cannot execute: ${JSON.stringify(body)}`);
  }
}

/** Waits until nothing is left of so many jobs, and says how many were done by then. */
async function untilDrained(ades: TestAdes, count: number): Promise<number> {
  const { pool, close } = await openDatabase({ url: ades.postgres.url, schema: "ades", onError: () => {} });
  const until = performance.now() + TIMEOUT * 1000;
  for (;;) {
    const { rows } = await pool.query<{ left: number }>(
      "select count(*)::int as left from job where status in ('accepted', 'running')",
    );
    const left = rows[0]?.left ?? 0;
    if (left === 0 || performance.now() > until) {
      await close();
      return count - left;
    }
    await sleep(50);
  }
}

async function inBatches<Item>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += size) {
    await Promise.all(items.slice(at, at + size).map(work));
  }
}
