import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { callAdmin } from "./call-admin.ts";
import { createS3Client } from "./s3-client.ts";
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

interface Key {
  readonly accessKey: string;
  readonly secretKey: string;
}

/** `at()` is asked each time, so that a session is tried on the store as it is then. */
async function signIn({ accessKey, secretKey }: Key, at: () => typeof store = () => store): Promise<SignedIn> {
  const { status, body } = await callAdmin(at(), "POST", "/api/session", { accessKey, secretKey }, "");
  assert.equal(status, 200);
  const { session, credentials } = body as { session: string; credentials: typeof ROOT };
  return {
    console: async () => (await callAdmin(at(), "GET", "/api/buckets", undefined, `Bearer ${session}`)).status,
    s3: async () => {
      const client = createS3Client(at(), { credentials });
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
  const { accessKey, secretKey } = key;
  const { body } = await callAdmin(store, "POST", "/api/session", { accessKey, secretKey }, "");
  assert.equal(body.expires, expiresAt);
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

test("a new root password ends what the root user logged in to before, and nothing else", async () => {
  const directory = await mkdtemp(join(tmpdir(), "objstore-password-"));
  let current: typeof store | undefined;
  const at = () => current as typeof store;
  const start = async (password: string) => {
    await current?.stop();
    current = await startObjstore({ DATA_DIR: directory, OBJSTORE_ROOT_PASSWORD: password });
  };
  try {
    await start("the-first-password");
    const basic = `Basic ${Buffer.from("root:the-first-password").toString("base64")}`;
    const call = (method: string, path: string, body?: object) => callAdmin(at(), method, path, body, basic);
    await call("PUT", "/api/buckets/sessions");
    await call("PUT", "/api/users/gus", { policy: everything });
    const lasting: Key = (await call("POST", "/api/access-keys", { user: "gus" })).body;
    const ofRoot = await signIn({ accessKey: "root", secretKey: "the-first-password" }, at);
    const ofUser = await signIn(lasting, at);
    await Promise.all([ofRoot, ofUser].map(works));

    await start("the-first-password");
    await Promise.all([ofRoot, ofUser].map(works));

    await start("the-second-password");
    await hasEnded(ofRoot);
    await works(ofUser);
    await works(await signIn(lasting, at));
    assert.equal((await call("GET", "/api/buckets")).status, 401);

    await start("the-first-password");
    await hasEnded(ofRoot);
    await works(await signIn({ accessKey: "root", secretKey: "the-first-password" }, at));
  } finally {
    await current?.stop();
    await rm(directory, { recursive: true, force: true });
  }
});
