import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { request } from "node:http";
import { after, before, test } from "node:test";

import { readProcesses } from "@swath/testing";

import { type HubFixture, skipReason, startHub } from "./hub-fixture.ts";

/** A web server that answers with the headers of the request. */
const ECHO = `import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(200); self.end_headers()
    self.wfile.write(json.dumps({name.lower(): value for name, value in self.headers.items()}).encode())
HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
`.replaceAll("\n", "\\n");

/** Programs of this machine as profiles: a web server, one that only sleeps, one that takes memory, one that fails. */
const PROFILES = `profiles:
  - id: web
    groups: ["*"]
    definition: { display_name: Files, slug: web, default: true, kubespawner_override: { cpu_limit: 1, mem_limit: 512M } }
    embedded: { kind: program, command: [python3, -m, http.server, "{port}", --bind, 127.0.0.1, --directory, "{home}"], base: root, ready_path: "" }
    egress: platform
  - id: echo
    groups: ["*"]
    definition: { display_name: Echo, slug: echo, kubespawner_override: { cpu_limit: 1, mem_limit: 512M } }
    embedded: { kind: program, command: [python3, -c, "${ECHO}", "{port}"], base: root, ready_path: "" }
  - id: sleep
    groups: ["*"]
    definition: { display_name: Sleep, slug: sleep, kubespawner_override: { cpu_limit: 1, mem_limit: 64M } }
    embedded: { kind: program, command: [sleep, "3600"], listens: false }
    idle_seconds: 1
  - id: hungry
    groups: ["*"]
    definition: { display_name: Hungry, slug: hungry, kubespawner_override: { cpu_limit: 1, mem_limit: 150M } }
    embedded: { kind: program, command: [python3, -c, "import time; time.sleep(2); a = bytearray(300_000_000); a[::4096] = b'x' * len(a[::4096]); time.sleep(600)"], listens: false }
  - id: broken
    groups: ["*"]
    definition: { display_name: Broken, slug: broken }
    embedded: { kind: program, command: [sh, -c, "echo no such model; exit 3"] }
  - id: team
    groups: [team]
    definition: { display_name: Team, slug: team }
    embedded: { kind: program, command: [sleep, "3600"], listens: false }
  - id: missing
    groups: ["*"]
    definition: { display_name: Missing, slug: missing }
    embedded: { kind: program, command: [no-such-program], install: apt-get install no-such-package }
`;

const skip = skipReason(["/usr/bin/python3", "python3"]);
let hub: HubFixture;
const origin = (label: string) => `http://${label}.${hub.hubHost}`;
const headersOf = async (user: string) => ({ authorization: `Bearer ${await hub.tokenOf(user)}` });

before(async () => {
  if (skip === false) {
    hub = await startHub();
    const saved = await hub.send("GET", "/hub/api/", {});
    assert.equal(saved.status, 200);
    const put = await hub.api("admin", "PUT", "/swath/profiles", { text: PROFILES });
    assert.equal(put.status, 200, put.text);
  }
});
after(() => hub?.close());

async function start(user: string, name: string, profile: string): Promise<string> {
  const path = name === "" ? `/users/${user}/server` : `/users/${user}/servers/${name}`;
  const { status, text } = await hub.api(user, "POST", path, { profile });
  assert.ok(status === 201 || status === 202, `${status} ${text}`);
  await hub.until(`${user}/${name} is ready`, async () => (await stateOf(user, name)) !== "starting");
  return stateOf(user, name);
}

async function stateOf(user: string, name: string): Promise<string> {
  const { body } = await hub.api(user, "GET", `/users/${user}`);
  const server = body.servers?.[name];
  return server === undefined ? "stopped" : server.ready ? "ready" : "starting";
}

const stop = (user: string, name: string) =>
  hub.api(user, "DELETE", name === "" ? `/users/${user}/server` : `/users/${user}/servers/${name}`);

