// The task that makes the processing service's buckets and their keys, against a real object storage.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import { compiledCode } from "@swath/testing";

import { startObjstore } from "../../staging/test/servers.ts";
import { createS3Client } from "../../staging/s3-client.ts";
import { createBlobStore } from "../../step-files/blob-store.ts";
import { toCredentials } from "../access-key.ts";

let objstore: Awaited<ReturnType<typeof startObjstore>>;
before(async () => {
  objstore = await startObjstore();
});
after(() => objstore?.stop());

const newKey = () => randomBytes(32).toString("base64url");

async function run(keys: Readonly<Record<string, string>>, password = objstore.admin.password): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../main.ts")], {
    env: {
      ...compiledCode,
      LOG_LEVEL: "silent",
      OBJSTORE_ADMIN_URL: objstore.admin.url,
      OBJSTORE_ROOT_USER: objstore.admin.user,
      OBJSTORE_ROOT_PASSWORD: password,
      ...keys,
    },
    stdio: "inherit",
  });
  const [status] = (await once(child, "exit")) as [number];
  return status;
}

const open = (secret: string) =>
  createS3Client(
    { ...objstore.endpoint, credentials: toCredentials(undefined, secret) },
    { connections: 1, stallSeconds: 20 },
  );
const nameOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: Error) => error.name,
  );

test("each key opens its own bucket and no other, through a change of it", async (t) => {
  const [results, steps, next] = [newKey(), newKey(), newKey()] as const;
  const named = { RESULTS_KEY: results, STEP_FILES_KEY: steps };
  assert.equal(await run(named), 0);
  assert.equal(await run(named), 0, "a second time");
  const [ofResults, ofSteps, later] = [open(results), open(steps), open(next)];
  t.after(() => [ofResults, ofSteps, later].forEach((client) => client.destroy()));
  const put = (client: typeof ofSteps, Bucket: string) =>
    nameOf(client.send(new PutObjectCommand({ Bucket, Key: "a", Body: "a" })));
  const get = (client: typeof ofSteps, Bucket: string) =>
    nameOf(client.send(new GetObjectCommand({ Bucket, Key: "a" })).then(({ Body }) => Body?.transformToString()));
  const list = (client: typeof ofSteps, Bucket: string) => nameOf(client.send(new ListObjectsV2Command({ Bucket })));
  assert.deepEqual([await put(ofResults, "results"), await put(ofSteps, "processing-steps")], ["done", "done"]);
  for (const ask of [put, get, list]) {
    assert.equal(await ask(ofResults, "processing-steps"), "AccessDenied");
    assert.equal(await ask(ofSteps, "results"), "AccessDenied");
  }
  // As `swath credentials rotate` does it: both, then the new one first, then it alone.
  assert.equal(await run({ ...named, STEP_FILES_KEY_ALSO: next }), 0);
  assert.deepEqual([await get(ofSteps, "processing-steps"), await get(later, "processing-steps")], ["done", "done"]);
  assert.equal(await run({ ...named, STEP_FILES_KEY: next }), 0);
  assert.equal(await get(ofSteps, "processing-steps"), "InvalidAccessKeyId");
  assert.equal(await get(later, "processing-steps"), "done");
});

test("files of steps need no more rights than the key has", async (t) => {
  const key = newKey();
  assert.equal(await run({ RESULTS_KEY: newKey(), STEP_FILES_KEY: key }), 0);
  const target = { ...objstore.endpoint, credentials: toCredentials(undefined, key), bucket: "processing-steps" };
  const store = createBlobStore(target, { connections: 2, stallSeconds: 20 });
  t.after(() => store.close());
  const { signal } = new AbortController();
  await store.open(signal);
  await store.writeDocument("job", "steps/pod/inputs", "{}", signal);
  assert.equal(await store.readDocument("job", "steps/pod/inputs", signal), "{}");
  assert.equal(await store.read("job", "0".repeat(64), signal), undefined, "one that is not there");
  assert.ok((await store.listJobs(signal)).includes("job"));
  await store.removeJob("job", signal);
  assert.equal(await store.readDocument("job", "steps/pod/inputs", signal), undefined);
});

test("a root password that is none is an error", async () => {
  assert.equal(await run({ RESULTS_KEY: newKey(), STEP_FILES_KEY: newKey() }, "wrong-password"), 1);
});
