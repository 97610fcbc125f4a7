// The hub's proxy and JupyterHub's configurable-http-proxy in front of the same server of a user.
import { type HubDatabase, hashSecret, openHubDatabase } from "../../components/application-hub/store/database.ts";

import { startTestServer } from "@swath/postgres/server";
import { findFreePorts, runCommand, waitUntil } from "@swath/testing";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { type Server, createServer, request } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";

import { median } from "../median.ts";
import { readPss } from "../pss.ts";
import type { BenchRow } from "../types.ts";

const PEER = "configurable-http-proxy";
const PEER_VERSION = "5.3.0";
const HUB_HOST = "hub.localhost";
const LABEL = "eric";
const COOKIE = "swath_server=only-for-this-measurement";
const ROUNDS = 5;
const SECONDS = 4;
const ROUND_TRIPS = 2000;
const IDLE = 1000;
const MIB = 2 ** 20;

interface Proxy {
  readonly port: number;
  readonly pid: number;
}

/** Small answers, WebSockets and memory of the proxy alone. Needs Debian's nginx and wrk; the peer comes from npm. */
export async function measureProxies(folder: string): Promise<BenchRow[]> {
  const postgres = await startTestServer();
  const children: ChildProcess[] = [];
  const [small = 0, own = 0, theirs = 0, control = 0] = await findFreePorts(4);
  const echo = await startEcho();
  let database: HubDatabase | undefined;
  try {
    children.push(startNginx(folder, small));
    database = await openHubDatabase({ url: postgres.url, onError: () => {} });
    const lead = await addServer(database);
    await lead(`http://127.0.0.1:${echo.port}`);
    const ours = spawn(
      process.execPath,
      [join(import.meta.dirname, "../../components/application-hub/proxy/main.ts")],
      {
        env: {
          ...process.env,
          LOG_LEVEL: "error",
          DATABASE_URL: postgres.url,
          PUBLIC_URL: `http://${HUB_HOST}:${own}`,
          HUB_URL: "http://127.0.0.1:9",
          HUB_SECRET: randomBytes(32).toString("hex"),
          PLATFORM_DOMAIN: "localhost",
          DATA_DIR: join(folder, "proxy"),
          LISTEN: `127.0.0.1:${own}`,
        },
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
    children.push(ours);
    const peer = await startPeer(folder, { port: theirs, control, target: `http://127.0.0.1:${echo.port}` });
    if (peer !== undefined) {
      children.push(peer);
    }
    const proxies = {
      ours: { port: own, pid: ours.pid ?? 0 } satisfies Proxy,
      peer: peer && ({ port: theirs, pid: peer.pid ?? 0 } satisfies Proxy),
    };
    for (const proxy of [proxies.ours, ...(proxies.peer ? [proxies.peer] : [])]) {
      await waitUntil("the proxy answers", async () => (await get(proxy.port).catch(() => 0)) === 200);
    }
    // Memory first: a heap that grew under load has room for much.
    const sockets = await measureSockets(proxies, echo.port);
    await lead(`http://127.0.0.1:${small}`);
    if (proxies.peer !== undefined) {
      await leadPeer(control, `http://127.0.0.1:${small}`);
    }
    return [...measureAnswers(proxies), ...sockets];
  } finally {
    for (const child of children) {
      // nginx takes its worker along.
      child.kill("SIGTERM");
    }
    echo.close();
    await database?.close();
    await postgres.close();
  }
}

/** A server that is ready, with somebody who has been let in; gives what leads its origin elsewhere. */
async function addServer(database: HubDatabase): Promise<(url: string) => Promise<void>> {
  await database.rows("insert into users (name) values ('eric')");
  const [login] = await database.rows<{ id: string }>(
    "insert into logins (cookie_hash, user_name, sealed_tokens, access_expires, expires) values ('x', 'eric', '', now(), now() + interval '1 day') returning id",
  );
  const [server] = await database.rows<{ id: string }>(
    "insert into servers (user_name, name, label, profile, definition, state, target) values ('eric', '', $1, 'x', '{}', 'ready', '{}') returning id",
    [LABEL],
  );
  await database.rows(
    "insert into visits (hash, server_id, login_id, user_name, expires) values ($1, $2, $3, 'eric', now() + interval '1 day')",
    [hashSecret(COOKIE.slice(COOKIE.indexOf("=") + 1)), server?.id, login?.id],
  );
  return async (url) => {
    await database.rows("update servers set target = $1", [{ url }]);
    // Longer than the proxy remembers where it led.
    await new Promise((resolve) => setTimeout(resolve, 4000));
  };
}

function startNginx(folder: string, port: number): ChildProcess {
  const config = join(folder, "small.conf");
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log /dev/null;\nevents { worker_connections 4096; }\nhttp { access_log off; keepalive_requests 1000000; server { listen 127.0.0.1:${port}; location / { default_type text/plain; return 200 "hello"; } } }\n`,
  );
  return spawn("/usr/sbin/nginx", ["-c", config, "-p", folder], { stdio: "ignore" });
}

/** Undefined where npm does not give it. */
async function startPeer(
  folder: string,
  { port, control, target }: { readonly port: number; readonly control: number; readonly target: string },
): Promise<ChildProcess | undefined> {
  const place = join(folder, "peer");
  mkdirSync(place);
  const installed = await runCommand(
    "npm",
    ["install", "--no-audit", "--no-fund", "--prefix", place, `${PEER}@${PEER_VERSION}`],
    { env: process.env },
  );
  if (installed.status !== 0) {
    console.error(`${PEER} could not be installed; measured without it: ${installed.stderr.trim().split("\n")[0]}`);
    return undefined;
  }
  return spawn(
    process.execPath,
    [
      join(place, "node_modules", PEER, "bin", PEER),
      "--ip=127.0.0.1",
      `--port=${port}`,
      "--api-ip=127.0.0.1",
      `--api-port=${control}`,
      `--default-target=${target}`,
      "--log-level=error",
    ],
    { stdio: "ignore" },
  );
}

async function leadPeer(control: number, target: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${control}/api/routes/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ target }),
  });
  if (!response.ok) {
    throw new Error(`${PEER} did not take a route: ${response.status}`);
  }
}

const headers = (port: number) => ({ host: `${LABEL}.${HUB_HOST}:${port}`, cookie: COOKIE });

function get(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, headers: headers(port), agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    })
      .on("error", reject)
      .end();
  });
}

function measureAnswers({ ours, peer }: { readonly ours: Proxy; readonly peer: Proxy | undefined }): BenchRow[] {
  const rates = { ours: [] as number[], peer: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [who, proxy] of [["ours", ours] as const, ...(peer ? [["peer", peer] as const] : [])]) {
      const { host, cookie } = headers(proxy.port);
      const text = execFileSync(
        "/usr/bin/wrk",
        [
          "-t1",
          "-c32",
          `-d${SECONDS}s`,
          "-H",
          `Host: ${host}`,
          "-H",
          `Cookie: ${cookie}`,
          `http://127.0.0.1:${proxy.port}/`,
        ],
        { encoding: "utf8" },
      );
      if (/Non-2xx/.test(text)) {
        throw new Error(`${who} refused requests:\n${text}`);
      }
      // The first round warms up.
      if (round > 0) {
        rates[who].push(Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]));
      }
    }
  }
  const [value, other] = [median(rates.ours), median(rates.peer)];
  return [
    {
      name: "hub: proxy, small answers",
      value,
      unit: "requests/s",
      aim: `≥ 3 × ${PEER}`,
      ...(peer && { peer: { name: PEER, value: other }, ratio: value / other }),
      note: "32 kept connections, cookie checked; nginx behind both",
    },
  ];
}

