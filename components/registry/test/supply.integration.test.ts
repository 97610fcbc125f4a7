// Labels, events of pulls and quotas, and scans by a scanner that speaks the pluggable scanner API.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { type RegistryClient, basic, createClient, createProject, digestOf } from "./client.ts";
import { query } from "./query.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";

let registry: TestRegistry;
let admin: RegistryClient;
before(async () => {
  registry = await startTestRegistry({ ALLOW_PRIVATE: "127.0.0.1", COLLECT_INTERVAL: "1s" });
  admin = createClient(registry.url);
});
after(() => registry.close());

interface Listener {
  readonly url: string;
  readonly close: () => void;
}

async function listen(
  reply: (message: IncomingMessage, body: string, response: ServerResponse) => void,
): Promise<Listener> {
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => reply(message, Buffer.concat(chunks).toString(), response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("labels of a project and of the registry are put on artifacts and go with them", async () => {
  const id = await createProject(admin, "labels");
  await admin.pushImage("labels/image", "1");
  const path = "/api/v2.0/projects/labels/repositories/image/artifacts/1";
  const add = async (body: object) => {
    const { status, headers, body: said } = await admin.call("POST", "/api/v2.0/labels", { body });
    assert.equal(status, 201, said.toString());
    return Number(headers.get("location")?.split("/").at(-1));
  };
  const own = await add({ name: "tested", color: "#00ff00", scope: "p", project_id: id });
  const global = await add({ name: "archive", scope: "g" });
  assert.equal((await admin.call("POST", "/api/v2.0/labels", { body: { name: "archive", scope: "g" } })).status, 409);
  for (const label of [own, global]) {
    assert.equal((await admin.call("POST", `${path}/labels`, { body: { id: label } })).status, 200);
  }
  assert.equal((await admin.call("POST", `${path}/labels`, { body: { id: own } })).status, 409);
  const names = async () =>
    ((await admin.call("GET", path)).json().labels as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(await names(), ["archive", "tested"]);
  await createProject(admin, "others");
  await admin.pushImage("others/image", "1");
  const foreign = await admin.call("POST", "/api/v2.0/projects/others/repositories/image/artifacts/1/labels", {
    body: { id: own },
  });
  assert.equal(foreign.status, 404, "a label of another project");
  assert.equal((await admin.call("DELETE", `${path}/labels/${global}`)).status, 200);
  assert.equal((await admin.call("PUT", `/api/v2.0/labels/${own}`, { body: { name: "checked" } })).status, 200);
  assert.deepEqual(await names(), ["checked"]);
  const listed = (await admin.call("GET", `/api/v2.0/labels?scope=p&project_id=${id}`)).json();
  assert.deepEqual([listed.length, listed[0].name], [1, "checked"]);
  assert.equal(
    (await createClient(registry.url, "").call("GET", `/api/v2.0/labels?scope=p&project_id=${id}`)).status,
    401,
  );
  assert.equal((await admin.call("DELETE", `/api/v2.0/labels/${own}`)).status, 200);
  assert.deepEqual(await names(), []);
});

test("webhooks hear of pulls, of quotas that are nearly used, and of what did not fit", async () => {
  await createProject(admin, "events", { storage_limit: 100_000 });
  const heard: { type: string; operator: string; event_data: { resources: { tag?: string }[] } }[] = [];
  const receiver = await listen((_message, body, response) => {
    heard.push(JSON.parse(body) as (typeof heard)[number]);
    response.end();
  });
  const made = await admin.call("POST", "/api/v2.0/projects/events/webhook/policies", {
    body: {
      name: "all",
      event_types: ["PULL_ARTIFACT", "QUOTA_WARNING", "QUOTA_EXCEED"],
      targets: [{ type: "http", address: receiver.url }],
    },
  });
  assert.equal(made.status, 201, made.body.toString());
  await admin.pushImage("events/image", "1", [randomBytes(90_000)]);
  assert.equal((await admin.call("GET", "/v2/events/image/manifests/1")).status, 200);
  const large = randomBytes(50_000);
  for (let attempt = 0; attempt < 2; attempt++) {
    const path = `/v2/events/image/blobs/uploads/?digest=${digestOf(large)}`;
    assert.equal((await admin.call("POST", path, { body: large })).code(), "DENIED");
  }
  await waitUntil("all is heard", async () => heard.length >= 3);
  assert.deepEqual(heard.map(({ type }) => type).toSorted(), ["PULL_ARTIFACT", "QUOTA_EXCEED", "QUOTA_WARNING"]);
  const pulled = heard.find(({ type }) => type === "PULL_ARTIFACT");
  assert.deepEqual([pulled?.operator, pulled?.event_data.resources[0]?.tag], ["admin", "1"]);
  receiver.close();
});

test("a scanner gets a token for one repository, and its report is shown; failures are said", async () => {
  await createProject(admin, "scanned");
  const digest = await admin.pushImage("scanned/image", "1");
  await admin.pushImage("scanned/bad", "1");
  await admin.pushImage("labels/image", "2");
  const vulnerabilities = [
    { id: "CVE-1", package: "a", version: "1", severity: "Critical" },
    { id: "CVE-2", package: "b", version: "1", severity: "Low" },
  ];
  const pulls: number[] = [];
  let looks = 0;
  const adapter = await listen((message, body, response) => {
    const isKnown = message.headers["x-scanneradapter-api-key"] === "key of the scanner";
    response.setHeader("content-type", "application/json");
    if (!isKnown) {
      response.writeHead(401).end("{}");
    } else if (message.url === "/adapter/api/v1/metadata") {
      response.end(JSON.stringify({ scanner: { name: "Stand-in", vendor: "tests", version: "1" }, capabilities: [] }));
    } else if (message.url === "/adapter/api/v1/scan" && body.includes("scanned/bad")) {
      response.writeHead(422).end(JSON.stringify({ error: { message: "what is this" } }));
    } else if (message.url === "/adapter/api/v1/scan") {
      const { registry: from, artifact } = JSON.parse(body) as {
        registry: { url: string; authorization: string };
        artifact: { repository: string; digest: string };
      };
      const send = async (repository: string, method = "GET") => {
        const headers = { authorization: from.authorization };
        const response = await fetch(`${from.url}/v2/${repository}/manifests/${artifact.digest}`, { headers, method });
        pulls.push(response.status);
      };
      void send(artifact.repository)
        .then(() => send("labels/image"))
        .then(() => send(artifact.repository, "DELETE"))
        .then(() => response.writeHead(202).end(JSON.stringify({ id: "scan-1" })));
    } else if ((looks += 1) === 1) {
      response.writeHead(302, { location: message.url ?? "", "refresh-after": "1" }).end();
    } else {
      response.end(JSON.stringify({ scanner: { name: "Stand-in", version: "1" }, vulnerabilities }));
    }
  });
  const path = "/api/v2.0/projects/scanned/repositories/image/artifacts/1";
  assert.equal((await admin.call("POST", `${path}/scan`)).status, 412, "none is built in");
  const made = await admin.call("POST", "/api/v2.0/scanners", {
    body: {
      name: "stand-in",
      url: `${adapter.url}/adapter/`,
      auth: "X-ScannerAdapter-API-Key",
      access_credential: "key of the scanner",
    },
  });
  assert.equal(made.status, 201, made.body.toString());
  const scanner = made.headers.get("location") ?? "";
  assert.equal((await admin.call("GET", `${scanner}/metadata`)).json().scanner.name, "Stand-in");
  assert.equal((await admin.call("GET", scanner)).body.includes("key of"), false);
  const rows = await query(registry.postgres.url, "select * from registry.scanner");
  assert.equal(JSON.stringify(rows).includes("key of"), false);
  assert.equal((await admin.call("POST", `${path}/scan`)).status, 202);
  const overview = async (of: string) =>
    Object.values((await admin.call("GET", `${of}/scan`)).json())[0] as Record<string, unknown>;
  await waitUntil("the scan has ended", async () => (await overview(path))["end_time"] !== null);
  const found = await overview(path);
  assert.deepEqual([found["scan_status"], found["severity"]], ["Success", "Critical"]);
  assert.deepEqual(found["summary"], { total: 2, summary: { Critical: 1, Low: 1 } });
  assert.deepEqual(pulls, [200, 401, 401], "it pulls this repository, and nothing else");
  const report = (await admin.call("GET", `${path}/additions/vulnerabilities`)).json();
  assert.deepEqual((Object.values(report)[0] as { vulnerabilities: unknown }).vulnerabilities, vulnerabilities);
  const bad = "/api/v2.0/projects/scanned/repositories/bad/artifacts/1";
  assert.equal((await admin.call("POST", `${bad}/scan`)).status, 202);
  await waitUntil("it has failed", async () => (await overview(bad))["scan_status"] === "Error");
  assert.match(String((await overview(bad))["failure"]), /answers 422: what is this/);
  assert.equal((await admin.call("GET", `${bad}/additions/vulnerabilities`)).status, 404);
  for (const body of [{ is_default: false }, { name: "other" }, { is_default: true, url: "https://other.example" }]) {
    assert.equal((await admin.call("PATCH", scanner, { body })).status, 400, JSON.stringify(body));
  }
  assert.equal((await admin.call("PATCH", scanner, { body: { is_default: true } })).status, 200);
  // Another address does not get the credential.
  const changed = await admin.call("PUT", scanner, {
    body: { name: "stand-in", url: `${adapter.url}/elsewhere/`, auth: "X-ScannerAdapter-API-Key" },
  });
  assert.equal(changed.status, 200);
  assert.equal((await admin.call("GET", scanner)).json().access_credential, undefined);
  assert.equal((await createClient(registry.url, basic("nobody", "x")).call("GET", "/api/v2.0/scanners")).status, 401);
  assert.ok(digest.startsWith("sha256:"));
  adapter.close();
});

test("the audit log has the changes of rules, tags, labels and scans", async () => {
  const rule = { tag_selectors: [{ pattern: "v*" }] };
  assert.equal((await admin.call("POST", "/api/v2.0/projects/scanned/immutabletagrules", { body: rule })).status, 201);
  const path = "/api/v2.0/projects/scanned/repositories/image";
  assert.equal((await admin.call("POST", `${path}/artifacts/1/tags`, { body: { name: "2" } })).status, 201);
  assert.equal((await admin.call("PUT", path, { body: { description: "what it is" } })).status, 200);
  const log = (await admin.call("GET", "/api/v2.0/projects/scanned/logs?page_size=100")).json() as {
    operation: string;
    resource_type: string;
  }[];
  const said = new Set(log.map(({ operation, resource_type: type }) => `${operation} ${type}`));
  for (const expected of [
    "create immutable tag rule",
    "create tag",
    "update repository",
    "scan artifact",
    "create project",
  ]) {
    assert.ok(said.has(expected), expected);
  }
});
