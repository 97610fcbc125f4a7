import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { after, before, test } from "node:test";

import { type HubFixture, needsNotebook, skipReason, startHub } from "./hub-fixture.ts";

/** A server as Jupyter's: it tells the path and the headers of requests, sets cookies, and answers WebSockets. */
const ECHO = `import base64, hashlib, json, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
  protocol_version = 'HTTP/1.1'
  def do_GET(self):
    if self.headers.get('upgrade'):
      key = self.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
      self.send_response(101); self.send_header('upgrade', 'websocket'); self.send_header('connection', 'upgrade')
      self.send_header('sec-websocket-accept', base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
      self.end_headers(); self.wfile.write(self.path.encode()); self.wfile.flush(); self.connection.recv(1); return
    body = json.dumps({'path': self.path, **{name.lower(): value for name, value in self.headers.items()}}).encode()
    self.send_response(200)
    for name, value in [('content-type', 'text/html'), ('content-length', str(len(body))), ('set-cookie', 'swath_x=1; path=/'),
        ('clear-site-data', '*'), ('service-worker-allowed', '/'), ('content-security-policy', 'default-src *')]:
      self.send_header(name, value)
    self.end_headers(); self.wfile.write(body)
  def do_POST(self):
    self.rfile.read(int(self.headers['content-length'])); self.do_GET()
ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
`
  .replaceAll("\\", "\\\\")
  .replaceAll("\n", "\\n");

const PROFILES = `profiles:
  - id: echo
    groups: ["*"]
    definition: { display_name: Echo, slug: echo, default: true, kubespawner_override: { cpu_limit: 1, mem_limit: 512M } }
    embedded: { kind: program, command: [python3, -c, "${ECHO}", "{port}"], ready_path: "" }
  - id: notebook
    groups: ["*"]
    definition: { display_name: Notebook, slug: notebook, kubespawner_override: { cpu_limit: 2, mem_limit: 1G } }
    embedded:
      kind: program
      command: [jupyter-notebook, --no-browser, --ip=127.0.0.1, "--port={port}", "--NotebookApp.base_url={base}", --NotebookApp.token=,
        --NotebookApp.password=, --NotebookApp.allow_remote_access=True, "--notebook-dir={home}"]
      base: hub
      ready_path: api
`;

const skip = skipReason(["/usr/bin/python3", "python3"]);
const skipNotebook = skipReason(needsNotebook);
let hub: HubFixture;
let token: string;

before(async () => {
  if (skip === false) {
    hub = await startHub();
    const put = await hub.api("admin", "PUT", "/swath/profiles", { text: PROFILES });
    assert.equal(put.status, 200, put.text);
    for (const user of ["eric", "bob"]) {
      assert.equal((await hub.api(user, "GET", "/user")).status, 200);
    }
    await startServer("");
    await startServer("lab");
    token = (await hub.api("eric", "POST", "/users/eric/tokens", { note: "a client" })).body.token;
  }
});
after(() => hub?.close());

const pathOf = (name: string) => (name === "" ? "/users/eric/server" : `/users/eric/servers/${name}`);
async function startServer(name: string, profile = "echo"): Promise<void> {
  const { status, text } = await hub.api("eric", "POST", pathOf(name), { profile });
  assert.ok(status === 201 || status === 202, text);
  await hub.until(`${name} is ready`, async () => {
    const { body } = await hub.api("eric", "GET", "/users/eric");
    return body.servers[name]?.ready === true;
  });
}
const get = (url: string, headers: Readonly<Record<string, string>> = {}) => hub.send("GET", url, { headers });
const withToken = () => ({ authorization: `token ${token}` });

test(
  "clients reach a server below /user/ of the hub's host with a token, in its header or in the address",
  { skip },
  async () => {
    for (const name of ["", "lab/"]) {
      const path = `/user/eric/${name}api/status?a=b`;
      const { status, body, text } = await get(path, withToken());
      assert.equal(status, 200, text);
      assert.equal(body.path, path);
      const asked = await get(`/user/eric/${name}api/status?token=${token}&a=b`);
      assert.equal(asked.status, 200, asked.text);
      assert.equal(asked.body.path, path, "the token is for the hub");
      for (const seen of [text, asked.text]) {
        assert.ok(!seen.includes(token), "the client's token stays outside");
      }
    }
    const sent = await hub.send("POST", "/user/eric/api/kernels", { headers: withToken(), body: { name: "python3" } });
    assert.equal(sent.body.path, "/user/eric/api/kernels");
    const platform = { authorization: `Bearer ${await hub.tokenOf("eric")}` };
    assert.equal((await get("/user/eric/api", platform)).status, 200);
  },
);

test("nobody gets in without the right, and no browser by a link", { skip }, async () => {
  const other = (await hub.api("bob", "POST", "/users/bob/tokens", {})).body.token as string;
  const narrow = (await hub.api("eric", "POST", "/users/eric/tokens", { scopes: ["read:users!user"] })).body.token;
  for (const wrong of [other, narrow, "x".repeat(43)]) {
    assert.equal((await get("/user/eric/api", { authorization: `token ${wrong}` })).status, 403);
    assert.equal((await get(`/user/eric/api?token=${wrong}`)).status, 403);
  }
  // With a cookie it is a browser: its page would have the rights of the hub's own pages. It goes to the server's origin.
  const browser = { cookie: "a=b", accept: "text/html" };
  const led = await get(`/user/eric/lab?token=${token}`, browser);
  assert.equal(led.status, 307);
  assert.equal((await get("/user/eric/lab", { accept: "text/html" })).status, 307);
  const worker = { ...withToken(), "service-worker": "script" };
  assert.equal((await get("/user/eric/worker.js", worker)).status, 403);
});

