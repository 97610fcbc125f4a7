import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { callAdmin } from "./call-admin.ts";
import { type ROOT, startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
const admin = (method: string, path: string, body?: object) => callAdmin(store, method, path, body);
const everything = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action: "s3:*", Resource: "arn:aws:s3:::*" }],
};

before(async () => {
  store = await startObjstore();
  await admin("PUT", "/api/buckets/sessions");
});
after(() => store.stop());

interface SignedIn {
  readonly console: () => Promise<number>;
  readonly s3: () => Promise<string>;
}

async function makeKey(user: string, more: object = {}): Promise<{ accessKey: string; secretKey: string }> {
  assert.equal((await admin("PUT", `/api/users/${user}`, { policy: everything })).status, 200);
  return (await admin("POST", "/api/access-keys", { user, ...more })).body;
}

async function signIn({ accessKey, secretKey }: { accessKey: string; secretKey: string }): Promise<SignedIn> {
  const answer = await fetch(`${store.consoleUrl}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ accessKey, secretKey }),
  });
  assert.equal(answer.status, 200);
  const { session, credentials } = (await answer.json()) as { session: string; credentials: typeof ROOT };
  return {
    console: async () => (await callAdmin(store, "GET", "/api/buckets", undefined, `Bearer ${session}`)).status,
    s3: async () => {
      const client = new s3.S3Client({ endpoint: store.url, region: "us-east-1", forcePathStyle: true, credentials });
      try {
        await client.send(new s3.ListObjectsV2Command({ Bucket: "sessions" }));
        return "listed";
      } catch (error) {
        return (error as Error).name;
      } finally {
        client.destroy();
      }
    },
  };
}

const works = async (session: SignedIn) =>
  assert.deepEqual([await session.console(), await session.s3()], [200, "listed"]);
const hasEnded = async (session: SignedIn) =>
  assert.deepEqual([await session.console(), await session.s3()], [401, "InvalidAccessKeyId"]);

test("disabling a key ends the sessions made with it at once, and no others", async () => {
  const [first, second] = [await makeKey("ann"), await makeKey("ann")];
  const [one, other] = [await signIn(first), await signIn(second)];
  await works(one);
  assert.equal((await admin("PATCH", `/api/access-keys/${first.accessKey}`, { enabled: false })).status, 200);
  await hasEnded(one);
  await works(other);
  const again = await callAdmin(store, "POST", "/api/session", first, "");
  assert.equal(again.status, 401);
  await admin("PATCH", `/api/access-keys/${first.accessKey}`, { enabled: true });
  await hasEnded(one);
  await works(await signIn(first));
});

test("deleting a key ends the sessions made with it", async () => {
  const key = await makeKey("ben");
  const session = await signIn(key);
  await works(session);
  await admin("DELETE", `/api/access-keys/${key.accessKey}`);
  await hasEnded(session);
});

test("disabling or deleting a user ends all of the user's sessions", async () => {
  for (const end of [
    () => admin("PUT", "/api/users/cleo", { policy: everything, enabled: false }),
    () => admin("DELETE", "/api/users/cleo"),
  ]) {
    const sessions = [await signIn(await makeKey("cleo")), await signIn(await makeKey("cleo"))];
    await Promise.all(sessions.map(works));
    await end();
    await Promise.all(sessions.map(hasEnded));
    await admin("PUT", "/api/users/cleo", { policy: everything, enabled: true });
    await Promise.all(sessions.map(hasEnded));
  }
});

test("a session never outlives its key", async () => {
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const key = await makeKey("dora", { expiresAt });
  const answer = await fetch(`${store.consoleUrl}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(key),
  });
  assert.equal(((await answer.json()) as { expires: string }).expires, expiresAt);
});

test("users and keys are read one by one", async () => {
  const key = await makeKey("fay");
  assert.equal((await admin("GET", "/api/users/fay")).body.name, "fay");
  assert.equal((await admin("GET", "/api/users/nobody")).status, 404);
  const { accessKeys } = (await admin("GET", "/api/access-keys?user=fay")).body;
  assert.deepEqual(
    accessKeys.map(({ accessKey }: { accessKey: string }) => accessKey),
    [key.accessKey],
  );
});
