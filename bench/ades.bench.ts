import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { openDatabase } from "@swath/postgres";

import { ECHO_TOOL } from "../components/ades/test/packages.ts";
import { type TestAdes, startAdes } from "../components/ades/test/start-ades.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const run = promisify(execFile);
const ROUNDS = 25;
const QUEUED = 1000;
/** Seconds after which the queue is not waited for any longer; what was done by then counts. */
const TIMEOUT = 90;
const LISTED = 100_000;
const IMAGE = "localhost/swath-bench-echo:1";

/** The processing service from a client's view: how long a job takes that does nothing, a full queue, a long list. */
export async function bench(): Promise<BenchRow[]> {
  const ades = await startAdes({ env: { PARALLEL_JOBS: "2", LOG_LEVEL: "fatal" } });
  try {
    const print = await deploy(ades, ECHO_TOOL);
    return [...(await benchEcho(ades, print)), ...(await benchQueue(ades, print)), await benchList(ades)];
  } finally {
    await ades.close();
  }
}

async function benchEcho(ades: TestAdes, print: string): Promise<BenchRow[]> {
  const sync: number[] = [];
  const async_: number[] = [];
  const waited: number[] = [];
  // The first few start and warm what later ones use.
  for (let round = -5; round < ROUNDS; round += 1) {
    const [one, other, third] = [
      await timeSync(ades, print),
      await timeAsync(ades, print),
      await timeWaiting(ades, print),
    ];
    if (round >= 0) {
      sync.push(one);
      async_.push(other);
      waited.push(third);
    }
  }
  const cwltool = existsSync("/usr/bin/cwltool") ? await timeCwltool() : undefined;
  const peer = cwltool && { peer: { name: "cwltool, its bare command", value: cwltool } };
  const rows: BenchRow[] = [
    {
      name: "echo package, POST to result (synchronous)",
      value: median(sync),
      unit: "ms",
      aim: "≤ 60 ms, < cwltool",
      ...peer,
      ...(cwltool !== undefined && { ratio: median(sync) / cwltool }),
      note: `median of ${ROUNDS}, p95 ${Math.round(sync.toSorted((a, b) => a - b)[Math.floor(ROUNDS * 0.95)] ?? 0)} ms`,
    },
    {
      name: "echo package, POST to status successful (asynchronous, asked every 2 ms)",
      value: median(async_),
      unit: "ms",
      aim: "≤ 60 ms",
      ...peer,
      ...(cwltool !== undefined && { ratio: median(async_) / cwltool }),
      note: `median of ${ROUNDS}`,
    },
  ];
  rows.push({
    name: "echo package, POST to status successful (asynchronous, one status request with Prefer: wait)",
    value: median(waited),
    unit: "ms",
    aim: "≤ 60 ms",
    ...peer,
    ...(cwltool !== undefined && { ratio: median(waited) / cwltool }),
    note: `median of ${ROUNDS}`,
  });
  if (await buildEchoImage()) {
    const contained = await deploy(
      ades,
      ECHO_TOOL.replace("id: say", "id: say-in-container").replace(
        "baseCommand",
        `requirements: { DockerRequirement: { dockerPull: "${IMAGE}" } }\nbaseCommand`,
      ),
    );
    const times: number[] = [];
    for (let round = -1; round < 7; round += 1) {
      const time = await timeSync(ades, contained);
      times.push(...(round < 0 ? [] : [time]));
    }
    const bare: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const started = performance.now();
      await run("/usr/bin/podman", [
        "run",
        "--rm",
        "--network=none",
        "--ulimit=nofile=1024:1024",
        "--ulimit=nproc=1024:1024",
        IMAGE,
        "/bin/echo",
        "hi",
      ]);
      bare.push(performance.now() - started);
    }
    rows.push({
      name: "the same in a podman container",
      value: median(times),
      unit: "ms",
      peer: { name: "bare podman run", value: median(bare) },
      ratio: median(times) / median(bare),
      note: "median of 7",
    });
    await run("/usr/bin/podman", ["rmi", "--force", IMAGE]);
  }
  return rows;
}

