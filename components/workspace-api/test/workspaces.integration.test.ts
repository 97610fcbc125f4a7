import assert from "node:assert/strict";
import { after, before, test as declare } from "node:test";

import { runCommand, waitUntil } from "@swath/testing";

import { createLogger } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";

import { createWorkspaceApi } from "../service.ts";
import { type TestResponse, ROOT, type Fixture, needsAws, startFixture } from "./fixture.ts";

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
  fixture.startReconciler();
});
after(() => fixture.close());
const test = (name: string, body: () => Promise<void>) => declare(name, needsAws, body);

const ready = (name: string, user = "admin") =>
  waitUntil(`${name} is ready`, async () => {
    const { status, body } = await fixture.send(user, "GET", `/workspaces/${name}`);
    return status === 200 &&
      body.status === "ready" &&
      body.steps.every(({ state }: { state: string }) => state === "done")
      ? (body as TestResponse["body"])
      : undefined;
  });
const aws = (credentials: { access: string; secret: string }, ...args: readonly string[]) =>
  runCommand("aws", ["--endpoint-url", fixture.objstoreUrl, ...args], {
    env: {
      PATH: process.env["PATH"],
      AWS_ACCESS_KEY_ID: credentials.access,
      AWS_SECRET_ACCESS_KEY: credentials.secret,
      AWS_DEFAULT_REGION: "us-east-1",
      AWS_EC2_METADATA_DISABLED: "true",
    },
    input: "hello\n",
  });
const objstore = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${fixture.objstoreAdminUrl}${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${ROOT.user}:${ROOT.password}`).toString("base64")}`,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
};

test("a workspace opens its own bucket and no other", async () => {
  for (const user of ["eric", "bob"]) {
    const made = await fixture.send("admin", "POST", "/workspaces", { preferred_name: user, default_owner: user });
    assert.deepEqual(made, { status: 201, body: { name: `ws-${user}` } });
  }
  const { storage } = await ready("ws-eric", "eric");
  await ready("ws-bob");
  const { credentials } = storage;
  assert.deepEqual(Object.keys(credentials).toSorted(), [
    "access",
    "bucketname",
    "endpoint",
    "projectid",
    "region",
    "secret",
  ]);
  assert.equal(credentials.bucketname, "ws-eric");
  assert.equal((await aws(credentials, "s3", "cp", "-", "s3://ws-eric/a/b.txt")).status, 0);
  assert.match((await aws(credentials, "s3", "ls", "s3://ws-eric/a/")).stdout, /6 b\.txt/);
  assert.match((await aws(credentials, "s3", "cp", "-", "s3://ws-bob/b.txt")).stderr, /AccessDenied/);
  assert.match((await aws(credentials, "s3", "ls", "s3://ws-bob/")).stderr, /AccessDenied/);
});

test("strangers see nothing, nobody sees anything without a valid token", async () => {
  assert.equal((await fixture.send(undefined, "GET", "/workspaces/ws-eric")).status, 401);
  assert.equal(
    (await fixture.send(undefined, "GET", "/workspaces", undefined, { authorization: "Bearer a.b.c" })).status,
    401,
  );
  assert.equal((await fixture.send("bob", "GET", "/workspaces/ws-eric")).status, 404);
  assert.equal((await fixture.send("bob", "GET", "/workspaces/ws-nobody")).status, 404);
  for (const [method, path] of [
    ["DELETE", "/workspaces/ws-eric?data=purge"],
    ["POST", "/workspaces/ws-eric/rotate-keys"],
    ["POST", "/workspaces/ws-eric/redeploy"],
  ] as const) {
    assert.equal((await fixture.send("bob", method, path)).status, 404, path);
  }
  const own = await fixture.send("eric", "GET", "/workspaces");
  assert.deepEqual(
    own.body.workspaces.map(({ name }: { name: string }) => name),
    ["ws-eric"],
  );
  const open = await fixture.send(undefined, "GET", "/workspaces/ws-eric", undefined, {
    host: "workspace-api-open.example.org",
  });
  assert.equal(open.status, 200);
});

test("people create workspaces for themselves only", async () => {
  const other = await fixture.send("carol", "POST", "/workspaces", { preferred_name: "dave", default_owner: "dave" });
  assert.equal(other.status, 403);
  const own = await fixture.send("carol", "POST", "/workspaces", { preferred_name: "carol" });
  assert.deepEqual(own, { status: 201, body: { name: "ws-carol" } });
  assert.equal((await ready("ws-carol", "carol")).owner, "carol");
});

