import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";

import { type Database, openDatabase } from "@swath/postgres";
import { type TestServer, startTestServer } from "@swath/postgres/server";
import { compiledCode, findFreePort, programFile, waitUntil } from "@swath/testing";

const SECRET = "secret-of-the-tests";

/** The operator as a process of its own over a new database. */
export interface TestOperator {
  readonly url: string;
  readonly start: () => Promise<void>;
  readonly kill: (signal: "SIGKILL" | "SIGTERM") => Promise<void>;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly send: (method: string, path: string, body?: object) => Promise<{ status: number; body: any }>;
  readonly waitFor: (name: string, reason: string) => Promise<unknown>;
  readonly waitGone: (name: string) => Promise<unknown>;
  /** Takes the leases of an operator that was killed away, which otherwise end by themselves after minutes. */
  readonly endLeases: () => Promise<unknown>;
  readonly log: () => string;
  readonly close: () => Promise<void>;
}

/** @param cloud settings of the cloud that buckets are made in */
export async function startOperator(cloud: Readonly<Record<string, string>>): Promise<TestOperator> {
  const postgres: TestServer = await startTestServer();
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  let operator: ChildProcess | undefined;
  let log = "";
  const start = async () => {
    operator = spawn(process.execPath, [programFile("bucket-operator/main.ts")], {
      env: {
        ...compiledCode,
        DATABASE_URL: postgres.url,
        API_SECRET: SECRET,
        LISTEN: `127.0.0.1:${port}`,
        USER_EMAIL_PATTERN: "swath+<name>@example.org",
        RECONCILE_INTERVAL: "1h",
        ...cloud,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [operator.stdout, operator.stderr]) {
      stream?.on("data", (data: Buffer) => (log += data.toString()));
    }
    await waitUntil("the operator answers", async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok);
  };
  const kill: TestOperator["kill"] = async (signal) => {
    const running = operator;
    if (running !== undefined && running.exitCode === null && running.signalCode === null) {
      const ended = new Promise((resolve) => running.once("exit", resolve));
      running.kill(signal);
      await ended;
    }
  };
  const send: TestOperator["send"] = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${SECRET}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text };
  };
  await start();
  const database: Database<unknown> = await openDatabase({
    url: postgres.url,
    schema: "bucket_operator",
    onError: () => {},
  });
  return {
    url,
    start,
    kill,
    send,
    waitFor: (name, reason) =>
      waitUntil(`${name} is ${reason}`, async () => {
        const { body } = await send("GET", `/buckets/${name}`);
        // What it is instead is told with the failure.
        assert.equal(body.reason, reason, body.message);
        return true;
      }),
    waitGone: (name) =>
      waitUntil(`${name} is gone`, async () => (await send("GET", `/buckets/${name}`)).status === 404),
    endLeases: () => database.pool.query("update bucket set lease_until = null, next_at = now()"),
    log: () => log,
    close: async () => {
      await kill("SIGTERM");
      await database.close();
      await postgres.close();
    },
  };
}
