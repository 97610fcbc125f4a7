// The application hub: servers that start, the proxy before them, and a notebook in the browser.
import { type HubFixture, startBrowser, startHub } from "../test/e2e/hub/hub-fixture.ts";

import { findFreePorts, waitUntil } from "@swath/testing";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { measureProxies } from "./hub/proxies.ts";
import { median } from "./median.ts";
import { readPss } from "./pss.ts";
import type { BenchRow } from "./types.ts";

const MANY = 200;
const SERVERS_A_USER = 5;
const STARTS = 5;
const PAGES = 3;
const MIB = 2 ** 20;

/** Listens a second after it was started, on the port of its first argument. */
const SECOND_LATER = `import http.server, sys, time
time.sleep(max(0, 1 - (time.clock_gettime(time.CLOCK_BOOTTIME) - float(open("/proc/self/stat").read().split()[21]) / 100)))
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"ready")
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
`;

const PROFILES = `profiles:
  - id: second
    groups: ["*"]
    definition: { display_name: Second, slug: second, default: true, kubespawner_override: { cpu_limit: 1, mem_limit: 256M } }
    embedded: { kind: program, command: [python3, -S, -c, ${JSON.stringify(SECOND_LATER)}, "{port}"], base: root, ready_path: "" }
  - id: sleep
    groups: ["*"]
    definition: { display_name: Sleep, slug: sleep, kubespawner_override: { cpu_limit: 1, mem_limit: 64M } }
    embedded: { kind: program, command: [sleep, "3600"], listens: false }
  - id: jupyterlite
    groups: ["*"]
    definition: { display_name: Lite, slug: jupyterlite }
    embedded: { kind: browser, site: jupyterlite }
    default_url: /lab/index.html
`;