test("self-service: a name that could be another user's is refused, and a user owns so many and no more", async () => {
  for (const name of ["dave", "heidi 2", "Heidi"]) {
    const refused = await fixture.send("heidi", "POST", "/workspaces", { preferred_name: name });
    assert.equal(refused.status, name === "Heidi" ? 201 : 403, name);
  }
  // At once: still one more, and no more than one.
  const more = await Promise.all(Array.from({ length: 5 }, () => fixture.send("heidi", "POST", "/workspaces", {})));
  assert.deepEqual(
    more.map(({ status }) => status).toSorted((one, other) => one - other),
    [201, 403, 403, 403, 403],
  );
  assert.equal(
    (await fixture.send("admin", "POST", "/workspaces", { preferred_name: "more", default_owner: "heidi" })).status,
    201,
  );
});

test("where operators create workspaces, nobody else does", async () => {
  const app = await createWorkspaceApi(createLogger("workspace-api", "fatal"), {
    db: fixture.database.db,
    prefix: "ws",
    limits: new CallerLimits(),
    creation: { by: "operators", limitPerUser: 1 },
    callerOf: async ({ headers }) =>
      headers.authorization === "admin"
        ? { isAdmin: true, user: { id: "1", username: "admin" } }
        : { isAdmin: false, user: { id: "2", username: "ivan" } },
  });
  const create = (authorization: string, owner: string) =>
    app.inject({
      method: "POST",
      url: "/workspaces",
      headers: { authorization },
      payload: { preferred_name: "ivan", default_owner: owner },
    });
  assert.equal((await create("ivan", "ivan")).statusCode, 403);
  assert.equal((await create("admin", "ivan")).statusCode, 201);
  await app.close();
});

test("a user name that is somebody's id opens nothing of theirs", async () => {
  const id = "5f0c3c1e-6c2b-4a51-9d07-3f4f1c6f1a11";
  await fixture.send("admin", "POST", "/workspaces", { preferred_name: "idtest", default_owner: id });
  assert.equal((await fixture.send(id, "GET", "/workspaces/ws-idtest")).status, 404);
});

test("of requests for one name exactly one wins; with an idempotency key it may be repeated", async () => {
  const body = { preferred_name: "Race!", default_owner: "eric" };
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => fixture.send("admin", "POST", "/workspaces", body)),
  );
  assert.equal(responses.filter(({ status }) => status === 201).length, 1);
  for (const { status, body: refused } of responses.filter((response) => response.status !== 201)) {
    assert.equal(status, 422);
    assert.deepEqual(refused.detail, { error: "Namespace already exists" });
  }
  const key = { "idempotency-key": "first-try" };
  const repeated = { preferred_name: "repeat", default_owner: "eric" };
  assert.equal((await fixture.send("admin", "POST", "/workspaces", repeated, key)).status, 201);
  assert.equal((await fixture.send("admin", "POST", "/workspaces", repeated, key)).status, 201);
  assert.equal((await fixture.send("admin", "POST", "/workspaces", repeated)).status, 422);
});

test("wrong requests say what is wrong, where", async () => {
  const notJson = await fixture.send("admin", "POST", "/workspaces", "{");
  assert.equal(notJson.status, 422);
  const wrongType = await fixture.send("admin", "POST", "/workspaces", { preferred_name: {} });
  assert.deepEqual(wrongType.body.detail[0].loc, ["body", "preferred_name"]);
  const badName = await fixture.send("admin", "GET", "/workspaces/eric");
  assert.equal(badName.status, 422);
  assert.equal(
    (await fixture.send("admin", "PATCH", "/workspaces/ws-eric", { storage: { quota_in_mb: 0 } })).status,
    422,
  );
  for (const body of [
    { unknown: 1 },
    { storage: { unknown: 1 } },
    { members: [{ username: "b", role: "reader", unknown: 1 }] },
  ]) {
    const { status, body: refused } = await fixture.send("admin", "PATCH", "/workspaces/ws-eric", body);
    assert.equal(status, 422);
    assert.match(refused.message, /unknown is not a field that this request may have/);
  }
  const twice = [
    { username: "bob", role: "reader" },
    { username: "bob", role: "writer" },
  ];
  assert.equal((await fixture.send("eric", "PATCH", "/workspaces/ws-eric", { members: twice })).status, 422);
});

