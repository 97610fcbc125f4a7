import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { startTestServer } from "@swath/postgres/server";

import type { BenchRow } from "./types.ts";

const WORKSPACES = 200;
const root = join(import.meta.dirname, "..");
const ROOT_USER = "root";
const ROOT_PASSWORD = "only for this measurement";

/** Two hundred workspaces asked for at once: answers, until all are ready, and memory. */
export async function bench(): Promise<BenchRow[]> {
  const postgres = await startTestServer();
  const folder = mkdtempSync(join(tmpdir(), "swath-bench-"));
  const [s3, admin, api, internal] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const at = (port: number | undefined) => `127.0.0.1:${port ?? 0}`;
  const children: ChildProcess[] = [];
  const start = (file: string, env: Record<string, string>): ChildProcess => {
    const child = spawn(process.execPath, [join(root, "components", file)], {
      env: { LOG_LEVEL: "error", DATABASE_URL: postgres.url, ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    children.push(child);
    return child;
  };
  const objstore = { OBJSTORE_ROOT_USER: ROOT_USER, OBJSTORE_ROOT_PASSWORD: ROOT_PASSWORD };
  try {
    start("objstore/main.ts", {
      ...objstore,
      DATA_DIR: folder,
      PUBLIC_URL: `http://${at(s3)}`,
      LISTEN: at(s3),
      LISTEN_CONSOLE: at(admin),
      OBJSTORE_RESERVED_MIB: "1",
    });
    const url = `http://${at(api)}`;
    const service = start("workspace-api/main.ts", {
      PUBLIC_URL: url,
      AUTHENTICATION: "optional",
      INTERNAL_SECRET: "secret",
      S3_ENDPOINT: `http://${at(s3)}`,
      LISTEN: at(api),
      LISTEN_INTERNAL: at(internal),
    });
    await responses(`${url}/healthz`);
    await responses(`http://${at(admin)}/healthz`);
    const reconciler = start("workspace-api/reconciler/main.ts", {
      ...objstore,
      OBJSTORE_ADMIN_URL: `http://${at(admin)}`,
      OBJSTORE_URL: `http://${at(s3)}`,
    });
    await sleep(1500);
    return await measure(url, service, reconciler);
  } finally {
    children.forEach((child) => child.kill("SIGKILL"));
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(url: string, service: ChildProcess, reconciler: ChildProcess): Promise<BenchRow[]> {
  const started = performance.now();
  const statuses = await Promise.all(
    Array.from({ length: WORKSPACES }, async (_, index) => {
      const response = await fetch(`${url}/workspaces`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ preferred_name: `user${index}`, default_owner: `user${index}` }),
      });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  const answered = performance.now() - started;
  if (statuses.some((status) => status !== 201)) {
    throw new Error(`some were refused: ${[...new Set(statuses)].join(", ")}`);
  }
  for (;;) {
    const response = await fetch(`${url}/workspaces?limit=1000`);
    const { workspaces } = (await response.json()) as { workspaces: readonly { status: string }[] };
    if (workspaces.filter(({ status }) => status === "ready").length === WORKSPACES) {
      break;
    }
    if (performance.now() - started > 120_000) {
      throw new Error("not all are ready after two minutes");
    }
    await sleep(50);
  }
  const ready = performance.now() - started;
  return [
    { name: `workspaces: ${WORKSPACES} at once, all answered`, value: answered / 1000, unit: "s" },
    {
      name: `workspaces: ${WORKSPACES} at once, all ready`,
      value: ready / 1000,
      unit: "s",
      note: `${Math.round((WORKSPACES / ready) * 1000)} a second, each with a bucket, a user, keys and a quota`,
    },
    { name: "workspaces: memory of the API, peak", value: peakMebibytes(service), unit: "MiB" },
    { name: "workspaces: memory of the reconciler, peak", value: peakMebibytes(reconciler), unit: "MiB" },
  ];
}

/** VmHWM: the most memory that a process ever had resident. */
function peakMebibytes({ pid }: ChildProcess): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid ?? 0}/status`, "utf8"))?.[1]) / 1024;
}

async function responses(url: string): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if ((await fetch(url).catch(() => undefined))?.ok) {
      return;
    }
    await sleep(50);
  }
  throw new Error(`${url} does not answer`);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
