import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { waitUntil } from "@swath/testing";

import { checkStore, filesOf } from "./check-store.ts";
import { type RegistryClient, createClient, createProject } from "./client.ts";
import { type Expected, checkImages, isGone, pushUntilGone } from "./push-until-gone.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";

const ROUNDS = 8;
const WORKERS = 6;

let registry: TestRegistry;
let client: RegistryClient;

before(async () => {
  registry = await startTestRegistry({ COLLECT_INTERVAL: "1s", PUSH_RETENTION: "600s", UPLOAD_RETENTION: "60s" });
  client = createClient(registry.url);
  await createProject(client, "crash");
});
after(() => registry.close());

test("killed again and again amid uploads, mounts, commits and deletions, it never lacks a blob of a manifest", async () => {
  const expected: Expected = { kept: new Map(), doubtful: new Set() };
  const shared = [randomBytes(30_000), randomBytes(40_000)];
  for (let round = 0; round < ROUNDS; round++) {
    const workers = Array.from({ length: WORKERS }, (_, worker) =>
      pushUntilGone({ client, project: "crash", worker, shared, bytes: 20_000 }, expected).catch((error: unknown) => {
        if (!isGone(error)) {
          throw error;
        }
      }),
    );
    await sleep(300 + round * 150);
    // On a slow machine that is not enough to push anything.
    const enough = (WORKERS * (round + 1)) / ROUNDS;
    await waitUntil("images are pushed", () => expected.kept.size > enough);
    await registry.kill();
    await Promise.all(workers);
    await registry.start();
  }
  assert.ok(expected.kept.size > WORKERS, `${expected.kept.size} images were pushed`);
  await checkImages(client, expected);
  await checkStore(registry.postgres.url, filesOf(registry));
});

test("when everything is deleted, nothing is left on the disk, however often it was killed meanwhile", async () => {
  const { repositories } = (await client.call("GET", "/v2/_catalog")).json() as { repositories: readonly string[] };
  // Those without a manifest are not listed, and hold what was pushed to them for a while.
  for (const name of new Set([...repositories, "crash/r0", "crash/r1", "crash/r2"])) {
    const short = name.slice("crash/".length);
    const { status } = await client.call("DELETE", `/api/v2.0/projects/crash/repositories/${short}`);
    assert.ok(status === 200 || (status === 404 && !repositories.includes(name)), `${name}: ${status}`);
    await registry.kill();
    await registry.start();
  }
  assert.equal((await client.call("GET", "/api/v2.0/projects/crash")).json().repo_count, 0);
  await waitUntil(
    "the content is gone",
    async () => (await checkStore(registry.postgres.url, filesOf(registry))).files === 0,
  );
});

test("a registry that nobody uses wakes nobody", async () => {
  const listener = new pg.Client({ connectionString: registry.postgres.url });
  await listener.connect();
  let told = 0;
  listener.on("notification", () => (told += 1));
  await listener.query("listen registry_garbage");
  // Two rounds of the collector, which begins one every second.
  await sleep(2500);
  await listener.end();
  assert.equal(told, 0);
});

test("the database that goes away for a moment is a 503, and nothing that was acknowledged is lost", async () => {
  const digest = await client.pushImage("crash/away", "1");
  await registry.postgres.kill();
  const { status, headers } = await client.call("GET", "/v2/crash/away/manifests/1");
  assert.deepEqual([status, headers.get("retry-after")], [503, "1"]);
  await registry.postgres.start();
  await waitUntil("it answers", async () => (await client.call("GET", "/v2/crash/away/manifests/1")).status === 200);
  const found = await client.call("HEAD", "/v2/crash/away/manifests/1");
  assert.equal(found.headers.get("docker-content-digest"), digest);
});