test("members see what their role lets them; readers get keys that only read", async () => {
  const members = [
    { username: "bob", role: "reader" },
    { username: "alice", role: "writer" },
  ];
  assert.equal((await fixture.send("eric", "PATCH", "/workspaces/ws-eric", { members })).status, 204);
  const asReader = await waitUntil("bob has keys", async () => {
    const { body } = await fixture.send("bob", "GET", "/workspaces/ws-eric");
    return body.storage ? (body as TestResponse["body"]) : undefined;
  });
  assert.equal(asReader.role, "reader");
  const { credentials } = asReader.storage;
  assert.match((await aws(credentials, "s3", "ls", "s3://ws-eric/a/")).stdout, /b\.txt/);
  assert.match((await aws(credentials, "s3", "cp", "-", "s3://ws-eric/x")).stderr, /AccessDenied/);
  assert.equal((await fixture.send("bob", "PATCH", "/workspaces/ws-eric", { members: [] })).status, 403);
  assert.equal((await fixture.send("bob", "DELETE", "/workspaces/ws-eric")).status, 403);
  const asWriter = await fixture.send("alice", "GET", "/workspaces/ws-eric");
  assert.equal((await aws(asWriter.body.storage.credentials, "s3", "cp", "-", "s3://ws-eric/y")).status, 0);
  await fixture.send("eric", "PATCH", "/workspaces/ws-eric", { members: [] });
  assert.equal((await fixture.send("bob", "GET", "/workspaces/ws-eric")).status, 404);
  await waitUntil("bob's keys are gone", async () =>
    (await aws(credentials, "s3", "ls", "s3://ws-eric/a/")).stderr.includes("InvalidAccessKeyId"),
  );
});

/** Storage keys that a user gets by showing the object storage an access token, as the AWS CLI reads them. */
const keysByLogin = async (user: string) => {
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    WebIdentityToken: await fixture.tokenOf(user),
  });
  const response = await fetch(fixture.objstoreUrl, { method: "POST", body });
  const text = await response.text();
  const read = (name: string) => new RegExp(`<${name}>([^<]+)<`).exec(text)?.[1] ?? "";
  return {
    status: response.status,
    env: {
      PATH: process.env["PATH"],
      AWS_ACCESS_KEY_ID: read("AccessKeyId"),
      AWS_SECRET_ACCESS_KEY: read("SecretAccessKey"),
      AWS_SESSION_TOKEN: read("SessionToken"),
      AWS_DEFAULT_REGION: "us-east-1",
      AWS_EC2_METADATA_DISABLED: "true",
    },
  };
};

test("members reach the bucket with their own login, by their role, and nobody else does", async () => {
  await fixture.send("admin", "POST", "/workspaces", { preferred_name: "login", default_owner: "erin" });
  await ready("ws-login");
  const members = [
    { username: "wendy", role: "writer" },
    { username: "rita", role: "reader" },
  ];
  assert.equal((await fixture.send("erin", "PATCH", "/workspaces/ws-login", { members })).status, 204);
  await waitUntil(
    "the reader's role is there",
    async () => (await objstore("GET", "/api/roles/ws-login-reader")).status === 200,
  );
  const use = async (user: string, ...args: readonly string[]) => {
    const { env } = await keysByLogin(user);
    return runCommand("aws", ["--endpoint-url", fixture.objstoreUrl, ...args], { env, input: "hello\n" });
  };
  assert.equal((await use("erin", "s3", "cp", "-", "s3://ws-login/a.txt")).status, 0);
  assert.equal((await use("wendy", "s3", "cp", "-", "s3://ws-login/b.txt")).status, 0);
  assert.match((await use("rita", "s3", "ls", "s3://ws-login/")).stdout, /a\.txt[\s\S]*b\.txt/);
  assert.match((await use("rita", "s3", "cp", "-", "s3://ws-login/c.txt")).stderr, /AccessDenied/);
  assert.match((await use("erin", "s3", "ls", "s3://ws-eric/")).stderr, /AccessDenied/);
  assert.equal((await keysByLogin("mallory")).status, 403);

  const wendy = await keysByLogin("wendy");
  assert.equal((await fixture.send("erin", "PATCH", "/workspaces/ws-login", { members: [] })).status, 204);
  await waitUntil("wendy's keys have ended", async () => {
    const response = await runCommand(
      "aws",
      ["--endpoint-url", fixture.objstoreUrl, "s3", "ls", "s3://ws-login/"],
      wendy,
    );
    return response.stderr.includes("InvalidAccessKeyId");
  });
  await waitUntil("the reader's role is gone", async () => (await keysByLogin("rita")).status === 403);
  await objstore("DELETE", "/api/roles/ws-login");
  await waitUntil("the role is there again", async () => (await keysByLogin("erin")).status === 200);
  assert.equal((await fixture.send("erin", "DELETE", "/workspaces/ws-login?data=purge")).status, 204);
  await waitUntil("nothing is left", async () => (await keysByLogin("erin")).status === 403);
});

test("only an administrator changes the quota, and the storage holds to it", async () => {
  assert.equal(
    (await fixture.send("eric", "PATCH", "/workspaces/ws-eric", { storage: { quota_in_mb: 1 } })).status,
    403,
  );
  assert.equal(
    (await fixture.send("admin", "PATCH", "/workspaces/ws-eric", { storage: { quota_in_mb: 1 } })).status,
    204,
  );
  await waitUntil(
    "the quota is set",
    async () => (await objstore("GET", "/api/buckets/ws-eric")).body.quotaBytes === 1_048_576,
  );
});