/** Says back what it is sent, once the connection is a WebSocket's. */
async function startEcho(): Promise<{ readonly port: number; readonly close: () => void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((_request, response) => response.end("hello"));
  server.on("upgrade", (_request, socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n");
    socket.on("data", (data) => socket.write(data));
  });
  const [port = 0] = await findFreePorts(1);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port,
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    },
  };
}

async function measureSockets(
  { ours, peer }: { readonly ours: Proxy; readonly peer: Proxy | undefined },
  direct: number,
): Promise<BenchRow[]> {
  const idle = { ours: await idleMemory(ours), peer: peer && (await idleMemory(peer)) };
  const trips = {
    direct: await roundTrip(direct),
    ours: await roundTrip(ours.port),
    peer: peer && (await roundTrip(peer.port)),
  };
  const added = trips.ours - trips.direct;
  return [
    {
      name: "hub: proxy, added to a WebSocket's round trip",
      value: added,
      unit: "ms",
      aim: "≤ 0.5 ms",
      ...(trips.peer !== undefined && {
        peer: { name: PEER, value: trips.peer - trips.direct },
        ratio: added / (trips.peer - trips.direct),
      }),
      note: `median of ${ROUND_TRIPS}, 64 bytes; ${trips.direct.toFixed(3)} ms without a proxy`,
    },
    {
      name: `hub: proxy, memory of ${IDLE.toLocaleString("en")} idle WebSockets`,
      value: idle.ours,
      unit: "MiB",
      aim: "≤ 60 MB",
      ...(idle.peer !== undefined && { peer: { name: PEER, value: idle.peer }, ratio: idle.ours / idle.peer }),
    },
  ];
}

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: "127.0.0.1",
      port,
      agent: false,
      headers: {
        ...headers(port),
        connection: "upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      },
    });
    outgoing.on("upgrade", (_response, socket: Socket) => {
      socket.setNoDelay(true);
      resolve(socket);
    });
    outgoing.on("response", ({ statusCode }) => reject(new Error(`no WebSocket: ${statusCode}`)));
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/** Milliseconds of a round trip, the median. */
async function roundTrip(port: number): Promise<number> {
  const socket = await openSocket(port);
  const message = randomBytes(64);
  const times: number[] = [];
  for (let turn = 0; turn < ROUND_TRIPS; turn += 1) {
    const started = performance.now();
    await new Promise<void>((resolve) => {
      socket.once("data", () => resolve());
      socket.write(message);
    });
    times.push(performance.now() - started);
  }
  socket.destroy();
  return median(times);
}

/** MiB that open connections take. */
async function idleMemory({ port, pid }: Proxy): Promise<number> {
  const before = readPss(pid);
  const sockets: Socket[] = [];
  while (sockets.length < IDLE) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => openSocket(port)))));
  }
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const after = readPss(pid);
  sockets.forEach((socket) => socket.destroy());
  return (after - before) / MIB;
}