test(
  "a program of the machine runs isolated, at an origin of its own, and is gone when it is stopped",
  { skip },
  async () => {
    // The first request of a user makes the user known.
    assert.equal((await hub.api("eric", "GET", "/user")).body.name, "eric");
    assert.equal(await start("eric", "", "web"), "ready");
    const page = await hub.send("GET", `${origin("eric")}/`, { headers: await headersOf("eric") });
    assert.equal(page.status, 200, page.text);
    assert.match(page.text, /Directory listing/);
    // Nobody else, and nobody at all, gets in.
    assert.equal((await hub.send("GET", `${origin("eric")}/`)).status, 403);
    assert.equal((await hub.send("GET", `${origin("eric")}/`, { headers: await headersOf("bob") })).status, 403);
    const browser = await hub.send("GET", `${origin("eric")}/a?b`, { headers: { accept: "text/html" } });
    assert.equal(browser.status, 302);
    assert.match(String(browser.headers.location), /\/hub\/enter\?server=eric&state=/);
    // What runs sees no secret of the deployment and none of its processes.
    const { pid } = findServerProcess("http.server");
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    assert.doesNotMatch(environment, /DATABASE_URL|HUB_SECRET|SWATH_POD|postgres:/);
    assert.match(environment, /JUPYTERHUB_API_TOKEN=/);
    const args = readProcesses()
      .map((each) => each.args)
      .join("\n");
    const [, token = ""] = /JUPYTERHUB_API_TOKEN=([^\0]+)/.exec(environment) ?? [];
    assert.ok(token.length > 20 && !args.includes(token), "its token is in no command line");
    assert.ok(readdirSync(`/proc/${pid}/root`).every((name) => !["root", "srv", "work", "mnt"].includes(name)));
    // As a token of a server it says its owner is active and nothing more.
    const asServer = (path: string) =>
      hub.send("GET", `/hub/api${path}`, { headers: { authorization: `token ${token}` } });
    assert.equal((await asServer("/user")).body.name, "eric");
    assert.equal((await asServer("/users")).status, 403);
    assert.equal((await asServer("/users/eric/tokens")).status, 403);
    assert.equal((await stop("eric", "")).status, 204);
    assert.equal(findServerProcess("http.server").pid, 0);
    assert.equal((await hub.send("GET", `${origin("eric")}/`, { headers: await headersOf("eric") })).status, 424);
  },
);

test("profiles are for groups, and what cannot run says how it could", { skip }, async () => {
  const refused = await hub.api("eric", "POST", "/users/eric/servers/t", { profile: "team" });
  assert.equal(refused.status, 400);
  assert.equal((await hub.api("admin", "POST", "/groups", { groups: ["team"] })).status, 201);
  assert.equal((await hub.api("admin", "POST", "/groups/team/users", { users: ["eric"] })).status, 200);
  assert.equal(await start("eric", "t", "team"), "ready");
  assert.equal((await stop("eric", "t")).status, 204);
  assert.equal((await hub.api("admin", "DELETE", "/groups/team/users", { users: ["eric"] })).status, 200);
  assert.equal((await hub.api("eric", "POST", "/users/eric/servers/t", { profile: "team" })).status, 400);
  const missing = await hub.api("eric", "POST", "/users/eric/servers/m", { profile: "missing" });
  assert.equal(missing.status, 409);
  assert.equal(missing.body.command, "apt-get install no-such-package");
});

test("a broken server, a hungry one and an idle one end with their reasons", { skip }, async () => {
  assert.equal(await start("eric", "b", "broken"), "stopped");
  const progress = await hub.api("eric", "GET", "/users/eric/servers/b/progress");
  assert.match(progress.text, /"failed":true.*ended with status 3.*no such model/s);
  await start("eric", "h", "hungry");
  await hub.until("it is ended for its memory", async () => (await stateOf("eric", "h")) === "stopped");
  assert.match((await hub.api("eric", "GET", "/users/eric/servers/h/progress")).text, /MiB of memory and may use/);
  assert.equal(await start("eric", "i", "sleep"), "ready");
  await hub.until("it is culled", async () => (await stateOf("eric", "i")) === "stopped");
  assert.match((await hub.api("eric", "GET", "/users/eric/servers/i/progress")).text, /nothing happened in it/);
});

