// Every operation of every OpenAPI document of a deployment, as anonymous, another user, a member, the owner and the operator.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster, waitUntil } from "@swath/testing";

import { describeRequest } from "../fuzz/services/fuzz-service.ts";
import { fuzzCluster } from "../fuzz/services/main.ts";
import { type OpenApiDocument, type Operation, listOperations, spellingsOf } from "./matrix/operations.ts";

const OFF = ["APPLICATION_HUB", "PORTAL", "REGISTRY", "DUMMY_SERVICE"];
const DOCUMENTS = [
  ["workspace-api", "/openapi.json"],
  ["ades", "/openapi.json"],
  ["resource-catalogue", "/stac/api"],
  ["registration-api", "/openapi.json"],
  ["identity-api", "/openapi.json"],
] as const;
const ACTORS = ["anonymous", "bob", "alice", "eric", "admin"] as const;
type Actor = (typeof ACTORS)[number];
/** Names that only eric's things have. */
const MARKERS = ["erics-tool", "erics-scenes", "only-for-eric"];
const FEWEST_CASES = 3000;
/** The same requests in each run; `npm run fuzz` takes other ones. */
/** Machines that run tests may be slow, and their processors shared: `npm run fuzz` is stricter. */
const FUZZ = { seconds: 60, seed: 7, maxStallMs: 150 };

let cluster: TestCluster;
const tokens = new Map<Actor, string>();
let job = "";

interface Sent {
  readonly status: number;
  readonly text: string;
  readonly location: string;
}

function send(service: string, method: string, path: string, actor: Actor, body?: string, type = "application/json") {
  const token = tokens.get(actor);
  return new Promise<Sent>((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: cluster.port,
        method,
        path,
        agent: false,
        timeout: 60_000,
        headers: {
          host: `${service}.${cluster.domain}`,
          accept: "application/json",
          prefer: "respond-async",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { "content-type": type, "content-length": String(Buffer.byteLength(body)) }),
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
          if (text.length > 2 ** 20 || response.headers["content-type"]?.includes("event-stream") === true) {
            outgoing.destroy();
            done();
          }
        });
        const done = () =>
          resolve({ status: response.statusCode ?? 0, text, location: String(response.headers.location ?? "") });
        response.on("end", done);
        response.on("error", () => done());
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`${method} ${path} took a minute`)));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function make(service: string, path: string, actor: Actor, body: unknown, type?: string): Promise<Sent> {
  const made = await send(service, "POST", path, actor, JSON.stringify(body), type);
  assert.ok(made.status >= 200 && made.status < 300, `${service} ${path}: ${made.status} ${made.text}`);
  return made;
}

before(async () => {
  cluster = await createTestCluster({
    USE_TLS: "false",
    ...Object.fromEntries(OFF.map((name) => [`REQUIRE_${name}`, "false"])),
  });
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
  for (const username of ["eric", "bob", "alice", "admin"] as const) {
    const form = new URLSearchParams({
      grant_type: "password",
      client_id: "admin-cli",
      username,
      password: "changeme",
    });
    const path = "/realms/master/protocol/openid-connect/token";
    const { text } = await send(
      "identity",
      "POST",
      path,
      "anonymous",
      form.toString(),
      "application/x-www-form-urlencoded",
    );
    tokens.set(username, (JSON.parse(text) as { access_token: string }).access_token);
  }
  await make("workspace-api", "/workspaces", "admin", { preferred_name: "eric", default_owner: "eric" });
  const path = "/workspaces/ws-eric";
  const members = JSON.stringify({ members: [{ username: "alice", role: "reader" }] });
  // The gatekeeper hears of the new workspace's rules a moment later.
  await waitUntil("eric may change the workspace", async () => {
    const { status: answered } = await send("workspace-api", "PATCH", path, "eric", members);
    return answered < 300;
  });
  const tool = {
    cwlVersion: "v1.2",
    class: "CommandLineTool",
    id: "erics-tool",
    baseCommand: "true",
    inputs: {},
    outputs: {},
  };
  await make("ades", "/eric/ogc-api/processes", "eric", tool, "application/cwl");
  const started = await make("ades", "/eric/ogc-api/processes/erics-tool/execution", "eric", { inputs: {} });
  job = /jobs\/([\w-]+)/.exec(started.location)?.[1] ?? (JSON.parse(started.text) as { jobID?: string }).jobID ?? "";
  assert.notEqual(job, "");
  const extent = { spatial: { bbox: [[0, 0, 1, 1]] }, temporal: { interval: [["2030-01-01T00:00:00Z", null]] } };
  await make("resource-catalogue", "/stac/collections?workspace=ws-eric", "eric", {
    type: "Collection",
    stac_version: "1.0.0",
    id: "erics-scenes",
    description: "only-for-eric",
    license: "other",
    extent,
    links: [],
  });
  await make("resource-catalogue", "/stac/collections/erics-scenes/items", "eric", {
    type: "Feature",
    stac_version: "1.0.0",
    id: "only-for-eric",
    geometry: { type: "Point", coordinates: [0.5, 0.5] },
    bbox: [0.5, 0.5, 0.5, 0.5],
    properties: { datetime: "2030-01-01T00:00:00Z" },
    links: [],
    assets: {},
  });
});
after(() => cluster?.close());

