import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import * as iam from "@aws-sdk/client-iam";
import * as s3 from "@aws-sdk/client-s3";

import { callAdmin } from "./call-admin.ts";
import { createS3Client } from "./s3-client.ts";
import { ROOT, startObjstore } from "./start-objstore.ts";

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

let store: Awaited<ReturnType<typeof startObjstore>>;
let root: iam.IAMClient;
const clients: { destroy: () => void }[] = [];

function createIam(credentials: Keys): iam.IAMClient {
  const client = new iam.IAMClient({ endpoint: store.url, region: "us-east-1", credentials, maxAttempts: 1 });
  clients.push(client);
  return client;
}

function createS3(credentials: Keys): s3.S3Client {
  const client = createS3Client(store, { credentials, maxAttempts: 1 });
  clients.push(client);
  return client;
}

before(async () => {
  store = await startObjstore();
  root = createIam(ROOT);
});
after(async () => {
  clients.forEach((client) => client.destroy());
  await store.stop();
});

const allow = (Action: string | readonly string[], Resource = "*") =>
  JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", Action, Resource }] });

async function makeUser(UserName: string, by = root): Promise<Keys> {
  await by.send(new iam.CreateUserCommand({ UserName }));
  return makeKey(UserName, by);
}

async function makeKey(UserName: string, by = root): Promise<Keys> {
  const { AccessKey } = await by.send(new iam.CreateAccessKeyCommand({ UserName }));
  return { accessKeyId: AccessKey?.AccessKeyId ?? "", secretAccessKey: AccessKey?.SecretAccessKey ?? "" };
}

/** The keys of a user with an account of its own. */
async function makeAccount(name: string, more: object = {}): Promise<Keys> {
  await callAdmin(store, "PUT", `/api/users/${name}`, { policy: JSON.parse(allow("s3:*")), account: name });
  const { body } = await callAdmin(store, "POST", "/api/access-keys", { user: name, ...more });
  return { accessKeyId: body.accessKey, secretAccessKey: body.secretKey };
}

test("users, keys and policies by the IAM API; a new user may nothing until a policy says so", async () => {
  const keys = await makeUser("reader");
  const client = createS3(keys);
  await createS3(ROOT).send(new s3.CreateBucketCommand({ Bucket: "shared" }));
  const list = () => client.send(new s3.ListObjectsV2Command({ Bucket: "shared" }));
  await assert.rejects(list(), { name: "AccessDenied" });
  await assert.rejects(client.send(new s3.ListBucketsCommand({})), { name: "AccessDenied" });
  const policy = { UserName: "reader", PolicyName: "list" };
  await root.send(
    new iam.PutUserPolicyCommand({ ...policy, PolicyDocument: allow("s3:ListBucket", "arn:aws:s3:::shared") }),
  );
  assert.equal((await list()).KeyCount, 0);
  const { PolicyDocument = "" } = await root.send(new iam.GetUserPolicyCommand(policy));
  assert.match(decodeURIComponent(PolicyDocument), /s3:ListBucket/);
  await root.send(new iam.DeleteUserPolicyCommand(policy));
  await assert.rejects(list(), { name: "AccessDenied" });
  const PolicyArn = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess";
  await root.send(new iam.AttachUserPolicyCommand({ UserName: "reader", PolicyArn }));
  assert.equal((await list()).KeyCount, 0);
  await assert.rejects(client.send(new s3.PutObjectCommand({ Bucket: "shared", Key: "k", Body: "x" })), {
    name: "AccessDenied",
  });
  await root.send(
    new iam.UpdateAccessKeyCommand({ UserName: "reader", AccessKeyId: keys.accessKeyId, Status: "Inactive" }),
  );
  await assert.rejects(list(), { name: "InvalidAccessKeyId" });
  await assert.rejects(root.send(new iam.DeleteUserCommand({ UserName: "reader" })), {
    name: "DeleteConflictException",
  });
  await root.send(new iam.DetachUserPolicyCommand({ UserName: "reader", PolicyArn }));
  await root.send(new iam.DeleteAccessKeyCommand({ UserName: "reader", AccessKeyId: keys.accessKeyId }));
  await root.send(new iam.DeleteUserCommand({ UserName: "reader" }));
  await assert.rejects(root.send(new iam.GetUserCommand({ UserName: "reader" })), { name: "NoSuchEntityException" });
});

test("a renamed user keeps id, keys and rights", async () => {
  const keys = await makeUser("before");
  await root.send(
    new iam.PutUserPolicyCommand({ UserName: "before", PolicyName: "all", PolicyDocument: allow("s3:*") }),
  );
  const { User: old } = await root.send(new iam.GetUserCommand({ UserName: "before" }));
  await root.send(new iam.UpdateUserCommand({ UserName: "before", NewUserName: "after", NewPath: "/team/" }));
  const { User: renamed } = await root.send(new iam.GetUserCommand({ UserName: "AFTER" }));
  assert.equal(renamed?.UserId, old?.UserId);
  assert.match(renamed?.Arn ?? "", /:user\/team\/after$/);
  await createS3(keys).send(new s3.ListBucketsCommand({}));
});