test("a shared server opens for whom it is shared with, until the share ends", { skip }, async () => {
  await hub.api("bob", "GET", "/user");
  await start("eric", "s", "web");
  const open = async () => (await hub.send("GET", `${origin("eric--s")}/`, { headers: await headersOf("bob") })).status;
  assert.equal(await open(), 403);
  assert.equal((await hub.api("bob", "POST", "/shares/eric/s", { user: "bob" })).status, 403);
  assert.equal((await hub.api("eric", "POST", "/shares/eric/s", { user: "bob", expires_in: 4 })).status, 200);
  await hub.until("bob may open it", async () => (await open()) === 200);
  await hub.until("the share has ended", async () => (await open()) === 403);
  // A share as whom it is for sees it, who may leave it; also by a group.
  assert.equal((await hub.api("eric", "POST", "/shares/eric/s", { user: "bob" })).status, 200);
  const shared = await hub.api("bob", "GET", "/users/bob/shared/eric/s");
  assert.deepEqual([shared.body.server.name, shared.body.server.ready, shared.body.kind], ["s", true, "user"]);
  assert.equal((await hub.api("eric", "DELETE", "/users/bob/shared/eric/s")).status, 403);
  assert.equal((await hub.api("bob", "GET", "/users/bob/shared/eric/")).status, 404);
  await hub.api("admin", "POST", "/groups/readers", { users: ["bob"] });
  assert.equal((await hub.api("eric", "POST", "/shares/eric/s", { group: "readers" })).status, 200);
  const first = (await hub.api("bob", "GET", "/users/bob/shared?limit=1")).body;
  assert.deepEqual([first.items.length, first._pagination.total], [1, 2]);
  const rest = (await hub.api("bob", "GET", first._pagination.next.url.replace(/^.*\/hub\/api/, ""))).body;
  assert.deepEqual([rest.items.length, rest.items[0].kind, rest._pagination.next], [1, "group", null]);
  assert.equal((await hub.api("bob", "DELETE", "/users/bob/shared/eric/s")).status, 204);
  assert.equal((await hub.api("bob", "DELETE", "/users/bob/shared/eric/s")).status, 404);
  assert.equal(await open(), 200, "the group has it still");
  assert.equal((await hub.api("admin", "DELETE", "/groups/readers/shared/eric/s")).status, 204);
  await hub.until("bob is out", async () => (await open()) === 403);
  await stop("eric", "s");
});

test("lists have pages as JupyterHub's clients read them, and are filtered before they are cut", { skip }, async () => {
  const usernames = Array.from({ length: 60 }, (_, index) => `student-${String(index).padStart(2, "0")}`);
  const made = await hub.api("admin", "POST", "/users", { usernames });
  assert.equal(made.status, 201, made.text);
  const authorization = `Bearer ${await hub.tokenOf("admin")}`;
  const list = async (query: string, accept = "application/jupyterhub-pagination+json") => {
    const { status, text, body } = await hub.send("GET", `/hub/api${query}`, { headers: { authorization, accept } });
    assert.equal(status, 200, text);
    return body;
  };
  const names = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name);
  const seen: string[] = [];
  for (let next: string | undefined = "/users?name_filter=STUDENT&sort=-name"; next !== undefined;) {
    const { items, _pagination: page } = await list(next);
    assert.equal(page.total, 60);
    seen.push(...names(items));
    next = page.next === null ? undefined : new URL(page.next.url).href.replace(/^.*\/hub\/api/, "");
  }
  assert.deepEqual(seen, usernames.toReversed());
  assert.equal((await list("/users?limit=500&name_filter=student", "application/json")).length, 60);
  assert.equal((await list("/users?limit=0")).items.length, 1);
  // The one with a server is the last of all, and yet on the first page of those who have one.
  await start("eric", "p", "echo");
  assert.deepEqual(names((await list("/users?state=active&limit=1&sort=-name")).items), ["eric"]);
  assert.ok(!names((await list("/users?state=inactive", "*/*")) as never).includes("eric"));
  await stop("eric", "p");
  const [eric] = await list("/users?name_filter=eric&include_stopped_servers", "*/*");
  assert.equal(eric.servers.p.stopped, true);
  for (const wrong of ["sort=admin", "offset=1e300", "offset=-1"]) {
    assert.equal((await hub.send("GET", `/hub/api/users?${wrong}`, { headers: { authorization } })).status, 400, wrong);
  }
  assert.equal((await list("/groups?limit=1"))._pagination.limit, 1);
});