test("what a server says on the hub's host cannot act there", { skip }, async () => {
  const { headers } = await get("/user/eric/page", { ...withToken(), cookie: "swath_hub=secret; other=1" });
  assert.equal(headers["content-security-policy"], "sandbox; frame-ancestors 'none'");
  assert.equal(headers["x-content-type-options"], "nosniff");
  for (const name of ["set-cookie", "clear-site-data", "service-worker-allowed"]) {
    assert.equal(headers[name], undefined, name);
  }
  const { text } = await get("/user/eric/page", { ...withToken(), cookie: "swath_hub=secret; other=1" });
  assert.doesNotMatch(text, /secret|other=1/);
});

test("WebSockets of kernels open with a token, and not without", { skip }, async () => {
  const channels = "/user/eric/api/kernels/k/channels";
  assert.match(await upgrade(channels, { authorization: `token ${token}` }), /^HTTP\/1\.1 101 .*\/channels$/s);
  assert.match(
    await upgrade(`${channels}?token=${token}&session_id=s`),
    /^HTTP\/1\.1 101 .*\/channels\?session_id=s$/s,
  );
  assert.match(await upgrade(channels), /^HTTP\/1\.1 403 /);
  assert.match(await upgrade("/hub/x"), /^HTTP\/1\.1 404 /);
  const page = { authorization: `token ${token}`, origin: "https://elsewhere.example.org" };
  assert.match(await upgrade(channels, page), /^HTTP\/1\.1 403 /);
});

test("a client with a token creates files and kernels at a real Jupyter server", { skip: skipNotebook }, async () => {
  await startServer("nb", "notebook");
  const put = await hub.send("PUT", "/user/eric/nb/api/contents/a.txt", {
    headers: withToken(),
    body: { type: "file", format: "text", content: "by a client" },
  });
  assert.equal(put.status, 201, put.text);
  assert.equal((await get("/user/eric/nb/api/contents/a.txt", withToken())).body.content, "by a client");
  const kernel = await hub.send("POST", `/user/eric/nb/api/kernels?token=${token}`, { body: { name: "python3" } });
  assert.equal(kernel.status, 201, kernel.text);
  const channels = `/user/eric/nb/api/kernels/${kernel.body.id}/channels?token=${token}`;
  assert.match(await upgrade(channels), /^HTTP\/1\.1 101 /);
  assert.equal((await hub.api("eric", "DELETE", pathOf("nb"))).status, 204);
});

test("a server that does not run is answered 424 everywhere, as JupyterLab understands it", { skip }, async () => {
  assert.equal((await hub.api("eric", "DELETE", pathOf("lab"))).status, 204);
  const own = `http://eric--lab.${hub.hubHost}/user/eric/lab/api`;
  // The address of a server that is gone is one of the default server's.
  for (const url of [own, `http://nobody.${hub.hubHost}/api`, "/user/bob/api"]) {
    const { status, headers } = await get(url, withToken());
    assert.deepEqual([status, headers["retry-after"]], [424, "5"], url);
  }
  assert.match(await upgrade("/api/x", withToken(), `eric--lab.${hub.hubHost}`), /^HTTP\/1\.1 424 /);
});

test("the hub says that it is well to anybody, and how much runs to monitoring alone", { skip }, async () => {
  for (const path of ["/hub/health", "/hub/api/health"]) {
    assert.equal((await get(path)).status, 200, path);
    assert.equal((await hub.send("HEAD", path)).status, 200, path);
  }
  for (const path of ["/hub/metrics", "/hub/api/metrics"]) {
    assert.equal((await get(path)).status, 403, path);
    assert.equal((await get(path, withToken())).status, 403, path);
    const { status, headers, text } = await get(path, { authorization: `Bearer ${await hub.tokenOf("admin")}` });
    assert.equal(status, 200, text);
    assert.match(String(headers["content-type"]), /^text\/plain; version=0\.0\.4/);
    assert.match(text, /^jupyterhub_running_servers 1$/m);
    assert.match(text, /^jupyterhub_total_users [3-9]$/m);
    assert.match(text, /^jupyterhub_active_users\{period="24h"\} [2-9]$/m);
  }
  const monitor = await hub.api("admin", "POST", "/users/admin/tokens", { scopes: ["read:metrics"] });
  const scraper = { authorization: `token ${monitor.body.token}` };
  assert.equal((await get("/hub/metrics", scraper)).status, 200);
  assert.equal((await get("/hub/api/users", scraper)).status, 403);
});

/** What comes back of an attempt to open a WebSocket. */
function upgrade(path: string, headers: Readonly<Record<string, string>> = {}, host = hub.hubHost): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(hub.cluster.port, "127.0.0.1");
    const lines = Object.entries({
      host,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    let text = "";
    const end = () => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(30_000, end);
    socket.on("data", (part) => {
      text += part.toString("latin1");
      const [, rest] = text.split("\r\n\r\n", 2);
      if (rest !== undefined && (rest !== "" || !text.startsWith("HTTP/1.1 101"))) {
        end();
      }
    });
    socket.on("end", end);
    socket.on("error", reject);
  });
}