test("keys are replaced on request; the old ones end", async () => {
  const before = (await ready("ws-bob")).storage.credentials;
  assert.equal((await fixture.send("bob", "POST", "/workspaces/ws-bob/rotate-keys")).status, 202);
  const after = await waitUntil("there are new keys", async () => {
    const { body } = await fixture.send("bob", "GET", "/workspaces/ws-bob");
    return body.storage.credentials.access === before.access
      ? undefined
      : (body.storage.credentials as TestResponse["body"]);
  });
  assert.equal((await aws(after, "s3", "ls", "s3://ws-bob/")).status, 0);
  await waitUntil("the old keys are gone", async () => (await aws(before, "s3", "ls", "s3://ws-bob/")).status !== 0);
});

test("what was changed by hand is put right and reported", async () => {
  const { storage } = await ready("ws-carol");
  const anybody = {
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: "arn:aws:s3:::ws-carol/*" }],
  };
  assert.equal((await objstore("PUT", "/api/buckets/ws-carol/policy", anybody)).status, 204);
  await objstore("PUT", "/api/buckets/ws-carol/quota", { bytes: 5 });
  await objstore("DELETE", `/api/access-keys/${storage.credentials.access}`);
  const { repairs } = await waitUntil("it is repaired", async () => {
    const { body } = await fixture.send("carol", "GET", "/workspaces/ws-carol");
    return body.repairs.length >= 3 ? (body as TestResponse["body"]) : undefined;
  });
  const what = repairs.map((repair: { what: string }) => repair.what).join("\n");
  assert.match(what, /policy of its own/);
  assert.match(what, /quota/);
  assert.match(what, /storage key .* was gone/);
  const bucket = await objstore("GET", "/api/buckets/ws-carol");
  assert.equal(bucket.body.policy, null);
  const { credentials } = (await ready("ws-carol", "carol")).storage;
  assert.equal((await aws(credentials, "s3", "ls", "s3://ws-carol/")).status, 0);
});

test("lists come in pages", async () => {
  const first = await fixture.send("admin", "GET", "/workspaces?limit=2");
  assert.equal(first.body.workspaces.length, 2);
  const second = await fixture.send("admin", "GET", `/workspaces?limit=1000&after=${first.body.next}`);
  assert.ok(second.body.workspaces.every(({ name }: { name: string }) => name > first.body.next));
  assert.equal(second.body.next, undefined);
  assert.equal((await fixture.send("admin", "GET", "/workspaces?limit=0")).status, 422);
});

test("a deleted workspace keeps its data for its owner, until they are purged", async () => {
  await fixture.send("admin", "POST", "/workspaces", { preferred_name: "gone", default_owner: "eric" });
  const { credentials } = (await ready("ws-gone")).storage;
  assert.equal((await aws(credentials, "s3", "cp", "-", "s3://ws-gone/kept.txt")).status, 0);
  assert.equal((await fixture.send("eric", "DELETE", "/workspaces/ws-gone")).status, 204);
  const gone = () =>
    waitUntil("it is gone", async () => (await fixture.send("eric", "GET", "/workspaces/ws-gone")).status === 404);
  await gone();
  assert.match((await aws(credentials, "s3", "ls", "s3://ws-gone/")).stderr, /InvalidAccessKeyId/);
  const other = await fixture.send("admin", "POST", "/workspaces", { preferred_name: "gone", default_owner: "bob" });
  assert.equal(other.status, 422);
  assert.match(other.body.message, /former owner's data/);
  assert.equal(
    (await fixture.send("admin", "POST", "/workspaces", { preferred_name: "gone", default_owner: "eric" })).status,
    201,
  );
  const again = await waitUntil("it has keys again", async () => {
    const { body } = await fixture.send("eric", "GET", "/workspaces/ws-gone");
    return body.storage ? (body as TestResponse["body"]) : undefined;
  });
  assert.match((await aws(again.storage.credentials, "s3", "ls", "s3://ws-gone/")).stdout, /kept\.txt/);

  assert.equal((await fixture.send("eric", "DELETE", "/workspaces/ws-gone?data=purge")).status, 204);
  await gone();
  assert.equal((await objstore("GET", "/api/buckets/ws-gone")).status, 404);
  const users = (await objstore("GET", "/api/users")).body.users as readonly { name: string }[];
  assert.ok(!users.some(({ name }) => name.startsWith("ws-gone")));
  assert.equal(
    (await fixture.send("admin", "POST", "/workspaces", { preferred_name: "gone", default_owner: "bob" })).status,
    201,
  );
});