test(
  "a narrow token stays narrow, whatever type its request names, and a misspelt limit is refused",
  { skip },
  async () => {
    const { authorization } = await headersOf("bob");
    const make = (body: string, headers: Readonly<Record<string, string>>) =>
      hub.send("POST", "/hub/api/users/bob/tokens", { headers, body });
    const narrow = JSON.stringify({ scopes: ["read:users!user"], expires_in: 60 });
    for (const type of [
      "application/json",
      "application/x-www-form-urlencoded",
      "text/plain",
      "application/octet-stream",
    ]) {
      const { status, text, body } = await make(narrow, { authorization, "content-type": type });
      assert.equal(status, 201, `${type}: ${text}`);
      assert.match(body.scopes.join(" "), /^(?:read:users[a-z:]*!user=bob ?)+$/, type);
      assert.ok(Math.abs(Date.parse(body.expires_at) - Date.now() - 60_000) < 30_000, body.expires_at);
    }
    const form = { authorization, "content-type": "application/x-www-form-urlencoded" };
    for (const [body, message] of [
      ["scopes=read:users", /not valid JSON/],
      ['{"scope":["read:users!user"]}', /scope|additional/],
      ['{"scopes":["read:users!user"],"expires":60}', /expires|additional/],
      ['{"roles":["user"]}', /no roles/],
    ] as const) {
      const { status, text } = await make(body, form);
      assert.equal(status, 400, text);
      assert.match(text, message);
    }
    assert.equal((await hub.api("bob", "POST", "/shares/bob/x", { user: "eric", expires: 4 })).status, 400);
    for (const [path, unknown] of [
      ["/users", { usernames: ["n-1"], admim: true }],
      ["/groups/n-1", { members: ["bob"] }],
      ["/groups/n-1", { users: "bob" }],
    ] as const) {
      assert.equal((await hub.api("admin", "POST", path, unknown)).status, 400, path);
    }
    // Without a token it may be a page of another host that sends it.
    assert.equal((await make(narrow, { "content-type": "text/plain" })).status, 415);
    assert.equal((await make(narrow, { "content-type": "application/x-www-form-urlencoded" })).status, 415);
  },
);

test("a shared server gets a token for itself alone in place of its visitor's", { skip }, async () => {
  await start("eric", "e", "echo");
  const elsewhere = { user: "bob", scopes: ["access:servers!server=eric/other"] };
  assert.equal((await hub.api("eric", "POST", "/shares/eric/e", elsewhere)).status, 400);
  await hub.api("eric", "POST", "/shares/eric/e", { user: "bob", scopes: ["access:servers!server=eric/e"] });
  const made = await hub.api("bob", "POST", "/users/bob/tokens", {});
  assert.equal(made.status, 201, made.text);
  const own = `token ${made.body.token}`;
  const shown = async (authorization: string) => {
    const { status, text } = await hub.send("GET", `${origin("eric--e")}/`, { headers: { authorization } });
    assert.equal(status, 200, text);
    return JSON.parse(text) as Record<string, string>;
  };
  const platform = (await headersOf("bob")).authorization;
  for (const authorization of [own, `Bearer ${made.body.token}`, platform]) {
    const seen = await shown(authorization);
    assert.ok(!JSON.stringify(seen).includes(authorization.split(" ")[1] ?? "?"), "the visitor's token stays outside");
    assert.equal(seen["x-swath-user"], "bob");
    const got = seen["authorization"] ?? "";
    assert.match(got, /^token \S{40,}$/);
    // It says who bob is, and does nothing in bob's name.
    const asServer = (method: string, path: string) =>
      hub.send(method, `/hub/api${path}`, { headers: { authorization: got }, body: {} });
    const { body } = await asServer("GET", "/user");
    assert.equal(body.name, "bob");
    assert.ok(body.scopes.includes("access:servers!server=eric/e"));
    for (const [method, path] of [
      ["GET", "/users/bob/tokens"],
      ["POST", "/users/bob/tokens"],
      ["POST", "/users/bob/servers/x"],
      ["POST", "/shares/eric/e"],
      ["GET", "/users"],
      ["GET", "/swath/environment"],
    ] as const) {
      assert.equal((await asServer(method, path)).status, 403, `${method} ${path}`);
    }
  }
  await stop("eric", "e");
});

