import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, open, rename, rm, writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { presign } from "../components/objstore/admin/presign.ts";
import { PROCESS_ENVIRONMENT } from "../components/objstore/process-environment.ts";
import { openStore } from "../components/objstore/store/store.ts";
import { createReceiver } from "./receive-file.ts";
import type { BenchRow } from "./types.ts";

const run = promisify(execFile);
const CREDENTIAL = { id: "root", secret: "root-password-of-the-tests", token: null };
const SMALL = 4096;
const CLIENTS = [1, 16, 64];

/** Object storage beside the physical limits of the same disk and machine, in one run. Needs Debian's wrk, curl and nginx. */
export async function bench(): Promise<BenchRow[]> {
  const missing = ["/usr/bin/wrk", "/usr/bin/curl", "/usr/sbin/nginx"].filter((program) => !existsSync(program));
  if (missing.length > 0) {
    throw new Error(`this benchmark needs ${missing.join(", ")} (Debian packages wrk, curl, nginx-light)`);
  }
  const folder = await mkdtemp(join(tmpdir(), "objstore-bench-"));
  const data = join(folder, "data");
  let child: ChildProcess | undefined;
  try {
    await fill(data);
    const port = await freePort();
    child = spawn(process.execPath, [join(import.meta.dirname, "../components/objstore/main.ts")], {
      env: {
        // As the platform starts it.
        ...PROCESS_ENVIRONMENT,
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        DATA_DIR: data,
        PUBLIC_URL: `http://127.0.0.1:${port}`,
        LISTEN: `127.0.0.1:${port}`,
        LISTEN_CONSOLE: "127.0.0.1:0",
        LOG_LEVEL: "error",
        OBJSTORE_ROOT_USER: CREDENTIAL.id,
        OBJSTORE_ROOT_PASSWORD: CREDENTIAL.secret,
      },
      stdio: ["ignore", "ignore", "inherit"],
    });
    while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))) {
      await sleep(100);
    }
    const url = `http://127.0.0.1:${port}`;
    const rows = [...(await benchSmall(url, folder)), ...(await benchLarge(url, folder)), await benchListing(url)];
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024;
    return [...rows, { name: "objstore peak memory", value: Math.round(peak), unit: "MB", aim: "< 200 MB" }];
  } finally {
    child?.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

const sign = (url: string, method: "GET" | "PUT", key: string, query: Record<string, string> = {}) =>
  presign({
    publicUrl: url,
    region: "us-east-1",
    credential: CREDENTIAL,
    method,
    bucket: "bench",
    key,
    seconds: 3600,
    query,
    now: Date.now(),
  });

/** A bucket with 100,000 keys, and an empty one to write to. */
async function fill(directory: string): Promise<void> {
  const fail = (error: unknown) => {
    throw error;
  };
  const store = await openStore({ directory, onFailure: fail, onBackgroundError: fail });
  await store.buckets.create("bench", "root", Date.now());
  const listed = await store.buckets.create("listed", "root", Date.now());
  const content = { kind: "inline", data: new Uint8Array(), md5: "d41d8cd98f00b204e9800998ecf8427e" } as const;
  for (let batch = 0; batch < 100; batch += 1) {
    await store.index.mutate(() => {
      for (let n = 0; n < 1000; n += 1) {
        const key = `scenes/2024/${batch}/S2A_MSIL2A_${batch * 1000 + n}.tif`;
        store.versions.insert(listed.id, { key, size: 0, etag: content.md5, owner: "root", headers: {}, content });
      }
    });
  }
  await store.close();
}

async function benchSmall(url: string, folder: string): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const limitPut = new Map<number, number>();
  for (const clients of CLIENTS) {
    limitPut.set(clients, await measureFiles(join(folder, `files-${clients}`), clients));
  }
  const bare = createServer((_, response) =>
    response.writeHead(200, { "content-length": SMALL }).end(Buffer.alloc(SMALL)),
  );
  const bareUrl = await listen(bare);
  for (const method of ["PUT", "GET"] as const) {
    for (const clients of CLIENTS) {
      const value = await measureWrk(url, method, clients, folder);
      const peer = method === "PUT" ? (limitPut.get(clients) ?? 0) : await measureWrk(bareUrl, "GET", clients, folder);
      rows.push({
        name: `objstore ${method} 4 KiB, ${clients} clients`,
        value: Math.round(value),
        unit: "requests/s",
        aim: "≥ 0.5 × limit",
        peer: { name: method === "PUT" ? "write + fsync + rename" : "bare HTTP server", value: Math.round(peer) },
        ratio: value / peer,
      });
    }
  }
  bare.close();
  bare.closeAllConnections();
  return rows;
}

/** What the disk allows: the same files written, forced to disk and renamed by a bare program. */
async function measureFiles(folder: string, clients: number): Promise<number> {
  await mkdir(folder);
  const bytes = randomBytes(SMALL);
  const until = performance.now() + 2000;
  let count = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < until) {
        const name = join(folder, String((count += 1)));
        const file = await open(`${name}.part`, "w");
        await file.write(bytes);
        await file.sync();
        await file.close();
        await rename(`${name}.part`, name);
      }
    }),
  );
  return count / ((performance.now() - started) / 1000);
}

