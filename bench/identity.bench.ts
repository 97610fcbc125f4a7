import type { ChildProcess } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { openFormConnection } from "./form-connection.ts";
import { median } from "./median.ts";
import { PASSWORD, SECRET, startBenchIdentity } from "./start-identity.ts";
import type { BenchRow } from "./types.ts";

const CHAINS = 24;
const SECONDS = 4;
/** Clock ticks a second in /proc (sysconf(_SC_CLK_TCK) is 100 on every Linux that Node runs on). */
const TICKS = 100;

/** Tokens a second: by the clock, and by the processor time of the service, which is what one core gives. */
export async function bench(): Promise<BenchRow[]> {
  const identity = await startBenchIdentity(["eric", "bob", "alice"]);
  try {
    return await measure(identity.url, identity.process);
  } finally {
    await identity.close();
  }
}

async function measure(url: string, service: ChildProcess): Promise<BenchRow[]> {
  const endpoint = `${url}/realms/master/protocol/openid-connect/token`;
  const token = async (form: Record<string, string>): Promise<Record<string, string>> => {
    const answer = await fetch(endpoint, { method: "POST", body: new URLSearchParams(form) });
    const body = (await answer.json()) as Record<string, string>;
    if (!answer.ok) {
      throw new Error(`the token endpoint answers ${answer.status}: ${JSON.stringify(body)}`);
    }
    return body;
  };
  const logIn = (username: string) =>
    token({ grant_type: "password", client_id: "admin-cli", username, password: PASSWORD });
  const rows: BenchRow[] = [];

  for (const algorithm of ["RS256", "ES256"] as const) {
    const { access_token: admin } = await logIn("admin");
    await fetch(`${url}/admin/realms/master`, {
      method: "PUT",
      headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
      body: JSON.stringify({ defaultSignatureAlgorithm: algorithm }),
    });
    const limit = signaturesPerSecond(algorithm);
    const chains = await Promise.all(Array.from({ length: CHAINS }, () => logIn("eric")));
    const connections = await Promise.all(chains.map(() => openFormConnection(endpoint)));
    const post = (lane: number, form: Record<string, string>) =>
      (connections[lane] as (typeof connections)[number]).post(form);
    const refresh = await load(service, async (lane) => {
      const current = chains[lane] as Record<string, string>;
      chains[lane] = await post(lane, {
        grant_type: "refresh_token",
        client_id: "admin-cli",
        refresh_token: current["refresh_token"] ?? "",
        scope: "profile email",
      });
    });
    const peer = { name: `bare ${algorithm} signatures on one core`, value: limit };
    rows.push({
      name: `identity: refreshed tokens/s of one core, ${algorithm}`,
      value: refresh.perCore,
      unit: "/s",
      aim: "≥ 0.8 × bare signatures",
      peer,
      ratio: refresh.perCore / limit,
      note: `${Math.round(refresh.perSecond)}/s by the clock, load generator and PostgreSQL on the same machine; p50 ${refresh.p50.toFixed(1)} ms`,
    });
    const client = await load(service, async (lane) => {
      await post(lane, { grant_type: "client_credentials", client_id: "service", client_secret: SECRET });
    });
    connections.forEach((connection) => connection.close());
    rows.push({
      name: `identity: client-credentials tokens/s of one core, ${algorithm}`,
      value: client.perCore,
      unit: "/s",
      aim: "≥ 1,500/s",
      peer,
      ratio: client.perCore / limit,
      note: `${Math.round(client.perSecond)}/s by the clock`,
    });
  }

  const quiet = await latencies(url, SECONDS);
  let stop = false;
  let logins = 0;
  const started = performance.now();
  const lanes = Array.from({ length: 8 }, async () => {
    while (!stop) {
      await logIn("bob");
      logins += 1;
    }
  });
  const busy = await latencies(url, SECONDS);
  stop = true;
  await Promise.all(lanes);
  rows.push(
    {
      name: "identity: password grants/s",
      value: logins / ((performance.now() - started) / 1000),
      unit: "/s",
      note: "argon2id, 19 MiB, one at a time",
    },
    {
      name: "identity: p50 of the key endpoint during password grants",
      value: median(busy),
      unit: "ms",
      aim: "not slowed",
      peer: { name: "the same without", value: median(quiet) },
      ratio: median(busy) / median(quiet),
      note: "8 clients log in without pause on the same two cores",
    },
  );
  return rows;
}

interface Load {
  readonly perSecond: number;
  readonly perCore: number;
  /** Milliseconds. */
  readonly p50: number;
}

async function load(service: ChildProcess, work: (lane: number) => Promise<void>): Promise<Load> {
  const run = async (seconds: number) => {
    const times: number[] = [];
    const until = performance.now() + seconds * 1000;
    const before = cpuSeconds(service.pid ?? 0);
    const start = performance.now();
    await Promise.all(
      Array.from({ length: CHAINS }, async (_, lane) => {
        while (performance.now() < until) {
          const begun = performance.now();
          await work(lane);
          times.push(performance.now() - begun);
        }
      }),
    );
    const elapsed = (performance.now() - start) / 1000;
    return {
      perSecond: times.length / elapsed,
      perCore: times.length / (cpuSeconds(service.pid ?? 0) - before),
      p50: median(times),
    };
  };
  await run(2);
  return run(SECONDS);
}

/** Processor time that a process has used, all its threads together. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

async function latencies(url: string, seconds: number): Promise<readonly number[]> {
  const times: number[] = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    const begun = performance.now();
    await (await fetch(`${url}/realms/master/protocol/openid-connect/certs`)).arrayBuffer();
    times.push(performance.now() - begun);
    await sleep(5);
  }
  return times;
}

function signaturesPerSecond(algorithm: "RS256" | "ES256"): number {
  const { privateKey } =
    algorithm === "RS256"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const data = Buffer.alloc(800, 1);
  const rounds = algorithm === "RS256" ? 500 : 5000;
  const begun = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    sign("sha256", data, privateKey);
  }
  return rounds / ((performance.now() - begun) / 1000);
}