test("an account decides over its own users and nobody else's; nobody else's user passes for one of the deployment", async () => {
  const [one, two] = [createIam(await makeAccount("one")), createIam(await makeAccount("two"))];
  await makeUser("of-one", one);
  for (const attempt of [
    new iam.GetUserCommand({ UserName: "of-one" }),
    new iam.CreateAccessKeyCommand({ UserName: "of-one" }),
    new iam.CreateAccessKeyCommand({ UserName: ROOT.accessKeyId }),
    new iam.PutUserPolicyCommand({ UserName: "of-one", PolicyName: "p", PolicyDocument: allow("*") }),
    new iam.DeleteUserCommand({ UserName: "one" }),
  ]) {
    await assert.rejects(two.send(attempt as iam.GetUserCommand), { name: /AccessDenied/ });
  }
  const { Users = [] } = await two.send(new iam.ListUsersCommand({}));
  assert.deepEqual(Users, []);
  // A bucket policy of the deployment that names a user without an account means its own user.
  const owner = createS3(ROOT);
  await owner.send(new s3.CreateBucketCommand({ Bucket: "of-deployment" }));
  const statement = { Effect: "Allow", Principal: { AWS: "arn:aws:iam:::user/guest" }, Action: "s3:ListBucket" };
  const Policy = JSON.stringify({
    Version: "2012-10-17",
    Statement: [{ ...statement, Resource: "arn:aws:s3:::of-deployment" }],
  });
  await owner.send(new s3.PutBucketPolicyCommand({ Bucket: "of-deployment", Policy }));
  const guest = await makeUser("guest", two);
  await two.send(new iam.PutUserPolicyCommand({ UserName: "guest", PolicyName: "all", PolicyDocument: allow("s3:*") }));
  await assert.rejects(createS3(guest).send(new s3.ListObjectsV2Command({ Bucket: "of-deployment" })), {
    name: "AccessDenied",
  });
});

test("what a bucket gives an account is its owner's to give on: a member may nothing by it alone", async () => {
  const keys = await makeAccount("family");
  const [owner, own] = [createIam(keys), createS3(keys)];
  const member = createS3(await makeUser("child", owner));
  const Bucket = "of-family";
  await own.send(new s3.CreateBucketCommand({ Bucket, ObjectOwnership: "ObjectWriter" }));
  const list = () => member.send(new s3.ListObjectsV2Command({ Bucket }));
  await assert.rejects(list(), { name: "AccessDenied" }, "the list names the account");
  const allowTo = (AWS: string) =>
    own.send(
      new s3.PutBucketPolicyCommand({
        Bucket,
        Policy: JSON.stringify({
          Version: "2012-10-17",
          Statement: [
            { Effect: "Allow", Principal: { AWS }, Action: "s3:ListBucket", Resource: `arn:aws:s3:::${Bucket}` },
          ],
        }),
      }),
    );
  await allowTo("arn:aws:iam::family:root");
  await assert.rejects(list(), { name: "AccessDenied" }, "the policy names the account");
  await allowTo("arn:aws:iam::family:user/child");
  assert.equal((await list()).KeyCount, 0);
});

test("keys that end or are narrowed, and sessions, give no rights away", async () => {
  const expiring = createIam(await makeAccount("expiring", { expiresAt: new Date(Date.now() + 60_000).toISOString() }));
  const narrowed = createIam(await makeAccount("narrowed", { policy: JSON.parse(allow(["s3:*", "iam:*"])) }));
  for (const client of [expiring, narrowed]) {
    await client.send(new iam.GetUserCommand({}));
    await assert.rejects(client.send(new iam.CreateAccessKeyCommand({})), { name: /AccessDenied/ });
    await assert.rejects(client.send(new iam.CreateUserCommand({ UserName: "more" })), { name: /AccessDenied/ });
  }
});

test("a bounded account gives its bounds on", async () => {
  const policy = JSON.parse(allow("s3:*")) as object;
  const boundary = JSON.parse(allow(["s3:ListBucket", "iam:*"])) as object;
  await callAdmin(store, "PUT", "/api/users/bounded", { policy, account: "bounded", boundary });
  const { body } = await callAdmin(store, "POST", "/api/access-keys", { user: "bounded" });
  const bounded = createIam({ accessKeyId: body.accessKey, secretAccessKey: body.secretKey });
  const keys = await makeUser("of-bounded", bounded);
  await bounded.send(
    new iam.PutUserPolicyCommand({ UserName: "of-bounded", PolicyName: "all", PolicyDocument: allow("*") }),
  );
  await assert.rejects(createS3(keys).send(new s3.CreateBucketCommand({ Bucket: "not-allowed" })), {
    name: "AccessDenied",
  });
});

test("what is wrong is said in the words of IAM", async () => {
  const wrong = createIam({ ...ROOT, secretAccessKey: "not-the-password-of-the-tests" });
  await assert.rejects(wrong.send(new iam.GetUserCommand({})), { name: "SignatureDoesNotMatch" });
  await assert.rejects(
    createIam({ accessKeyId: "AKIANOBODY", secretAccessKey: "x" }).send(new iam.GetUserCommand({})),
    {
      name: "InvalidClientTokenId",
    },
  );
  await assert.rejects(root.send(new iam.CreateRoleCommand({ RoleName: "r", AssumeRolePolicyDocument: "{}" })), {
    name: "InvalidAction",
  });
  await root.send(new iam.CreateUserCommand({ UserName: "strict" }));
  const put = (PolicyDocument: string) =>
    root.send(new iam.PutUserPolicyCommand({ UserName: "strict", PolicyName: "p", PolicyDocument }));
  await assert.rejects(put("{"), { name: "MalformedPolicyDocumentException" });
  await assert.rejects(put(allow("iam:DeleteEverything")), { name: "MalformedPolicyDocumentException" });
});