async function benchQueue(ades: TestAdes, print: string): Promise<BenchRow[]> {
  const memoryBefore = memoryOf(ades.pid());
  const started = performance.now();
  for (let sent = 0; sent < QUEUED; sent += 10) {
    await Promise.all(
      Array.from({ length: 10 }, () =>
        ades.send(print, { json: { inputs: { text: "queued" } }, headers: { prefer: "respond-async" } }),
      ),
    );
  }
  const accepted = performance.now();
  const half = { memory: memoryOf(ades.pid()), isPassed: false };
  let waiting = await countUnfinished(ades);
  while (waiting > 0 && performance.now() - started < TIMEOUT * 1000) {
    if (!half.isPassed && waiting < QUEUED / 2) {
      half.memory = memoryOf(ades.pid());
      half.isPassed = true;
    }
    await sleep(250);
    waiting = await countUnfinished(ades);
  }
  const seconds = (performance.now() - started) / 1000;
  const done = QUEUED - waiting;
  const memoryAfter = memoryOf(ades.pid());
  const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
  return [
    {
      name: `${QUEUED} queued jobs drained, 2 at a time`,
      value: done / seconds,
      unit: "jobs/s",
      note: `${done} in ${Math.round(seconds)} s; accepted at ${Math.round((QUEUED * 1000) / (accepted - started))} a second`,
    },
    {
      name: "growth of memory over the second half of them",
      value: mebibytes(memoryAfter) - mebibytes(half.memory),
      unit: "MiB",
      aim: "none that goes on",
      note: `service and runners: ${mebibytes(memoryBefore)} MiB before, ${mebibytes(memoryAfter)} MiB after`,
    },
  ];
}

async function benchList(ades: TestAdes): Promise<BenchRow> {
  const { pool, close } = await openDatabase({ url: ades.postgres.url, schema: "ades", onError: () => {} });
  await pool.query(`
    insert into job (owner, process_id, process_version, status, message, request, progress, created_at, started_at, finished_at)
    select 'lister', 'p' || i % 20, 1, case when i % 10 = 0 then 'failed' else 'successful' end, 'The job is done.', '{"inputs": {}}',
      100, now() - i * interval '1 minute', now() - i * interval '1 minute', now() - i * interval '1 minute' + interval '20 seconds'
    from generate_series(1, ${LISTED}) i`);
  await pool.query("vacuum analyze job");
  await close();
  const times: number[] = [];
  for (let round = -10; round < 200; round += 1) {
    const query = ["limit=20", "limit=20&status=failed", "limit=20&processID=p3", "limit=100"][(round + 12) % 4];
    const started = performance.now();
    const { status, body } = await ades.send(`/lister/ogc-api/jobs?${query}`);
    const time = performance.now() - started;
    if (status !== 200 || body.jobs.length < 20) {
      throw new Error(`the job list answers ${status}`);
    }
    times.push(...(round < 0 ? [] : [time]));
  }
  const sorted = times.toSorted((a, b) => a - b);
  return {
    name: `job list of ${LISTED.toLocaleString("en")} jobs, p99`,
    value: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    unit: "ms",
    aim: "≤ 20 ms",
    note: `median ${median(times).toFixed(1)} ms; plain, by status, by process, pages of 20 and 100`,
  };
}

async function deploy(ades: TestAdes, text: string): Promise<string> {
  const { status, body } = await ades.send("/eric/ogc-api/processes", { text, type: "application/cwl" });
  if (status !== 201) {
    throw new Error(`cannot deploy: ${JSON.stringify(body)}`);
  }
  return `/eric/ogc-api/processes/${body.id}/execution`;
}

