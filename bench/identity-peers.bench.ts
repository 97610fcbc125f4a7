import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { findFreePort } from "@swath/testing";

import { openFormConnection } from "./form-connection.ts";
import { PASSWORD, startBenchIdentity } from "./start-identity.ts";
import { CHAINS, SECONDS, load } from "./token-load.ts";
import type { BenchRow } from "./types.ts";

const START_TIMEOUT_MS = 180_000;
/** Java translates what is used often; until then it is no measure. */
const WARM_UP_SECONDS = 25;

/** What one of the two is measured by. */
interface Measured {
  readonly startSeconds: number;
  readonly megabytes: number;
  readonly refreshPerCore: number;
  readonly refreshPerSecond: number;
  readonly loginsPerSecond: number;
}

/**
 * The identity service beside Keycloak: `KEYCLOAK_HOME` is its unpacked distribution (Maven: `org.keycloak:keycloak-quarkus-dist`, zip).
 * Both sign RS256, and log in an administrator by the password grant of `admin-cli`.
 */
export async function bench(): Promise<BenchRow[]> {
  const home = process.env["KEYCLOAK_HOME"];
  if (home === undefined) {
    console.error("skipped: set KEYCLOAK_HOME to an unpacked distribution of Keycloak");
    return [];
  }
  const ours = await measureOurs();
  const theirs = await measureKeycloak(home);
  const row = (name: string, of: keyof Measured, unit: string, note: string): BenchRow => ({
    name: `identity beside Keycloak: ${name}`,
    value: ours[of],
    unit,
    peer: { name: "Keycloak", value: theirs[of] },
    ratio: ours[of] / theirs[of],
    note,
  });
  return [
    row(
      "refreshed tokens/s of one core",
      "refreshPerCore",
      "/s",
      "RS256; ours with PostgreSQL apart, Keycloak with H2 inside",
    ),
    row(
      "refreshed tokens/s by the clock",
      "refreshPerSecond",
      "/s",
      `${CHAINS} sessions at once, load generator on the same machine`,
    ),
    row(
      "password grants/s",
      "loginsPerSecond",
      "/s",
      "ours argon2id with 19 MiB, Keycloak as it comes (argon2 with 7 MiB, 5 rounds)",
    ),
    row("memory after that", "megabytes", "MB", "resident, without PostgreSQL"),
    row("start until tokens are given", "startSeconds", "s", "a service that was set up before"),
  ];
}

async function measureOurs(): Promise<Measured> {
  const { url, process: service, startSeconds, close } = await startBenchIdentity(["eric"]);
  try {
    return { startSeconds, ...(await measure(url, PASSWORD, service.pid ?? 0)) };
  } finally {
    await close();
  }
}

async function measureKeycloak(home: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "swath-keycloak-"));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const run = (...args: readonly string[]): ChildProcess =>
    spawn(join(home, "bin/kc.sh"), args, {
      env: {
        ...process.env,
        KC_BOOTSTRAP_ADMIN_USERNAME: "admin",
        KC_BOOTSTRAP_ADMIN_PASSWORD: PASSWORD,
      },
      stdio: ["ignore", "ignore", "inherit"],
    });
  const start = () =>
    run(
      "start",
      "--optimized",
      "--cache=local",
      "--http-enabled=true",
      "--http-host=127.0.0.1",
      `--http-port=${port}`,
      "--hostname-strict=false",
      `--db-url=jdbc:h2:file:${join(folder, "keycloak")};NON_KEYWORDS=VALUE`,
      "--log-level=warn",
    );
  try {
    await ended(run("build", "--db=dev-file", "--health-enabled=false"));
    // The first start makes the database.
    const first = start();
    await waitForResponse(`${url}/realms/master`);
    await end(first);
    const started = performance.now();
    const service = start();
    try {
      await waitForResponse(`${url}/realms/master`);
      const startSeconds = (performance.now() - started) / 1000;
      return { startSeconds, ...(await measure(url, PASSWORD, findJava(service.pid ?? 0))) };
    } finally {
      await end(service);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(url: string, password: string, pid: number): Promise<Omit<Measured, "startSeconds">> {
  const endpoint = `${url}/realms/master/protocol/openid-connect/token`;
  const login = { grant_type: "password", client_id: "admin-cli", username: "admin", password };
  const connections = await Promise.all(Array.from({ length: CHAINS }, () => openFormConnection(endpoint)));
  const chains: Record<string, string>[] = [];
  for (const connection of connections) {
    chains.push(await connection.post(login));
  }
  const refresh = await load(
    pid,
    async (lane) => {
      chains[lane] = await connectionOf(lane).post({
        grant_type: "refresh_token",
        client_id: "admin-cli",
        refresh_token: chains[lane]?.["refresh_token"] ?? "",
      });
    },
    WARM_UP_SECONDS,
  );
  let logins = 0;
  const until = performance.now() + SECONDS * 1000;
  await Promise.all(
    connections.slice(0, 8).map(async (connection) => {
      while (performance.now() < until) {
        await connection.post(login);
        logins += 1;
      }
    }),
  );
  connections.forEach((connection) => connection.close());
  return {
    refreshPerCore: refresh.perCore,
    refreshPerSecond: refresh.perSecond,
    loginsPerSecond: logins / SECONDS,
    megabytes: residentMegabytes(pid),
  };

  function connectionOf(lane: number) {
    return connections[lane] as (typeof connections)[number];
  }
}

async function waitForResponse(address: string): Promise<void> {
  const until = performance.now() + START_TIMEOUT_MS;
  while (!(await fetch(address).catch(() => undefined))?.ok) {
    if (performance.now() > until) {
      throw new Error(`${address} does not answer`);
    }
    await sleep(50);
  }
}

/** The script starts Java as its child, or becomes it. */
function findJava(pid: number): number {
  if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "java") {
    return pid;
  }
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" "),
  );
  const [child] = children.filter((text) => text !== "").map(Number);
  if (child === undefined) {
    throw new Error("Keycloak's Java is not found");
  }
  return findJava(child);
}

function residentMegabytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

async function ended(child: ChildProcess): Promise<void> {
  const status = await new Promise((resolve) => child.once("close", resolve));
  if (status !== 0) {
    throw new Error(`${child.spawnargs.join(" ")} ended with status ${String(status)}`);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) {
    return;
  }
  const closed = new Promise((resolve) => child.once("close", resolve));
  process.kill(findJava(child.pid ?? 0), "SIGTERM");
  await closed;
}
