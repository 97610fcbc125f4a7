// The ingress beside nginx (one worker), both in front of the same upstream, in the same run; and what large bodies do to its memory.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { BenchRow } from "./types.ts";

const NGINX = ["/usr/sbin/nginx", "/usr/bin/nginx"].find(existsSync);
const WRK = "/usr/bin/wrk";
const PORTS = { nginx: 19_871, ingress: 19_872 } as const;
const ROUNDS = 3;
const BODY_BYTES = 2 * 1024 ** 3;

/** Needs Debian's nginx and wrk. */
export async function bench(): Promise<BenchRow[]> {
  if (NGINX === undefined || !existsSync(WRK)) {
    throw new Error("this benchmark needs Debian's packages nginx and wrk: apt-get install nginx wrk");
  }
  const folder = mkdtempSync(join(tmpdir(), "swath-bench-ingress-"));
  // Started as root, nginx reads files as another user.
  chmodSync(folder, 0o755);
  const large = createServer((incoming, outgoing) => {
    if (incoming.method === "PUT") {
      incoming.resume().on("end", () => outgoing.end("taken"));
      return;
    }
    outgoing.writeHead(200, { "content-length": BODY_BYTES });
    const chunk = Buffer.alloc(256 * 1024);
    let left = BODY_BYTES;
    const fill = () => {
      while (left > 0) {
        left -= chunk.length;
        if (!outgoing.write(chunk)) {
          outgoing.once("drain", fill);
          return;
        }
      }
      outgoing.end();
    };
    fill();
  });
  const started: ChildProcess[] = [];
  try {
    mkdirSync(join(folder, "www"));
    writeFileSync(join(folder, "www/4k"), Buffer.alloc(4096, "x"));
    writeFileSync(join(folder, "www/small"), "hello");
    for (const [name, config] of [
      ["upstream.conf", upstreamConfig(folder)],
      ["proxy.conf", proxyConfig(folder)],
    ] as const) {
      writeFileSync(join(folder, name), config);
      started.push(spawn(NGINX, ["-c", join(folder, name), "-p", folder], { stdio: "ignore" }));
    }
    large.listen(join(folder, "large.sock"));
    writeFileSync(join(folder, "ingress.json"), ingressConfig(folder));
    const ingress = spawn(
      process.execPath,
      [join(import.meta.dirname, "../cli/targets/embedded/ingress/main.ts")],
      // A log that is written and thrown away costs what a log costs, without filling the disk.
      // Memory settings are those the supervisor gives it.
      {
        env: { ...process.env, INGRESS_CONFIG: join(folder, "ingress.json"), NODE_OPTIONS: "--max-semi-space-size=4" },
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
    started.push(ingress);
    await Promise.all([untilListening(PORTS.nginx), untilListening(PORTS.ingress)]);
    return [...measureRequests(), ...(await measureMemory(ingress.pid as number))];
  } finally {
    large.closeAllConnections();
    large.close();
    for (const child of started) {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

function measureRequests(): BenchRow[] {
  const rows: BenchRow[] = [];
  for (const path of ["small", "4k"]) {
    const results = { nginx: [] as Load[], ingress: [] as Load[] };
    for (let round = 0; round <= ROUNDS; round++) {
      for (const who of ["nginx", "ingress"] as const) {
        const load = runWrk(`http://127.0.0.1:${PORTS[who]}/${path}`);
        // The first round warms both up.
        if (round > 0) {
          results[who].push(load);
        }
      }
    }
    const rate = (who: "nginx" | "ingress") => median(results[who].map(({ perSecond }) => perSecond));
    const p99 = (who: "nginx" | "ingress") => median(results[who].map((load) => load.p99));
    const what = path === "small" ? "5-byte answers" : "4 KiB answers";
    rows.push(
      {
        name: `ingress, ${what}`,
        value: rate("ingress"),
        unit: "requests/s",
        aim: "≥ 0.5 × nginx",
        peer: { name: "nginx, 1 worker", value: rate("nginx") },
        ratio: rate("ingress") / rate("nginx"),
        note: "64 kept connections; ours with its access log, nginx without",
      },
      {
        name: `ingress, ${what}, p99`,
        value: p99("ingress"),
        unit: "ms",
        peer: { name: "nginx, 1 worker", value: p99("nginx") },
        ratio: p99("ingress") / p99("nginx"),
      },
    );
  }
  return rows;
}

async function measureMemory(pid: number): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const method of ["GET", "PUT"] as const) {
    const before = residentBytes(pid);
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, residentBytes(pid));
    }, 50);
    await transfer(method);
    clearInterval(timer);
    rows.push({
      name: `ingress, memory growth, 2 GiB ${method === "GET" ? "down" : "up"}`,
      value: Math.round((peak - before) / 1e6),
      unit: "MB",
      aim: "< 40 MB",
    });
  }
  return rows;
}

function transfer(method: "GET" | "PUT"): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { host: "large.test", ...(method === "PUT" && { "content-length": BODY_BYTES }) };
    const sent = request({ port: PORTS.ingress, host: "127.0.0.1", method, headers, agent: false }, (response) => {
      response.resume().on("end", resolve).on("error", reject);
    });
    sent.on("error", reject);
    if (method === "GET") {
      sent.end();
      return;
    }
    const chunk = Buffer.alloc(256 * 1024);
    let left = BODY_BYTES;
    const fill = () => {
      while (left > 0) {
        left -= chunk.length;
        if (!sent.write(chunk)) {
          sent.once("drain", fill);
          return;
        }
      }
      sent.end();
    };
    fill();
  });
}

interface Load {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p99: number;
}

function runWrk(url: string): Load {
  const text = execFileSync(WRK, ["-t1", "-c64", "-d2s", "--latency", url], { encoding: "utf8" });
  if (/Non-2xx|Socket errors/.test(text)) {
    throw new Error(`wrk met errors at ${url}:\n${text}`);
  }
  const [, p99 = "", unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  const scale = { us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN;
  return { perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]), p99: Number(p99) * scale };
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const socket = connect(port, "127.0.0.1");
    const open = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (open) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on port ${port}`);
}

/** What both proxies lead to: an nginx of its own, so that neither shares a process with it. */
function upstreamConfig(folder: string): string {
  return nginxConfig(
    folder,
    "upstream",
    `server { listen unix:${folder}/pod.sock; location / { root ${folder}/www; } }`,
  );
}

function proxyConfig(folder: string): string {
  return nginxConfig(
    folder,
    "proxy",
    `upstream pod { server unix:${folder}/pod.sock; keepalive 128; keepalive_requests 10000000; }
  server { listen 127.0.0.1:${PORTS.nginx}; location / { proxy_pass http://pod; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; } }`,
  );
}

function nginxConfig(folder: string, name: string, servers: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${name}-${kind};`,
  );
  return `worker_processes 1; daemon off; pid ${folder}/${name}.pid; error_log ${folder}/${name}.log;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 10000000; ${temporary.join(" ")}
  ${servers}
}
`;
}

function ingressConfig(folder: string): string {
  const route = (host: string, socket: string) => ({
    host,
    service: "bench",
    namespace: "bench",
    upstream: { socketPath: join(folder, socket) },
    ready: true,
  });
  return JSON.stringify({
    listeners: [{ address: "127.0.0.1", port: PORTS.ingress, tls: false }],
    sslRedirect: false,
    routes: [route("127.0.0.1", "pod.sock"), route("large.test", "large.sock")],
    tls: { certificates: [] },
  });
}