async function timeSync(ades: TestAdes, execution: string): Promise<number> {
  const started = performance.now();
  const { status, body } = await ades.send(execution, { json: { inputs: { text: "hi" } } });
  if (status !== 200) {
    throw new Error(`the job was not successful: ${JSON.stringify(body)}`);
  }
  return performance.now() - started;
}

async function timeAsync(ades: TestAdes, execution: string): Promise<number> {
  const started = performance.now();
  const { headers } = await ades.send(execution, {
    json: { inputs: { text: "hi" } },
    headers: { prefer: "respond-async" },
  });
  const location = headers.get("location") ?? "";
  for (;;) {
    const { body } = await ades.send(location);
    if (body.status === "successful") {
      return performance.now() - started;
    }
    if (body.status === "failed") {
      throw new Error(body.message);
    }
    await sleep(2);
  }
}

async function timeWaiting(ades: TestAdes, execution: string): Promise<number> {
  const started = performance.now();
  const { headers } = await ades.send(execution, {
    json: { inputs: { text: "hi" } },
    headers: { prefer: "respond-async" },
  });
  const { body } = await ades.send(headers.get("location") ?? "", { headers: { prefer: "wait=60" } });
  if (body.status !== "successful") {
    throw new Error(body.message);
  }
  return performance.now() - started;
}

async function timeCwltool(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "swath-bench-"));
  try {
    writeFileSync(join(folder, "say.cwl"), ECHO_TOOL);
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const started = performance.now();
      await run("/usr/bin/cwltool", ["--quiet", "--no-container", "say.cwl", "--text", "hi"], { cwd: folder });
      times.push(performance.now() - started);
    }
    return median(times);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An image of one static program; false where it cannot be made or run. */
async function buildEchoImage(): Promise<boolean> {
  if (!existsSync("/usr/bin/podman") || !existsSync("/bin/busybox")) {
    return false;
  }
  const folder = mkdtempSync(join(tmpdir(), "swath-bench-"));
  try {
    for (const name of ["bin", "tmp", "etc", "proc", "sys", "dev", "run", "var"]) {
      mkdirSync(join(folder, "root", name), { recursive: true });
    }
    writeFileSync(join(folder, "root/bin/busybox"), readFileSync("/bin/busybox"), { mode: 0o755 });
    writeFileSync(join(folder, "root/bin/echo"), readFileSync("/bin/busybox"), { mode: 0o755 });
    await run("/usr/bin/tar", ["-C", join(folder, "root"), "-cf", join(folder, "image.tar"), "."]);
    await run("/usr/bin/podman", ["import", "--change", "ENV PATH=/bin", join(folder, "image.tar"), IMAGE]);
    return true;
  } catch (error) {
    console.error(`no container row: ${(error as Error).message}`);
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function countUnfinished(ades: TestAdes): Promise<number> {
  const [waiting, running] = await Promise.all(
    ["accepted", "running"].map(
      async (status) =>
        (await ades.send(`/eric/ogc-api/jobs?status=${status}&limit=1`)).body as {
          jobs: unknown[];
          numberTotal?: number;
        },
    ),
  );
  return (waiting?.numberTotal ?? waiting?.jobs.length ?? 0) + (running?.numberTotal ?? running?.jobs.length ?? 0);
}

/** Bytes of a process and its children, shared pages in part. */
function memoryOf(pid: number): number {
  const children = readdirSync("/proc").filter((name) => {
    try {
      return (
        /^\d+$/.test(name) && new RegExp(`^PPid:\\s+${pid}$`, "m").test(readFileSync(`/proc/${name}/status`, "utf8"))
      );
    } catch {
      return false;
    }
  });
  return [String(pid), ...children].reduce((sum, name) => {
    try {
      return (
        sum + Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${name}/smaps_rollup`, "utf8"))?.[1] ?? 0) * 1024
      );
    } catch {
      return sum;
    }
  }, 0);
}
