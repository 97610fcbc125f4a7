// A deployment whose hosts are signed by an authority of its own: what runs in servers trusts it, and so does the way to the platform's services.
import assert from "node:assert/strict";
import { request } from "node:https";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster } from "@swath/testing";

import { PASSWORD, skipReason } from "./hub-fixture.ts";

/** Asks the hub over TLS with programs of three kinds, and shows what they were answered. */
const PROFILES = `profiles:
  - id: clients
    groups: ["*"]
    definition: { display_name: Clients, slug: clients, default: true, kubespawner_override: { cpu_limit: 1, mem_limit: 512M } }
    embedded:
      kind: program
      command:
        - sh
        - -c
        - |
          mkdir /tmp/www && cd /tmp/www
          curl -sS "$JUPYTERHUB_HOST/hub/api/" >curl 2>&1
          python3 -c 'import os, urllib.request; print(urllib.request.urlopen(os.environ["JUPYTERHUB_HOST"] + "/hub/api/").read().decode())' >python 2>&1
          /run/swath/node -e 'fetch(process.env.JUPYTERHUB_HOST + "/hub/api/").then((a) => a.text(), (e) => e.cause.message).then(console.log)' >node 2>&1
          exec python3 -m http.server {port} --bind 127.0.0.1
      base: root
      ready_path: ""
    egress: platform
  - id: lite
    groups: ["*"]
    definition: { display_name: Lite, slug: lite }
    embedded: { kind: browser, site: jupyterlite }
`;

const skip = skipReason(["/usr/bin/python3", "python3"], ["/usr/bin/curl", "curl"]);
let cluster: TestCluster;
let port = 0;
let token = "";

before(async () => {
  if (skip !== false) {
    return;
  }
  cluster = await createTestCluster({
    USE_TLS: "true",
    ...Object.fromEntries(
      ["RESOURCE_CATALOGUE", "DATA_ACCESS", "REGISTRATION_API", "WORKSPACE_API", "REGISTRY", "PORTAL", "ADES"].map(
        (name) => [`REQUIRE_${name}`, "false"],
      ),
    ),
    REQUIRE_OBJSTORE: "false",
  });
  const { status, stderr } = await cluster.apply();
  assert.equal(status, 0, stderr);
  port = Number(/,(\d+):443/.exec(cluster.env["LOCALCLUSTER_EXTRA_OPTIONS"] ?? "")?.[1]);
  const form = new URLSearchParams({
    grant_type: "password",
    client_id: "admin-cli",
    username: "admin",
    password: PASSWORD,
    scope: "openid",
  });
  const login = await send("POST", `identity.${cluster.domain}`, "/realms/master/protocol/openid-connect/token", {
    "content-type": "application/x-www-form-urlencoded",
    body: form.toString(),
  });
  token = (JSON.parse(login.text) as { access_token: string }).access_token;
  const put = await api("PUT", "/swath/profiles", { text: PROFILES });
  assert.equal(put.status, 200, put.text);
});
after(() => cluster?.close());

const hubHost = () => `application-hub.${cluster.domain}`;
const api = (method: string, path: string, body?: unknown) =>
  send(method, hubHost(), `/hub/api${path}`, {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { "content-type": "application/json", body: JSON.stringify(body) }),
  });

/** Who signs the hosts is not what is tested here. */
function send(
  method: string,
  host: string,
  path: string,
  { body, ...headers }: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        agent: false,
        servername: host,
        rejectUnauthorized: false,
        headers: {
          host: `${host}:${port}`,
          ...headers,
          ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function start(name: string, profile: string): Promise<void> {
  const { status, text } = await api("POST", `/users/admin/servers/${name}`, { profile });
  assert.ok(status === 201 || status === 202, text);
  const progress = await api("GET", `/users/admin/servers/${name}/progress`);
  assert.match(progress.text, /"ready":true/);
}

test("curl, Python and Node.js in a server trust the platform's own authority", { skip }, async () => {
  await start("c", "clients");
  for (const name of ["curl", "python", "node"]) {
    const { text } = await send("GET", `admin--c.${hubHost()}`, `/${name}`, { authorization: `Bearer ${token}` });
    assert.match(text, /"version"/, `${name}: ${text}`);
  }
});

test("a notebook in the browser reaches the platform's services over TLS", { skip }, async () => {
  await start("l", "lite");
  const { status, text } = await send("GET", `admin--l.${hubHost()}`, "/.swath/services/identity/realms/master", {
    authorization: `Bearer ${token}`,
  });
  assert.equal(status, 200, text);
  assert.equal((JSON.parse(text) as { realm: string }).realm, "master");
});
