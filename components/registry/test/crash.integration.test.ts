import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { waitUntil } from "@swath/testing";

import { checkStore } from "./check-store.ts";
import { type RegistryClient, createClient, createProject, digestOf, imageOf } from "./client.ts";
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

interface Expected {
  /** By repository and tag: the blobs of every manifest that was acknowledged and not asked to be deleted. */
  readonly kept: Map<string, readonly string[]>;
  /** Asked to be deleted; it may be gone or not. */
  readonly doubtful: Set<string>;
}

/** Pushes and deletes until the registry is gone: half of the layers are shared, so that deletions and pushes meet. */
async function work(worker: number, expected: Expected, shared: readonly Buffer[]): Promise<void> {
  for (let turn = 0; ; turn++) {
    const repository = `crash/r${(worker + turn) % 3}`;
    const key = `${repository} w${worker}-${Date.now()}-${turn}`;
    const tag = key.split(" ")[1] ?? "";
    const layers = [shared[turn % shared.length] as Buffer, randomBytes(20_000)];
    const config = Buffer.from(JSON.stringify({ key }));
    for (const blob of [config, ...layers]) {
      const digest = digestOf(blob);
      const isThere = (await client.call("HEAD", `/v2/${repository}/blobs/${digest}`)).status === 200;
      const other = `crash/r${(worker + turn + 1) % 3}`;
      const mount = isThere
        ? undefined
        : await client.call("POST", `/v2/${repository}/blobs/uploads/?mount=${digest}&from=${other}`);
      if (mount?.status === 202) {
        const location = mount.headers.get("location") ?? "";
        await client.call("PATCH", location, { body: blob.subarray(0, 7) });
        const { status, body } = await client.call("PUT", `${location}?digest=${digest}`, { body: blob.subarray(7) });
        assert.equal(status, 201, body.toString());
      }
    }
    const { status, body } = await client.putManifest(repository, tag, imageOf(config, layers));
    // A push never fails because something is deleted meanwhile.
    assert.equal(status, 201, body.toString());
    expected.kept.set(key, [config, ...layers].map(digestOf));
    if (turn % 2 === 1) {
      const [victim] = expected.kept.keys();
      if (victim !== undefined) {
        expected.kept.delete(victim);
        expected.doubtful.add(victim);
        const [name, reference] = victim.split(" ");
        const digest = (await client.call("HEAD", `/v2/${name}/manifests/${reference}`)).headers.get(
          "docker-content-digest",
        );
        const deleted = await client.call("DELETE", `/v2/${name}/manifests/${digest}`);
        assert.ok([202, 404].includes(deleted.status), deleted.body.toString());
      }
    }
  }
}

/** The connection broke: the registry was killed. */
function isGone(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes("fetch failed");
}

test("killed again and again amid uploads, mounts, commits and deletions, it never lacks a blob of a manifest", async () => {
  const expected: Expected = { kept: new Map(), doubtful: new Set() };
  const shared = [randomBytes(30_000), randomBytes(40_000)];
  for (let round = 0; round < ROUNDS; round++) {
    const workers = Array.from({ length: WORKERS }, (_, worker) =>
      work(worker, expected, shared).catch((error: unknown) => {
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
  for (const [key, blobs] of expected.kept) {
    const [name, tag] = key.split(" ");
    assert.equal((await client.call("GET", `/v2/${name}/manifests/${tag}`)).status, 200, key);
    for (const digest of blobs) {
      const { status, body } = await client.call("GET", `/v2/${name}/blobs/${digest}`);
      assert.deepEqual([status, digestOf(body)], [200, digest], `${key} ${digest}`);
    }
  }
  await checkStore(registry.postgres.url, registry.folder);
});

test("when everything is deleted, nothing is left on the disk, however often it was killed meanwhile", async () => {
  const { repositories } = (await client.call("GET", "/v2/_catalog")).json() as { repositories: readonly string[] };
  for (const name of repositories) {
    const short = name.slice("crash/".length);
    assert.equal((await client.call("DELETE", `/api/v2.0/projects/crash/repositories/${short}`)).status, 200);
    await registry.kill();
    await registry.start();
  }
  assert.equal((await client.call("GET", "/api/v2.0/projects/crash")).json().repo_count, 0);
  await waitUntil(
    "the content is gone",
    async () => (await checkStore(registry.postgres.url, registry.folder)).files === 0,
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