async function measureWrk(url: string, method: "GET" | "PUT", clients: number, folder: string): Promise<number> {
  const script = join(folder, "wrk.lua");
  const targets = await Promise.all(Array.from({ length: 500 }, (_, n) => sign(url, method, `small/${n}`)));
  const paths = targets.map((target) => JSON.stringify(target.slice(url.length)));
  await writeFile(
    script,
    `local paths = {${paths.join(",")}}\nlocal n = 0\nlocal body = ${method === "PUT" ? `string.rep("x", ${SMALL})` : "nil"}\n` +
      `request = function() n = n % #paths + 1; return wrk.format("${method}", paths[n], nil, body) end\n`,
  );
  const rates: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const { stdout } = await run("/usr/bin/wrk", ["-t1", `-c${clients}`, "-d2s", "-s", script, url]);
    if (/Non-2xx/.test(stdout)) {
      throw new Error(`${method} failed:\n${stdout}`);
    }
    rates.push(Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]));
  }
  return median(rates);
}

async function benchLarge(url: string, folder: string): Promise<BenchRow[]> {
  const nginx = await startNginx(folder);
  const receiver = createReceiver(join(folder, "large-received"));
  const received = `${await listen(receiver)}/large`;
  const rows: BenchRow[] = [];
  try {
    for (const [size, mebibytes] of [
      ["64 MiB", 64],
      ["1 GiB", 1024],
    ] as const) {
      const file = join(folder, "large");
      await run("/usr/bin/dd", ["if=/dev/urandom", `of=${file}`, "bs=1M", `count=${mebibytes}`]);
      const rounds = mebibytes > 100 ? 3 : 5;
      const there = `${nginx.url}/large-there`;
      const forced = `${nginx.url}/large-forced`;
      const [up, peerUp, forcedUp, digestedUp] = await measureSpeeds(rounds, mebibytes, [
        async () => curl("-T", file, await sign(url, "PUT", "large")),
        () => curl("-T", file, there),
        // What an acknowledgement means here: the bytes are on the disk.
        async () => (await curl("-T", file, forced)) + (await force(join(folder, "large-forced"))),
        // The same duty: an MD5 for the ETag, and bytes on the disk.
        () => curl("-T", file, received),
      ]);
      // The kernel still writes nginx's file back: it would slow whoever reads meanwhile.
      await run("/usr/bin/sync", []);
      const [down, peerDown] = await measureSpeeds(rounds, mebibytes, [
        async () => curl(await sign(url, "GET", "large")),
        () => curl(there),
      ]);
      for (const [what, value, peer, name] of [
        ["up", up, peerUp, "nginx, no fsync"],
        ["up", up, forcedUp, "nginx, then fsync"],
        ["up", up, digestedUp, "bare Node: MD5, fsync"],
        ["down", down, peerDown, "nginx sendfile"],
      ] as const) {
        rows.push({
          name: `objstore ${size} ${what}`,
          value: Math.round(value ?? 0),
          unit: "MB/s",
          aim: name.startsWith("nginx") ? "≥ 0.7 × nginx" : "1 × limit",
          peer: { name, value: Math.round(peer ?? 0) },
          ratio: (value ?? 0) / (peer ?? 0),
        });
      }
    }
  } finally {
    nginx.child.kill("SIGTERM");
    receiver.close();
    receiver.closeAllConnections();
  }
  return rows;
}

/** Seconds of a transfer. */
async function curl(...args: readonly string[]): Promise<number> {
  const { stdout } = await run("/usr/bin/curl", ["-sf", "-o", "/dev/null", "-w", "%{time_total}", ...args]);
  return Number(stdout);
}

/** Seconds that a file takes to the disk. */
async function force(path: string): Promise<number> {
  const started = performance.now();
  const file = await open(path, "r");
  await file.sync();
  await file.close();
  return (performance.now() - started) / 1000;
}

/** Megabytes a second of each transfer, medians; they take turns. */
async function measureSpeeds(
  rounds: number,
  mebibytes: number,
  transfers: readonly (() => Promise<number>)[],
): Promise<readonly number[]> {
  const speeds = transfers.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, transfer] of transfers.entries()) {
      speeds[index]?.push((mebibytes * 2 ** 20) / 1e6 / (await transfer()));
    }
  }
  return speeds.map(median);
}

/** Address of a server that now listens. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  const port = Number(new URL(await listen(probe)).port);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function startNginx(folder: string): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/t-${kind};`,
  );
  await writeFile(
    join(folder, "nginx.conf"),
    `daemon off; ${process.getuid?.() === 0 ? "user root;" : ""} pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; events {}
     http { access_log off; sendfile on; ${temporary.join(" ")}
       server { listen 127.0.0.1:${port}; root ${folder}; client_max_body_size 0; dav_methods PUT; } }`,
  );
  const child = spawn("/usr/sbin/nginx", ["-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  await sleep(500);
  return { url: `http://127.0.0.1:${port}`, child };
}

async function benchListing(url: string): Promise<BenchRow> {
  const times: number[] = [];
  let token: string | undefined;
  do {
    const query = { "list-type": "2", ...(token !== undefined && { "continuation-token": token }) };
    const target = await presign({
      publicUrl: url,
      region: "us-east-1",
      credential: CREDENTIAL,
      method: "GET",
      bucket: "listed",
      key: "",
      seconds: 60,
      query,
      now: Date.now(),
    });
    const started = performance.now();
    const text = await (await fetch(target)).text();
    times.push(performance.now() - started);
    token = /<NextContinuationToken>([^<]+)</.exec(text)?.[1];
  } while (token !== undefined);
  return {
    name: "objstore page of 1,000 of 100,000 keys",
    value: Number(median(times).toFixed(1)),
    unit: "ms",
    aim: "≤ 15 ms",
    note: `${times.length} pages`,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}
