// The audit trail of a deployment: what people and operators do is in it, and a line that is changed or taken out is found.
import assert from "node:assert/strict";
import { request } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster, waitUntil } from "@swath/testing";
import pg from "pg";

const OFF = [
  "RESOURCE_CATALOGUE",
  "DATA_ACCESS",
  "REGISTRATION_API",
  "WORKSPACE_API",
  "APPLICATION_HUB",
  "PORTAL",
  "ADES",
];
let cluster: TestCluster;

before(async () => {
  cluster = await createTestCluster({
    USE_TLS: "false",
    ...Object.fromEntries(OFF.map((name) => [`REQUIRE_${name}`, "false"])),
    REQUIRE_REGISTRY: "true",
    REQUIRE_OBJSTORE: "true",
  });
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
});
after(() => cluster.close());

function send(host: string, method: string, path: string, headers: Record<string, string>, body = "") {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: cluster.port,
        method,
        path,
        agent: false,
        headers: { host: `${host}.${cluster.domain}`, ...headers },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const logIn = (username: string, password: string) =>
  send(
    "identity",
    "POST",
    "/realms/master/protocol/openid-connect/token",
    { "content-type": "application/x-www-form-urlencoded" },
    new URLSearchParams({ grant_type: "password", client_id: "admin-cli", username, password }).toString(),
  );

async function asOwner(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({
    host: join(cluster.directory, "run/svc/postgres"),
    database: "swath",
    user: "swath",
    password: "changeme",
  });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

test("logins, acts of administrators and of operators, and deletions are in one trail", async () => {
  assert.equal((await logIn("eric", "wrong")).status, 401);
  const { text } = await logIn("admin", "changeme");
  const json = {
    authorization: `Bearer ${(JSON.parse(text) as { access_token: string }).access_token}`,
    "content-type": "application/json",
  };
  const made = await send("identity", "POST", "/admin/realms/master/users", json, JSON.stringify({ username: "dora" }));
  assert.equal(made.status, 201, made.text);
  const basic = { authorization: `Basic ${Buffer.from("admin:changeme").toString("base64")}` };
  const project = await send(
    "registry",
    "POST",
    "/api/v2.0/projects",
    { ...basic, "content-type": "application/json" },
    JSON.stringify({ project_name: "doomed" }),
  );
  assert.equal(project.status, 201, project.text);
  assert.equal((await send("registry", "DELETE", "/api/v2.0/projects/doomed", basic)).status, 200);
  const storage = { authorization: `Basic ${Buffer.from("swath:changeme").toString("base64")}` };
  const bucket = (method: string) => send("objstore-console", method, "/api/buckets/doomed-bucket", storage);
  assert.equal((await bucket("PUT")).status, 201);
  assert.equal((await bucket("DELETE")).status, 204);
  // The object storage does not wait for the database: its entries may come a little later.
  const { stdout, stderr } = await waitUntil("the object storage's entries are there", async () => {
    const exported = await cluster.swath("audit", "export", cluster.name);
    return /"DELETE \/api\/buckets\/:name"/.test(exported.stdout) && exported;
  });
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const has = (service: string, action: RegExp, actor: RegExp) =>
    lines.some(
      (line) =>
        line["service"] === service &&
        action.test(String(line["action"])) &&
        actor.test(`${String(line["actorName"])} ${String(line["actor"])}`),
    );
  assert.ok(has("identity", /^LOGIN_ERROR$/, /eric/), stdout + stderr);
  assert.ok(has("identity", /^LOGIN$/, /admin/), stdout);
  assert.ok(has("identity", /^CREATE USER/, /admin/), stdout);
  assert.ok(has("registry", /^DELETE .*projects/, /admin/), stdout);
  // The registry makes its bucket there.
  assert.ok(has("objstore", /^CreateBucket$/, /swath/), stdout);
  assert.ok(has("objstore", /^DELETE .*buckets/, /swath/), stdout);
  assert.ok(has("swath", /^swath deploy apply$/, /operator/), stdout);
  assert.doesNotMatch(stdout, /changeme|Bearer|eyJ/);
  const listed = await cluster.swath("audit", "list", cluster.name, "--action", "deploy");
  assert.match(listed.stdout, /swath deploy apply/);
  const syslog = await cluster.swath("audit", "export", cluster.name, "--format", "syslog");
  assert.ok(
    syslog.stdout
      .trim()
      .split("\n")
      .every((line) => line.startsWith("<109>1 ")),
  );
});

test("verify finds a changed line, a missing one, and a trail that was cut off", async () => {
  const good = await cluster.swath("audit", "verify", cluster.name);
  assert.equal(good.status, 0, good.stdout + good.stderr);
  assert.match(good.stdout, /lines are as they were written/);
  const tamper = async (statements: readonly string[], expected: RegExp) => {
    await asOwner(async (client) => {
      await client.query("create temp table kept as select * from audit.entry");
      await client.query("create temp table kept_head as select * from audit.head");
      await client.query("alter table audit.entry disable trigger append_only");
      for (const statement of statements) {
        await client.query(statement);
      }
      const found = await cluster.swath("audit", "verify", cluster.name);
      assert.equal(found.status, 1, statements.join("; "));
      assert.match(found.stdout, expected);
      await client.query("delete from audit.entry");
      await client.query("insert into audit.entry (n, line, hash) select n, line, hash from kept");
      await client.query("update audit.head set n = k.n, hash = k.hash from kept_head k");
      await client.query("alter table audit.entry enable trigger append_only");
    });
  };
  await tamper(
    ["update audit.entry set line = replace(line, 'eric', 'mary') where line like '%eric%'"],
    /line \d+ is not/,
  );
  await tamper(["delete from audit.entry where n = 2"], /line 2 is missing/);
  await tamper(
    [
      "delete from audit.entry where n > 2",
      "update audit.head set n = 2, hash = (select hash from audit.entry where n = 2)",
    ],
    /were there when the trail was verified last/,
  );
  assert.equal((await cluster.swath("audit", "verify", cluster.name)).status, 0);
});
