import { spawn } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { openFormConnection } from "./form-connection.ts";
import { median } from "./median.ts";
import { PASSWORD, SECRET, startBenchIdentity } from "./start-identity.ts";
import { CHAINS, SECONDS, load } from "./token-load.ts";
import type { BenchRow } from "./types.ts";

/** Tokens a second: by the clock, and by the processor time of the service, which is what one core gives. */
export async function bench(): Promise<BenchRow[]> {
  const identity = await startBenchIdentity(["eric", "bob", "alice"]);
  try {
    return await measure(identity.url, identity.process.pid ?? 0);
  } finally {
    await identity.close();
  }
}

async function measure(url: string, service: number): Promise<BenchRow[]> {
  const endpoint = `${url}/realms/master/protocol/openid-connect/token`;
  const token = async (form: Record<string, string>): Promise<Record<string, string>> => {
    const response = await fetch(endpoint, { method: "POST", body: new URLSearchParams(form) });
    const body = (await response.json()) as Record<string, string>;
    if (!response.ok) {
      throw new Error(`the token endpoint answers ${response.status}: ${JSON.stringify(body)}`);
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
    const most = await measureSigningServer(algorithm, chains[0]?.["refresh_token"] ?? "");
    rows.push({
      name: `identity: refreshed tokens/s of one core beside a server that only signs, ${algorithm}`,
      value: refresh.perCore,
      unit: "/s",
      peer: { name: "a server of Node.js that reads the form, signs once and answers", value: most },
      ratio: refresh.perCore / most,
      note: `what can be reached at most: that server is at ${(most / limit).toFixed(2)} × bare signatures, without database, check or claims`,
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

  const pages = await timeLoginPages(url);
  rows.push({
    name: "identity: p50 of a login page",
    value: median(pages),
    unit: "ms",
    aim: "≤ 15 ms",
    note: "authorization request, redirect and page; one after another",
  });

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

/** Tokens a second of one core that the least possible token endpoint gives. */
async function measureSigningServer(algorithm: string, refreshToken: string): Promise<number> {
  const server = spawn(process.execPath, [join(import.meta.dirname, "signing-server.ts"), algorithm], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [port] = (await once(server.stdout, "data")) as [Buffer];
    const endpoint = `http://127.0.0.1:${Number(port.toString())}/token`;
    const connections = await Promise.all(Array.from({ length: CHAINS }, () => openFormConnection(endpoint)));
    const form = { grant_type: "refresh_token", client_id: "admin-cli", refresh_token: refreshToken };
    const { perCore } = await load(server.pid ?? 0, async (lane) => {
      await connections[lane]?.post(form);
    });
    connections.forEach((connection) => connection.close());
    return perCore;
  } finally {
    server.kill();
  }
}

const LOGIN_PAGES = 150;

/** Milliseconds from an authorization request to the whole login page. */
async function timeLoginPages(url: string): Promise<readonly number[]> {
  const query = new URLSearchParams({
    client_id: "security-admin-console",
    response_type: "code",
    scope: "openid",
    redirect_uri: `${url}/console`,
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  const times: number[] = [];
  for (let count = 0; count < LOGIN_PAGES; count += 1) {
    const started = performance.now();
    const first = await fetch(`${url}/realms/master/protocol/openid-connect/auth?${query.toString()}`, {
      redirect: "manual",
    });
    await first.arrayBuffer();
    const cookie = first.headers
      .getSetCookie()
      .map((text) => text.split(";", 1)[0])
      .join("; ");
    const page = await fetch(new URL(first.headers.get("location") ?? "/", url), { headers: { cookie } });
    const text = await page.text();
    if (!page.ok || !text.includes('type="password"')) {
      throw new Error(`the login page answers ${page.status}: ${text.slice(0, 300)}`);
    }
    times.push(performance.now() - started);
  }
  return times.slice(LOGIN_PAGES / 5);
}

async function latencies(url: string, seconds: number): Promise<readonly number[]> {
  const times: number[] = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    const started = performance.now();
    await (await fetch(`${url}/realms/master/protocol/openid-connect/certs`)).arrayBuffer();
    times.push(performance.now() - started);
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
  const rounds = algorithm === "RS256" ? 2000 : 20_000;
  // Processor time, as the service is measured by: on a busy machine the clock says half of it.
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) {
    sign("sha256", data, privateKey);
  }
  const { user, system } = process.cpuUsage(before);
  return rounds / ((user + system) / 1_000_000);
}
