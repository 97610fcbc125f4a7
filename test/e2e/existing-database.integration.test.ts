// A PostgreSQL of the operator's own in place of the deployed one, and the loss of its primary while everybody is at work.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type TestCluster, createTestCluster, waitUntil } from "@swath/testing";

import { makeCollection, makeItem } from "../../components/resource-catalogue/test/fixture.ts";
import {
  type ReplicatedDatabase,
  startReplicatedDatabase,
  findReplicatedDatabaseSkipReason,
} from "./replicated-database.ts";

const skip = findReplicatedDatabaseSkipReason();
const OFF = "ADES DATA_ACCESS REGISTRATION_API WORKSPACE_API APPLICATION_HUB REGISTRY PORTAL OBJSTORE DUMMY_SERVICE";
const WRITERS = 4;
let database: ReplicatedDatabase;
let cluster: TestCluster;

before(async () => {
  if (skip !== false) {
    return;
  }
  database = await startReplicatedDatabase();
  cluster = await createTestCluster({
    USE_TLS: "false",
    OPEN_INGRESS: "true",
    REQUIRE_IDENTITY_SERVICE: "true",
    REQUIRE_RESOURCE_CATALOGUE: "true",
    ...Object.fromEntries(OFF.split(" ").map((name) => [`REQUIRE_${name}`, "false"])),
    DATABASE_URL: database.url,
  });
});
after(async () => {
  await cluster?.close();
  await database?.close();
});

/** The status of a request; 0 where there is no answer. */
function send(service: string, path: string, body?: unknown, type = "application/json"): Promise<number> {
  const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve) => {
    const sent = request(
      `http://127.0.0.1:${cluster.port}${path}`,
      {
        method: body === undefined ? "GET" : "POST",
        headers: {
          host: `${service}.${cluster.domain}:${cluster.port}`,
          ...(body !== undefined && { "content-type": type, "content-length": Buffer.byteLength(text) }),
        },
        timeout: 60_000,
      },
      (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
        response.on("error", () => resolve(0));
      },
    );
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve(0));
    sent.end(text);
  });
}

const logIn = () =>
  send(
    "identity",
    "/realms/master/protocol/openid-connect/token",
    new URLSearchParams({
      grant_type: "password",
      client_id: "admin-cli",
      username: "eric",
      password: "changeme",
    }).toString(),
    "application/x-www-form-urlencoded",
  );

test(
  "services make their schemas in a database of the operator's, and there is no PostgreSQL of ours",
  { skip },
  async () => {
    const { status, stdout, stderr } = await cluster.apply();
    assert.equal(status, 0, stdout + stderr);
    assert.doesNotMatch(stdout + stderr, /with@signs|with%40signs/);
    assert.equal(
      (await cluster.pods()).some(({ workload }) => workload === "postgres"),
      false,
    );
    assert.equal(await logIn(), 200);
    // Each by a role of its own: the one that was given makes them, and no service uses it.
    assert.deepEqual(await database.listClients(), ["swath_catalogue", "swath_identity", "swath_registration"]);
  },
);

test("the primary is lost under load: nobody restarts, nothing that was acknowledged is gone", { skip }, async (t) => {
  assert.equal(await send("resource-catalogue-open", "/stac/collections", makeCollection("kept")), 201);
  const pods = Object.fromEntries((await cluster.pods()).map(({ workload, pid }) => [workload, pid]));
  const acknowledged: string[] = [];
  const statuses = new Set<number>();
  let isOver = false;
  t.after(() => (isOver = true));
  const write = async (writer: number) => {
    for (let count = 0; !isOver; count += 1) {
      const id = `w${writer}.${count}`;
      const item = { ...makeItem(id), collection: "kept" };
      const status = await send("resource-catalogue-open", "/stac/collections/kept/items", item);
      statuses.add(status);
      if (status === 201) {
        acknowledged.push(id);
      } else {
        await sleep(50);
      }
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  await waitUntil("writers are at work", () => acknowledged.length > 100);
  database.killPrimary();
  await waitUntil("writers are refused", () => statuses.size > 1);
  assert.equal(await logIn(), 503, "who cannot be served now is told so");
  const without = acknowledged.length;
  await database.promote();
  await waitUntil("writing goes on", () => acknowledged.length > without + 100);
  isOver = true;
  await Promise.all(writers);
  await waitUntil("logging in works", async () => (await logIn()) === 200);
  t.diagnostic(`${acknowledged.length} items, ${without} of them before; answers: ${[...statuses].join(", ")}`);
  for (const status of statuses) {
    assert.ok([201, 503, 504, 409].includes(status), `an answer of ${status}`);
  }

  const missing: string[] = [];
  for (const id of acknowledged) {
    if ((await send("resource-catalogue-open", `/stac/collections/kept/items/${id}`)) !== 200) {
      missing.push(id);
    }
  }
  assert.deepEqual(missing, []);
  assert.deepEqual(Object.fromEntries((await cluster.pods()).map(({ workload, pid }) => [workload, pid])), pods);
});
