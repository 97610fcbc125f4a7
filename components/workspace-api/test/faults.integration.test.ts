import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { ROOT, type Fixture, startFixture } from "./fixture.ts";

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
});
after(() => fixture.close());

const create = (name: string) =>
  fixture.send("admin", "POST", "/workspaces", { preferred_name: name, default_owner: name });
const isReady = async (name: string) =>
  (await fixture.send("admin", "GET", `/workspaces/ws-${name}`)).body.status === "ready";
const objstore = async (path: string) => {
  const response = await fetch(`${fixture.objstoreAdminUrl}${path}`, {
    headers: { authorization: `Basic ${Buffer.from(`${ROOT.user}:${ROOT.password}`).toString("base64")}` },
  });
  return response.json();
};

test("without a reconciler a workspace stays provisioning and says why", async () => {
  assert.equal((await create("waiting")).status, 201);
  const { body } = await fixture.send("admin", "GET", "/workspaces/ws-waiting");
  assert.equal(body.status, "provisioning");
  assert.match(body.status_reason, /No reconciler is at work.*logs workspace-reconciler/);
});

const POINTS = [
  "before bucket",
  "call 1",
  "call 2",
  "call 3",
  "call 5",
  "call 6",
  "call 7",
  "call 8",
  "saved",
  "after bucket",
];

test("a reconciler killed anywhere leaves nothing half-made and nothing twice", async () => {
  for (const [index, point] of POINTS.entries()) {
    const doomed = fixture.startReconciler(point);
    const ended = once(doomed, "exit");
    await create(`crash${index}`);
    await ended;
    assert.equal(doomed.signalCode, "SIGKILL", point);
    // The dead reconciler's lease would run out by itself; nobody waits for that here.
    await fixture.database.db.updateTable("workspace").set({ lease_until: null }).execute();
  }
  fixture.startReconciler();
  for (const index of POINTS.keys()) {
    await waitUntil(`crash${index} is ready`, () => isReady(`crash${index}`));
  }
  await waitUntil("the first one too", () => isReady("waiting"));
  const { accessKeys } = (await objstore("/api/access-keys")) as { accessKeys: readonly { user: string }[] };
  for (const index of POINTS.keys()) {
    const own = accessKeys.filter(({ user }) => user === `ws-crash${index}`);
    assert.equal(own.length, 1, `ws-crash${index} has ${own.length} keys (${POINTS[index]})`);
    const { body } = await fixture.send("admin", "GET", `/workspaces/ws-crash${index}`);
    assert.deepEqual(body.repairs, [], POINTS[index]);
  }
});

test("a storage that is away is waited for, visibly", async () => {
  await fixture.killObjstore();
  assert.equal((await create("patient")).status, 201);
  const { body } = await waitUntil("the failure shows", async () => {
    const response = await fixture.send("admin", "GET", "/workspaces/ws-patient");
    return response.body.steps.some(({ state }: { state: string }) => state === "failed") ? response : undefined;
  });
  assert.equal(body.status, "provisioning");
  assert.match(body.status_reason, /Step bucket failed/);
  await fixture.startObjstore();
  await waitUntil("it is ready", () => isReady("patient"));
});

test("PostgreSQL killed in the middle of many creations: every acknowledged one becomes ready", async () => {
  const attempt = async (index: number) => {
    const name = `burst${index}`;
    const { status } = await create(name).catch(() => ({ status: 0 }));
    return { name, status };
  };
  const results = Array.from({ length: 40 }, (_, index) => attempt(index));
  // One has its answer, the others are under way.
  await Promise.race(results);
  await fixture.postgres.kill();
  await fixture.postgres.start();
  const acknowledged = (await Promise.all(results)).filter(({ status }) => status === 201);
  assert.ok(acknowledged.length > 0);
  await fixture.database.db.updateTable("workspace").set({ lease_until: null }).execute();
  for (const { name } of acknowledged) {
    await waitUntil(`${name} is ready`, () => isReady(name));
  }
});
