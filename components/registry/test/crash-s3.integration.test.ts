// Kills of the registry, and of the object storage that its content is in, amid uploads, mounts, commits and deletions.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { ListMultipartUploadsCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { checkStore } from "./check-store.ts";
import { type RegistryClient, createClient, createProject, digestOf } from "./client.ts";
import { type Expected, checkImages, isGone, pushUntilGone } from "./push-until-gone.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";
import { type TestStorage, startStorage } from "./start-storage.ts";

const ROUNDS = 3;
const WORKERS = 4;
const BUCKET = "registry";
const UUID_LENGTH = 36;

let storage: TestStorage;
let registry: TestRegistry;
let client: RegistryClient;

before(async () => {
  storage = await startStorage();
  registry = await startTestRegistry({
    ...storage.env,
    COLLECT_INTERVAL: "1s",
    PUSH_RETENTION: "600s",
    UPLOAD_RETENTION: "60s",
  });
  client = createClient(registry.url);
  await createProject(client, "crash");
});
after(async () => {
  await registry?.close();
  await storage?.close();
});

/** Ids of the content: an upload under way has objects with the rest of its last chunk. */
async function objects(): Promise<readonly string[]> {
  const ids = new Set<string>();
  for await (const { Contents = [] } of paginateListObjectsV2({ client: storage.client }, { Bucket: BUCKET })) {
    Contents.forEach(({ Key = "" }) => ids.add(Key.slice(0, UUID_LENGTH)));
  }
  return [...ids];
}

test("killed with or without its object storage, it never lacks a blob of a manifest that it acknowledged", async () => {
  const expected: Expected = { kept: new Map(), doubtful: new Set() };
  // One layer is sent in parts, and two ends of it are not.
  const shared = [randomBytes((6 << 20) + 70_000), randomBytes(40_000)];
  for (let round = 0; round < ROUNDS; round++) {
    let isOver = false;
    const workers = Array.from({ length: WORKERS }, (_, worker) =>
      pushUntilGone({ client, project: "crash", worker, shared, bytes: 100_000 }, expected).catch((error: unknown) => {
        // With its storage gone the registry refuses.
        if (!isOver && !isGone(error)) {
          throw error;
        }
      }),
    );
    await sleep(300 + round * 150);
    // On a slow machine that is not enough to push anything.
    const enough = (WORKERS * (round + 1)) / ROUNDS;
    await waitUntil("images are pushed", () => expected.kept.size > enough);
    isOver = true;
    const isStorageKilled = round % 2 === 1;
    if (isStorageKilled) {
      await storage.kill();
    }
    await registry.kill();
    await Promise.all(workers);
    if (isStorageKilled) {
      await storage.start();
    }
    await registry.start();
  }
  assert.ok(expected.kept.size > WORKERS, `${expected.kept.size} images were pushed`);
  await checkImages(client, expected);
  await checkStore(registry.postgres.url, objects);
});

test("an object storage that goes away for a moment is a 503, and an upload goes on where it was", async () => {
  const content = randomBytes((6 << 20) + 500);
  const digest = digestOf(content);
  const start = await client.call("POST", "/v2/crash/away/blobs/uploads/");
  const path = start.headers.get("location") ?? "";
  assert.equal((await client.call("PATCH", path, { body: content.subarray(0, 6 << 20) })).status, 202);
  await storage.kill();
  const refused = await client.call("PUT", `${path}?digest=${digest}`, { body: content.subarray(6 << 20) });
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "1"], refused.body.toString());
  await storage.start();
  assert.equal((await client.call("GET", path)).headers.get("range"), `0-${(6 << 20) - 1}`);
  const done = await client.call("PUT", `${path}?digest=${digest}`, { body: content.subarray(6 << 20) });
  assert.equal(done.status, 201, done.body.toString());
  const read = await client.call("GET", `/v2/crash/away/blobs/${digest}`);
  assert.equal(digestOf(read.body), digest);
});

test("when everything is deleted, the bucket is empty, however often it was killed meanwhile", async () => {
  const { repositories } = (await client.call("GET", "/v2/_catalog")).json() as { repositories: readonly string[] };
  // Those without a manifest are not listed, and hold what was pushed to them for PUSH_RETENTION.
  for (const name of new Set([...repositories, "crash/r0", "crash/r1", "crash/r2", "crash/away"])) {
    const short = name.slice("crash/".length);
    const { status } = await client.call("DELETE", `/api/v2.0/projects/crash/repositories/${short}`);
    assert.ok(status === 200 || (status === 404 && !repositories.includes(name)), `${name}: ${status}`);
    await registry.kill();
    await registry.start();
  }
  const left = async () => {
    const { Uploads = [] } = await storage.client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
    return [...(await objects()), ...Uploads.map(({ Key }) => `parts of ${Key}`)];
  };
  await waitUntil("the bucket is empty", async () => (await left()).length === 0, 90).catch(async (error: unknown) => {
    throw new Error(`left: ${(await left()).join(", ")}`, { cause: error });
  });
});