/** Needs Debian's bubblewrap, nginx, wrk and chromium; JupyterHub as the peer of starting where Debian's jupyterhub is there. */
export async function bench(): Promise<BenchRow[]> {
  const missing = ["bwrap", "wrk", "nginx"].filter(
    (name) => !["/usr/bin", "/usr/sbin"].some((place) => existsSync(join(place, name))),
  );
  if (missing.length > 0) {
    throw new Error(`needs ${missing.join(", ")} (apt-get install bubblewrap wrk nginx)`);
  }
  const folder = mkdtempSync(join(tmpdir(), "swath-hub-bench-"));
  try {
    const proxies = await measureProxies(folder);
    const peer = await measurePeerStart(folder);
    const hub = await startHub();
    try {
      const { status, text } = await hub.api("admin", "PUT", "/swath/profiles", { text: PROFILES });
      if (status !== 200) {
        throw new Error(`the profiles were refused: ${text}`);
      }
      return [
        await measureIdle(hub),
        await measureStart(hub, peer),
        await measurePage(hub),
        await measureMany(hub),
        ...proxies,
      ];
    } finally {
      await hub.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureIdle({ cluster }: HubFixture): Promise<BenchRow> {
  const bytes = await Promise.all(
    ["application-hub", "application-hub-proxy"].map(async (name) => readPss((await cluster.pod(name)).pid ?? 0)),
  );
  const [hub = 0, proxy = 0] = bytes.map((each) => each / MIB);
  return {
    name: "hub: memory, nobody there",
    value: hub,
    unit: "MiB",
    aim: "≤ 120 MB",
    note: `PSS; its proxy ${Math.round(proxy)} MiB`,
  };
}

/** From the request to the event that says it is ready. */
async function measureStart(hub: HubFixture, peer: number | undefined): Promise<BenchRow> {
  await hub.api("eric", "GET", "/user");
  const seconds: number[] = [];
  for (let turn = 0; turn < STARTS; turn += 1) {
    const started = performance.now();
    await startServer(hub, "eric", "eric", `s${turn}`, "second");
    const { text } = await hub.api("eric", "GET", `/users/eric/servers/s${turn}/progress`);
    seconds.push((performance.now() - started) / 1000);
    if (!/"ready":true/.test(text)) {
      throw new Error(`it did not start: ${text}`);
    }
    await hub.api("eric", "DELETE", `/users/eric/servers/s${turn}`);
  }
  const value = median(seconds);
  return {
    name: "hub: start to ready of a program that listens after 1 s",
    value,
    unit: "s",
    aim: "≤ 1.5 s",
    ...(peer !== undefined && { peer: { name: "JupyterHub 3.0", value: peer }, ratio: value / peer }),
  };
}

async function startServer(hub: HubFixture, who: string, user: string, name: string, profile: string): Promise<void> {
  const { status, text } = await hub.api(who, "POST", `/users/${user}/servers/${name}`, { profile });
  if (status !== 201 && status !== 202) {
    throw new Error(`${user}/${name}: ${status} ${text}`);
  }
}

/** Sleeping commands of many users, started in one go. */
async function measureMany(hub: HubFixture): Promise<BenchRow> {
  const users = Array.from({ length: MANY / SERVERS_A_USER }, (_, index) => `user${index}`);
  const made = await hub.api("admin", "POST", "/users", { usernames: users });
  if (made.status !== 201) {
    throw new Error(`users were not made: ${made.status} ${made.text}`);
  }
  const started = performance.now();
  await Promise.all(
    users.flatMap((user) =>
      Array.from({ length: SERVERS_A_USER }, (_, index) => startServer(hub, "admin", user, `s${index}`, "sleep")),
    ),
  );
  const ready = async () => {
    const { body } = await hub.api("admin", "GET", "/users?limit=200");
    const list = (body.items ?? body) as { servers?: Record<string, { ready: boolean }> }[];
    return list.flatMap(({ servers }) => Object.values(servers ?? {})).filter((server) => server.ready).length;
  };
  await hub.until("all are ready", async () => (await ready()) >= MANY);
  return {
    name: `hub: ${MANY} servers started at once, all ready`,
    value: (performance.now() - started) / 1000,
    unit: "s",
    aim: "≤ 30 s",
    note: `sleeping commands, each isolated; ${users.length} users`,
  };
}

/** From opening the page of JupyterLite to the output of a cell of a new notebook; Python and all come from the platform. */
async function measurePage(hub: HubFixture): Promise<BenchRow> {
  const browser = await startBrowser(hub);
  try {
    await startServer(hub, "eric", "eric", "lite", "jupyterlite");
    const seconds: number[] = [];
    for (let turn = 0; turn < PAGES; turn += 1) {
      // A context of its own: nothing is cached.
      const { context, page } = await browser.open("eric");
      const started = performance.now();
      await page.goto(`http://eric--lite.${hub.hubHost}/lab/index.html`);
      await page.locator('.jp-LauncherCard[data-category="Notebook"]').first().click();
      await page.locator(".jp-Notebook .jp-CodeCell .cm-content").last().click();
      await page.keyboard.insertText("print(6 * 7)");
      await page.keyboard.press("Shift+Enter");
      await page.locator(".jp-OutputArea-output").filter({ hasText: "42" }).first().waitFor();
      seconds.push((performance.now() - started) / 1000);
      await context.close();
    }
    return {
      name: "hub: JupyterLite, page to the first executed cell",
      value: median(seconds),
      unit: "s",
      aim: "≤ 8 s",
      note: "headless Chromium, nothing cached",
    };
  } finally {
    await browser.browser.close();
  }
}

/** Debian's JupyterHub with the same program, without isolation; undefined where it is not there or does not start. */
async function measurePeerStart(folder: string): Promise<number | undefined> {
  const proxy = join(folder, "peer/node_modules/configurable-http-proxy/bin/configurable-http-proxy");
  if (!existsSync("/usr/bin/jupyterhub") || !existsSync(proxy)) {
    return undefined;
  }
  const [port = 0, hubPort = 0, apiPort = 0] = await findFreePorts(3);
  const token = "only-for-this-measurement";
  const program = SECOND_LATER.replace(
    "int(sys.argv[1])",
    'int(__import__("os").environ["JUPYTERHUB_SERVICE_URL"].split(":")[2].split("/")[0])',
  );
  writeFileSync(join(folder, "second.py"), program);
  const config = join(folder, "jupyterhub_config.py");
  writeFileSync(
    config,
    `c.JupyterHub.bind_url = "http://127.0.0.1:${port}"
c.JupyterHub.hub_port = ${hubPort}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:${apiPort}"
c.ConfigurableHTTPProxy.command = [${JSON.stringify(process.execPath)}, ${JSON.stringify(proxy)}]
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.db_url = "sqlite:///${folder}/hub.sqlite"
c.JupyterHub.cookie_secret_file = "${folder}/cookie"
c.Authenticator.admin_users = {"eric"}
c.Spawner.cmd = ["python3", "-S", "${folder}/second.py"]
c.Spawner.args = []
c.JupyterHub.services = [{"name": "bench", "api_token": "${token}", "admin": True}]
`,
  );
  const child = spawn("/usr/bin/jupyterhub", ["-f", config], { cwd: folder, stdio: "ignore" });
  const call = (method: string, path: string) =>
    fetch(`http://127.0.0.1:${port}/hub/api${path}`, { method, headers: { authorization: `token ${token}` } });
  try {
    await waitUntil("JupyterHub answers", async () => {
      const response = await call("GET", "/").catch(() => undefined);
      return response?.ok === true;
    });
    await call("POST", "/users/eric");
    const seconds: number[] = [];
    for (let turn = 0; turn < STARTS; turn += 1) {
      const started = performance.now();
      await call("POST", "/users/eric/server");
      const text = await (await call("GET", "/users/eric/server/progress")).text();
      seconds.push((performance.now() - started) / 1000);
      if (!/"ready": true/.test(text)) {
        console.error(`JupyterHub did not start the program; measured without it: ${text.slice(-300)}`);
        return undefined;
      }
      await call("DELETE", "/users/eric/server");
      await waitUntil("it is gone", async () => {
        const { servers, server } = (await (await call("GET", "/users/eric")).json()) as {
          servers: object;
          server: unknown;
        };
        return server === null && Object.keys(servers).length === 0;
      });
    }
    return median(seconds);
  } finally {
    child.kill("SIGTERM");
  }
}
