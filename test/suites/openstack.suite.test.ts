// The bucket operator against OpenStack's own Keystone and Swift, from PyPI, in a virtual environment that is made for it;
// OPENSTACK_BIN names the folder of programs of one that there is.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { type TestOperator, startOperator } from "../../components/bucket-operator/test/start-operator.ts";
import { installOpenStack } from "./openstack/install-openstack.ts";
import { type TestCloud, startOpenStack } from "./openstack/start-openstack.ts";

const folder = mkdtempSync(join(tmpdir(), "swath-openstack-"));
const bin = installOpenStack(folder);
const skip = bin === undefined ? "needs python3 with venv, a C compiler, liberasurecode, and the registry PyPI" : false;
let cloud: TestCloud;
let operator: TestOperator;

before(async () => {
  if (bin !== undefined) {
    cloud = await startOpenStack(bin, folder);
    operator = await startOperator(cloud.settings);
  }
});
after(async () => {
  await operator?.close();
  await cloud?.close();
  rmSync(folder, { recursive: true });
});

const projectsOf = async (name: string): Promise<{ id: string }[]> =>
  (await cloud.keystone("GET", `/projects?name=project-${name}`)).projects;
const usersOf = async (name: string): Promise<{ id: string; email?: string }[]> =>
  (await cloud.keystone("GET", `/users?name=user-${name}`)).users;
const keysOf = async (name: string) => (await operator.send("GET", `/buckets/${name}/keys`)).body;
/** @returns status of one request to the project's account with a token */
const swift = async (token: string, method: string, path: string, body?: string): Promise<number> => {
  const [projectId = ""] = path.split("/");
  const url = `${cloud.accountOf(projectId)}${path.slice(projectId.length)}`;
  const response = await fetch(url, {
    method,
    headers: { "x-auth-token": token },
    ...(body !== undefined && { body }),
  });
  await response.arrayBuffer();
  return response.status;
};
const openS3 = ({ access, secret }: { access: string; secret: string }) =>
  new S3Client({
    endpoint: cloud.s3Url,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: access, secretAccessKey: secret },
    requestChecksumCalculation: "WHEN_REQUIRED",
  });
const read = async (s3: S3Client, bucket: string, key: string) =>
  (await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }))).Body?.transformToString();

test(
  "a bucket has a project, a user and keys that open it by S3; the service project writes, others do not",
  { skip },
  async () => {
    assert.equal((await operator.send("PUT", "/buckets/eric", { bucketName: "eric-data" })).status, 202);
    await operator.waitFor("eric", "Ready");
    const [project, ...moreProjects] = await projectsOf("eric");
    const [user, ...moreUsers] = await usersOf("eric");
    assert.ok(project && user);
    assert.deepEqual([moreProjects, moreUsers], [[], []]);
    assert.equal(user.email, "swath+eric@example.org");
    const s3 = openS3(await keysOf("eric"));
    await s3.send(new PutObjectCommand({ Bucket: "eric-data", Key: "a b/ü.txt", Body: "scene" }));
    assert.equal(await read(s3, "eric-data", "a b/ü.txt"), "scene");
    const service = await cloud.logInTo(cloud.serviceProject);
    assert.equal(await swift(service, "PUT", `${project.id}/eric-data/result.txt`, "result"), 201);
    assert.equal(await read(s3, "eric-data", "result.txt"), "result");
    const stranger = await cloud.logInTo(await cloud.makeProject("stranger"));
    assert.equal(await swift(stranger, "GET", `${project.id}/eric-data/result.txt`), 403);
    assert.equal(await swift(stranger, "PUT", `${project.id}/eric-data/result.txt`, "changed"), 403);
  },
);

test("a project of somebody else is left alone", { skip }, async () => {
  const id = await cloud.makeProject("project-bob");
  await operator.send("PUT", "/buckets/bob", { bucketName: "bob-data" });
  await operator.waitFor("bob", "NameTaken");
  await operator.send("DELETE", "/buckets/bob?data=purge");
  await operator.waitGone("bob");
  assert.deepEqual(
    (await projectsOf("bob")).map((each) => each.id),
    [id],
  );
});

test(
  "kept data outlive the bucket's keys and are there for the next ones; purged data and the project go",
  { skip },
  async () => {
    const first = await keysOf("eric");
    assert.equal((await operator.send("DELETE", "/buckets/eric?data=keep")).status, 202);
    await operator.waitGone("eric");
    assert.deepEqual(await usersOf("eric"), []);
    await assert.rejects(
      read(openS3(first), "eric-data", "result.txt"),
      ({ $metadata }) => $metadata.httpStatusCode === 403,
    );
    await operator.send("PUT", "/buckets/eric", { bucketName: "eric-data" });
    await operator.waitFor("eric", "Ready");
    const second = await keysOf("eric");
    assert.notEqual(second.access, first.access);
    assert.equal(await read(openS3(second), "eric-data", "result.txt"), "result");
    await operator.send("DELETE", "/buckets/eric?data=purge");
    await operator.waitGone("eric");
    assert.deepEqual(await projectsOf("eric"), []);
  },
);

test("a cloud that is away is said, and the bucket is made when it is back", { skip }, async () => {
  await cloud.stopKeystone();
  await operator.send("PUT", "/buckets/later", { bucketName: "later-data" });
  await operator.waitFor("later", "StorageUnavailable");
  assert.match((await operator.send("GET", "/buckets/later")).body.message, /identity service .* cannot be reached/);
  await cloud.startKeystone();
  await operator.endLeases();
  await operator.waitFor("later", "Ready");
});

test(
  "an operator killed at random while it works leaves one project, one user and one pair of keys",
  { skip },
  async () => {
    for (let round = 0; round < 8; round += 1) {
      const name = `crash-${round}`;
      await operator.send("PUT", `/buckets/${name}`, { bucketName: `${name}-data` });
      await waitUntil("something of it is there", async () => (await projectsOf(name)).length === 1);
      // From nothing but the project to all of it: each round a little later.
      await new Promise((resolve) => setTimeout(resolve, round * 60));
      await operator.kill("SIGKILL");
      await operator.endLeases();
      await operator.start();
      await operator.waitFor(name, "Ready");
      const [user, ...more] = await usersOf(name);
      assert.ok(user);
      assert.deepEqual([(await projectsOf(name)).length, more], [1, []]);
      const { credentials } = await cloud.keystone("GET", `/users/${user.id}/credentials/OS-EC2`);
      assert.equal(credentials.length, 1);
      const s3 = openS3(await keysOf(name));
      await s3.send(new PutObjectCommand({ Bucket: `${name}-data`, Key: "x", Body: "x" }));
    }
  },
);

test("no secret is in the log", { skip }, async () => {
  const { secret } = await keysOf("later");
  for (const each of [secret, cloud.settings["CLOUD_PASSWORD"] ?? ""]) {
    assert.equal(operator.log().includes(each), false);
  }
});
