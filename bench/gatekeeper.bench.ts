import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { toPolicySet } from "../components/gatekeeper/policies/declared-policies.ts";
import { ISSUER, SECRET, createTestProvider } from "../components/gatekeeper/test/test-provider.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const HOST = "dummy-service.example.org";
const ROUNDS = 15;
const REQUESTS_PER_ROUND = 300;
const THOUSAND_FOLDERS = Array.from({ length: 1000 }, (_, index) => ({
  name: `user${index}`,
  uris: [`/user${index}/*`],
  users: [`user${index}`],
}));

/** What the gatekeeper adds to a request, one after another on one connection, in turns with the bare service. */
export async function bench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "swath-bench-"));
  const at = (name: string) => join(folder, `${name}.sock`);
  const provider = await createTestProvider();
  provider.policySets.set(
    "dummy-service",
    toPolicySet("dummy-service", [{ name: "eric", uris: ["/eric/*"], users: ["eric"] }, ...THOUSAND_FOLDERS]),
  );
  await new Promise<void>((resolve) => provider.server.listen(at("identity"), resolve));
  const peer = (name: string) => `http+unix://${encodeURIComponent(at(name))}`;
  const children = [
    start("dummy-service", { LISTEN: `unix:${at("service")}` }),
    start("gatekeeper", {
      LISTEN: `unix:${at("gatekeeper")}`,
      GATEKEEPER_HOSTS: JSON.stringify({
        [HOST]: { url: `http://${HOST}`, upstream: "UPSTREAM", clientId: "dummy-service", secret: "SECRET" },
      }),
      UPSTREAM: peer("service"),
      SECRET,
      PLATFORM_DOMAIN: "example.org",
      IDENTITY_ISSUER: ISSUER,
      IDENTITY_INTERNAL_URL: peer("identity"),
      ACCEPTED_AUDIENCES: "account",
      ENCRYPTION_KEY: "only for this measurement",
    }),
  ];
  const agents = [
    new Agent({ keepAlive: true, maxSockets: 1 }),
    new Agent({ keepAlive: true, maxSockets: 1 }),
  ] as const;
  try {
    for (let tries = 0; !existsSync(at("service")) || !existsSync(at("gatekeeper")); tries += 1) {
      if (tries > 200) {
        throw new Error("the services did not start");
      }
      await sleep(50);
    }
    const headers = { host: HOST, authorization: `Bearer ${await provider.sign({}, { seconds: 3600 })}` };
    const bare = () => send(at("service"), agents[0], headers);
    const guarded = () => send(at("gatekeeper"), agents[1], headers);
    await measure(bare, REQUESTS_PER_ROUND);
    await measure(guarded, REQUESTS_PER_ROUND);
    const times = { bare: [] as number[], guarded: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      times.bare.push(...(await measure(bare, REQUESTS_PER_ROUND)));
      times.guarded.push(...(await measure(guarded, REQUESTS_PER_ROUND)));
    }
    const note = `${ROUNDS * REQUESTS_PER_ROUND} requests each, 1,001 protected resources, token verified before`;
    return [
      row("gatekeeper: added to a request, p50", median(times.guarded), median(times.bare), "≤ 0.4 ms", note),
      row(
        "gatekeeper: added to a request, p99",
        percentile99(times.guarded),
        percentile99(times.bare),
        "≤ 1.5 ms",
        note,
      ),
    ];
  } finally {
    agents.forEach((agent) => agent.destroy());
    children.forEach((child) => child.kill("SIGKILL"));
    provider.server.closeAllConnections();
    provider.server.close();
    rmSync(folder, { recursive: true });
  }
}

function row(name: string, guarded: number, bare: number, aim: string, note: string): BenchRow {
  return {
    name,
    value: guarded - bare,
    unit: "ms",
    aim,
    peer: { name: "bare service", value: bare },
    note: `${note}; through the gatekeeper ${guarded.toFixed(3)} ms`,
  };
}

function start(component: string, env: Readonly<Record<string, string>>): ChildProcess {
  const main = join(import.meta.dirname, "../components", component, "main.ts");
  return spawn(process.execPath, [main], {
    env: { PATH: process.env["PATH"], LOG_LEVEL: "error", ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

async function measure(work: () => Promise<void>, times: number): Promise<readonly number[]> {
  const milliseconds: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const started = performance.now();
    await work();
    milliseconds.push(performance.now() - started);
  }
  return milliseconds;
}

function send(socketPath: string, agent: Agent, headers: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    httpRequest({ socketPath, agent, path: "/eric/x", headers }, (response) => {
      response.resume();
      response.on("end", () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`it answered ${response.statusCode}`)),
      );
    })
      .on("error", reject)
      .end();
  });
}

function percentile99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}