test("a share code is told once, can be taken back, and is its owner's to make", { skip }, async () => {
  await start("eric", "c", "web");
  assert.equal((await hub.api("bob", "POST", "/share-codes/eric/c", {})).status, 403);
  assert.equal((await hub.api("eric", "POST", "/share-codes/eric/c", { scopes: ["admin:users"] })).status, 400);
  const made = await hub.api("eric", "POST", "/share-codes/eric/c", { expires_in: 3600 });
  assert.equal(made.status, 200, made.text);
  assert.equal(made.body.full_accept_url, `${hub.hubUrl}/hub/accept-share?code=${made.body.code}`);
  const listed = await hub.api("eric", "GET", "/share-codes/eric/c");
  assert.deepEqual(
    listed.body.items.map((each: { id: string; exchange_count: number }) => [each.id, each.exchange_count]),
    [[made.body.id, 0]],
  );
  assert.ok(!listed.text.includes(made.body.code));
  assert.equal((await hub.send("GET", made.body.accept_url, { headers: { accept: "text/html" } })).status, 302);
  assert.equal((await hub.api("eric", "DELETE", `/share-codes/eric/c?id=${made.body.id}`)).status, 204);
  assert.equal((await hub.api("eric", "DELETE", `/share-codes/eric/c?id=${made.body.id}`)).status, 404);
  // What keeps the workspace's files says what stands in its way; nobody else does.
  assert.equal((await hub.api("eric", "PUT", "/swath/workspace-state", { trouble: "x" })).status, 403);
  await stop("eric", "c");
});

test("a full quota is refused by name", { skip }, async () => {
  for (const name of ["q1", "q2", "q3", "q4", "q5"]) {
    await hub.api("bob", "POST", `/users/bob/servers/${name}`, { profile: "web" });
  }
  const sixth = await hub.api("bob", "POST", "/users/bob/servers/q6", { profile: "web" });
  assert.equal(sixth.status, 403);
  assert.match(sixth.body.message, /5 servers at a time/);
  for (const name of ["q1", "q2", "q3", "q4", "q5"]) {
    assert.equal((await stop("bob", name)).status, 204);
  }
});

test(
  "servers and their WebSockets outlive the hub; a killed server is told, a killed proxy comes back",
  { skip },
  async () => {
    await start("eric", "k", "web");
    const open = async () =>
      (await hub.send("GET", `${origin("eric--k")}/`, { headers: await headersOf("eric") })).status;
    assert.equal(await open(), 200);
    const { pid: server } = findServerProcess("http.server");
    // A long download through the proxy stands for a WebSocket: it goes on while the hub is killed.
    const stream = holdConnection(hub.cluster.port, `eric--k.${hub.hubHost}`, await hub.tokenOf("eric"));
    const killed = (await hub.cluster.pod("application-hub")).pid ?? 0;
    process.kill(killed, "SIGKILL");
    assert.equal(await open(), 200, "the proxy needs no hub for whom it knows");
    await hub.until("the hub is back", async () => (await hub.send("GET", "/hub/api/")).status === 200);
    assert.equal(stream.isOpen(), true);
    stream.end();
    assert.equal(await stateOf("eric", "k"), "ready");
    assert.equal(findServerProcess("http.server").pid, server, "it is the same process");
    process.kill((await hub.cluster.pod("application-hub-proxy")).pid ?? 0, "SIGKILL");
    await hub.until("the proxy is back", async () => (await open().catch(() => 0)) === 200);
    process.kill(server, "SIGKILL");
    await hub.until("its end is seen", async () => (await stateOf("eric", "k")) === "stopped");
    assert.match((await hub.api("eric", "GET", "/users/eric/servers/k/progress")).text, /It was killed/);
  },
);

function findServerProcess(text: string): { readonly pid: number } {
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, "latin1");
      const environment = readFileSync(`/proc/${name}/environ`, "latin1");
      if (
        line.startsWith("python3\0") &&
        line.includes(text) &&
        environment.includes(`JUPYTERHUB_HOST=${hub.hubUrl}`)
      ) {
        return { pid: Number(name) };
      }
    } catch {
      // Ended meanwhile.
    }
  }
  return { pid: 0 };
}

/** A request whose body is never finished: the connection through ingress and proxy stays. */
function holdConnection(
  port: number,
  host: string,
  token: string,
): { readonly isOpen: () => boolean; readonly end: () => void } {
  let isOpen = true;
  const outgoing = request({
    host: "127.0.0.1",
    port,
    method: "POST",
    path: "/",
    agent: false,
    headers: { host, authorization: `Bearer ${token}`, "transfer-encoding": "chunked" },
  });
  outgoing.on("error", () => {
    isOpen = false;
  });
  outgoing.on("close", () => {
    isOpen = false;
  });
  return { isOpen: () => isOpen, end: () => outgoing.destroy() };
}