/** What eric has, as eric sees it. */
async function snapshot(): Promise<readonly string[]> {
  const paths = [
    ["workspace-api", "/workspaces/ws-eric"],
    ["ades", "/eric/ogc-api/processes/erics-tool"],
    ["resource-catalogue", "/stac/collections/erics-scenes"],
    ["resource-catalogue", "/stac/collections/erics-scenes/items/only-for-eric"],
  ] as const;
  return Promise.all(
    paths.map(async ([service, path]) => {
      const { status, text } = await send(service, "GET", path, "eric");
      assert.equal(status, 200, `${path}: ${text}`);
      const { status: _status, steps: _steps, ...kept } = JSON.parse(text) as Record<string, unknown>;
      // Its use is measured now and then.
      return JSON.stringify(kept).replaceAll(/"(at|checked_at|updated_at)":"[^"]*"/g, "");
    }),
  );
}

/** The parameters of a route filled with what is eric's. */
function aimAtEric({ service, route }: Operation): { readonly path: string; readonly isErics: boolean } {
  const value = (name: string): string => {
    if (/job/i.test(name)) {
      return job;
    }
    if (/process/i.test(name)) {
      return "erics-tool";
    }
    if (/collection|catalog/i.test(name)) {
      return "erics-scenes";
    }
    if (/item|record|feature|id/i.test(name) && service === "resource-catalogue") {
      return "only-for-eric";
    }
    return /user/i.test(name) ? "eric" : /workspace|name/i.test(name) ? "ws-eric" : "1";
  };
  const path = route.replaceAll(/\{([^}]+)\}/g, (_, name: string) => value(name)).replace(/\*$/, "x");
  return { path, isErics: /eric/.test(path) || path.includes(job) };
}

const isSafe = ({ method }: Operation) => method === "GET" || method === "HEAD";

/** Why a case let somebody in who should be out. */
function findBreach(
  operation: Operation,
  actor: Actor,
  path: string,
  isErics: boolean,
  sent: Sent,
): string | undefined {
  const isIn = sent.status >= 200 && sent.status < 300;
  if (sent.status >= 500 && sent.status !== 503) {
    return "failed";
  }
  if (!isIn || actor === "eric" || actor === "admin") {
    return undefined;
  }
  if (!isSafe(operation) && isErics) {
    return "changed what is eric's";
  }
  // Answers say again what was asked for, as links have it.
  const body = [path, plainOf(path)].reduce((text, echo) => text.replaceAll(echo, ""), sent.text);
  // Members read the workspace and its collections, and no space of processing.
  const hidden = actor === "alice" ? ["erics-tool", job] : [...MARKERS, job];
  const seen = hidden.find((marker) => body.includes(marker));
  return seen === undefined ? undefined : `saw ${seen}`;
}

/** A path as the service reads it: without doubled slashes, query and escapes. */
function plainOf(path: string): string {
  const plain = path.split("?", 1)[0]?.replace(/^\/+/, "/").replace(/\/+$/, "") ?? "";
  return decodeURIComponent(plain.replaceAll(/%(?![0-9a-f]{2})/gi, "%25"));
}

test("no operation lets anybody in to what is another's, however its address is written", async (t) => {
  const operations = (
    await Promise.all(
      DOCUMENTS.map(async ([service, path]) => {
        const { status, text } = await send(service, "GET", path, "admin");
        assert.equal(status, 200, `${service}${path}: ${text.slice(0, 200)}`);
        return listOperations(service, JSON.parse(text) as OpenApiDocument);
      }),
    )
  ).flat();
  const earlier = await snapshot();
  const cases = operations.flatMap((operation) => {
    const { path, isErics } = aimAtEric(operation);
    return ACTORS.flatMap((actor) => {
      const mayChange = actor === "eric" || actor === "admin";
      // Owners and operators may; they only read here.
      const paths = mayChange ? (isSafe(operation) ? [path] : []) : spellingsOf(path, ["ws-eric", "eric"]);
      return paths.map((spelled) => ({ operation, actor, path: spelled, isErics }));
    });
  });
  const breaches: string[] = [];
  const waiting = cases.values();
  const work = async () => {
    for (const { operation, actor, path, isErics } of waiting) {
      const { service, method, body, bodyType } = operation;
      const sent = await send(
        service,
        method,
        path,
        actor,
        body === undefined ? undefined : JSON.stringify(body),
        bodyType,
      );
      const breach = findBreach(operation, actor, path, isErics, sent);
      if (breach !== undefined) {
        breaches.push(`${actor}: ${method} ${service}${path} → ${sent.status} ${breach}`);
      }
      const isOperators = operation.route.startsWith("/subscriptions");
      if (
        actor === "eric" &&
        isErics &&
        !isOperators &&
        method === "GET" &&
        (sent.status === 401 || sent.status === 403)
      ) {
        breaches.push(`eric is kept out: ${service}${path} → ${sent.status}`);
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  t.diagnostic(`${operations.length} operations, ${cases.length} cases`);
  assert.deepEqual(breaches, []);
  assert.deepEqual(await snapshot(), earlier);
  assert.ok(cases.length >= FEWEST_CASES, `${cases.length} cases`);
});

// The last one: what it sends may change and delete things of eric's.
test("no hostile request fails, ends or stalls a service, or makes it keep memory", async (t) => {
  const findings = await fuzzCluster(cluster, { ...FUZZ, print: (line) => t.diagnostic(line) });
  t.diagnostic(`seed ${FUZZ.seed}, ${FUZZ.seconds} s`);
  assert.deepEqual(
    findings.map(({ service, what, request: sent }) => `${service}: ${what} ${sent ? describeRequest(sent) : ""}`),
    [],
  );
});
