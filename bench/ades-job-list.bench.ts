import { openDatabase } from "@swath/postgres";
import { startTestServer } from "@swath/postgres/server";
import { createLogger, loadSettings } from "@swath/service";
import { readyServer } from "@swath/service/fastify";
import { sql } from "kysely";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { settings as definitions } from "../components/ades/config.ts";
import { createProcessingService } from "../components/ades/service.ts";
import type { Tables } from "../components/ades/store/tables.ts";
import type { BenchRow } from "./types.ts";

const JOBS = 100_000;
const REQUESTS = 300;

/** The job list of a user who has 100,000 jobs, by HTTP, one request after another. */
export async function bench(): Promise<BenchRow[]> {
  const postgres = await startTestServer();
  const database = await openDatabase<Tables>({
    url: postgres.url,
    schema: "ades",
    migrations: join(import.meta.dirname, "../components/ades/migrations"),
    onError: () => {},
  });
  const environment = { DATABASE_URL: postgres.url, DATA_DIR: "/nonexistent", PUBLIC_URL: "http://127.0.0.1" };
  const app = await createProcessingService({
    db: database.db,
    settings: loadSettings(definitions, environment),
    logger: createLogger("bench", "silent"),
    untilEnded: () => Promise.resolve(),
    guard: () => Promise.resolve(),
  });
  const server = await readyServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const jobs = `http://127.0.0.1:${(server.address() as AddressInfo).port}/eric/ogc-api/jobs`;
  try {
    await sql`
      insert into job (owner, process_id, process_version, status, message, progress, request, created_at, started_at, finished_at)
      select 'eric', 'p' || n % 7, 1, case when n % 500 = 0 then 'failed' else 'successful' end, 'The job is done.', 100,
        '{"inputs":{"input_reference":"https://example.org/item.json"},"response":"raw"}',
        now() - n * interval '1 minute', now() - n * interval '1 minute', now() - n * interval '1 minute' + interval '30 seconds'
      from generate_series(1, ${sql.lit(JOBS)}) n`.execute(database.db);
    await sql`vacuum analyze job`.execute(database.db);
    const rows = [
      await measure("first page", () => `${jobs}?limit=100`),
      await measure("a page of the failed ones", () => `${jobs}?limit=100&status=failed`),
      await measure("a page anywhere in the list", followPages(`${jobs}?limit=100`)),
    ];
    return [...rows, await bareRequest(jobs.replace("/eric/ogc-api/jobs", "/healthz"))];
  } finally {
    await app.close();
    await database.close();
    await postgres.close();
  }
}

/** @param next the address of each request, from the one before and what it was answered */
async function measure(name: string, next: (body?: Page) => string): Promise<BenchRow> {
  const times: number[] = [];
  let body: Page | undefined;
  for (let request = 0; request < REQUESTS; request += 1) {
    const url = next(body);
    const started = performance.now();
    const answer = await fetch(url);
    const text = await answer.text();
    times.push(performance.now() - started);
    body = JSON.parse(text) as Page;
    if (!answer.ok) {
      throw new Error(`${url} answers ${answer.status}: ${text}`);
    }
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return {
    name: `processing: ${JOBS.toLocaleString("en")} jobs, ${name}, p99`,
    value: at(0.99),
    unit: "ms",
    aim: "≤ 20 ms",
    note: `median ${at(0.5).toFixed(1)} ms, ${REQUESTS} requests`,
  };
}

interface Page {
  readonly links: readonly { readonly rel: string; readonly href: string }[];
}

/** Follows `next` links, so that pages deep in the list are measured too. */
const followPages = (first: string) => (body?: Page) => {
  const next = body?.links.find(({ rel }) => rel === "next")?.href;
  return next === undefined ? first : `${new URL(first).origin}${new URL(next).pathname}${new URL(next).search}`;
};

/** What an answer without any work costs on this machine just now. */
async function bareRequest(url: string): Promise<BenchRow> {
  const times: number[] = [];
  for (let request = 0; request < REQUESTS; request += 1) {
    const started = performance.now();
    await (await fetch(url)).text();
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  return {
    name: "processing: an answer without work, p99",
    value: times[Math.floor(times.length * 0.99)] ?? 0,
    unit: "ms",
    note: "for comparison, in the same run",
  };
}
