import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { readyOnce } from "@swath/service";

import { createOpenStackStorage } from "../storage/openstack/openstack.ts";
import { CLOUD, LARGE, startOpenStackStub } from "./openstack-stub.ts";
import { type TestOperator, startOperator } from "./start-operator.ts";

let cloud: Awaited<ReturnType<typeof startOpenStackStub>>;
let operator: TestOperator;

before(async () => {
  cloud = await startOpenStackStub();
  operator = await startOperator({
    CLOUD_IDENTITY_URL: `${cloud.origin}/v3`,
    CLOUD_S3_URL: cloud.origin,
    CLOUD_DOMAINNAME: CLOUD.domain,
    CLOUD_USERNAME: CLOUD.username,
    CLOUD_PASSWORD: CLOUD.password,
    CLOUD_MEMBERROLEID: CLOUD.memberRole,
    CLOUD_SERVICEPROJECTID: CLOUD.serviceProject,
  });
});
after(async () => {
  delete cloud.hooks.onRequest;
  await operator.close();
  await cloud.close();
});

const send: TestOperator["send"] = (...request) => operator.send(...request);
const waitFor: TestOperator["waitFor"] = (...expected) => operator.waitFor(...expected);
const waitGone: TestOperator["waitGone"] = (name) => operator.waitGone(name);
const projectOf = (name: string) => [...cloud.projects.values()].filter((each) => each.name === `project-${name}`);
const userOf = (name: string) => [...cloud.users.values()].filter((each) => each.name === `user-${name}`);

test("a bucket gets a project, a user, keys, a container and the policy, and the API shows it", async () => {
  assert.equal((await send("PUT", "/buckets/eric", { bucketName: "eric-data" })).status, 202);
  await waitFor("eric", "Ready");
  const [project] = projectOf("eric");
  const [user] = userOf("eric");
  assert.ok(project && user);
  assert.equal(user.default_project_id, project.id);
  assert.equal(user.email, "swath+eric@example.org");
  assert.ok(user.password.length >= 32 && !user.password.includes("eric"), "no password made of the name");
  assert.ok(cloud.roles.has(`${project.id} ${user.id}`) && cloud.roles.has(`${project.id} admin-1`));
  assert.equal(
    cloud.containers.get(`AUTH_${project.id}/eric-data`)?.headers["x-container-meta-createdby"],
    "swath-bucket-operator",
  );
  assert.match(JSON.stringify(cloud.policies.get("eric-data")), /arn:aws:iam::project-of-the-service:root/);
  const keys = (await send("GET", "/buckets/eric/keys")).body;
  assert.equal(cloud.ec2.get(keys.access)?.secret, keys.secret);
  assert.equal(keys.projectid, project.id);
  const listed = (await send("GET", "/buckets?bucket-name=eric-data")).body;
  assert.equal(listed.length, 1);
  assert.equal(listed[0].name, "eric");
  assert.ok(Date.parse(listed[0].creationTimestamp) > 0);
  assert.equal((await send("GET", "/buckets?bucket-name=nothing")).body.length, 0);
  assert.equal(
    operator.log().includes(keys.secret) || operator.log().includes(user.password),
    false,
    "no secret in the log",
  );
});

test("the same again changes nothing; names that are taken are refused", async () => {
  const before = cloud.state.requests;
  assert.equal((await send("PUT", "/buckets/eric", { bucketName: "eric-data" })).status, 202);
  assert.equal(cloud.state.requests, before);
  assert.equal((await send("PUT", "/buckets/other", { bucketName: "eric-data" })).status, 409);
  assert.equal((await send("PUT", "/buckets/eric", { bucketName: "renamed" })).status, 409);
  assert.equal((await send("PUT", "/buckets/Not%20a%20name", { bucketName: "x-data" })).status, 400);
  assert.equal((await fetch(`${operator.url}/buckets`)).status, 401);
  assert.equal((await fetch(`${operator.url}/actuator/health`)).status, 200);
  assert.match((await send("GET", "/actuator/prometheus")).body, /bucket_operator_buckets\{reason="Ready"\} 1/);
});

test("a project of somebody else is left alone, also by the deletion of the bucket", async () => {
  cloud.projects.set("foreign", { id: "foreign", name: "project-bob", domain_id: "domain-1", tags: [] });
  cloud.containers.set("AUTH_foreign/bob-data", { headers: {}, objects: new Map([["precious", ""]]) });
  await send("PUT", "/buckets/bob", { bucketName: "bob-data" });
  await waitFor("bob", "NameTaken");
  assert.match((await send("GET", "/buckets/bob")).body.message, /choose another name/);
  await send("DELETE", "/buckets/bob?data=purge");
  await waitGone("bob");
  assert.equal(cloud.containers.get("AUTH_foreign/bob-data")?.objects.size, 1);
  assert.ok(cloud.projects.has("foreign"));
});

test("what the operator of the earlier release line made is taken over, with new secrets", async () => {
  cloud.projects.set("p-old", { id: "p-old", name: "project-old", domain_id: "domain-1", tags: [] });
  const password = "old+p-old";
  const old = { id: "u-old", name: "user-old", domain_id: "domain-1", default_project_id: "p-old", password };
  cloud.users.set("u-old", old);
  cloud.ec2.set("old+1", { access: "old+1", secret: "old+1", user_id: "u-old", tenant_id: "p-old" });
  await send("PUT", "/buckets/old", { bucketName: "old-data" });
  await waitFor("old", "Ready");
  assert.notEqual(cloud.users.get("u-old")?.password, password);
  assert.equal(cloud.ec2.has("old+1"), false);
  assert.equal([...cloud.ec2.values()].filter(({ user_id: user }) => user === "u-old").length, 1);
});

test("a cloud without bucket policies gets an access list; one that is away is tried again; lost tokens are replaced", async () => {
  cloud.state.hasBucketPolicies = false;
  cloud.state.isDown = true;
  cloud.forgetTokens();
  await send("PUT", "/buckets/swift", { bucketName: "swift-data" });
  await waitFor("swift", "StorageUnavailable");
  assert.match((await send("GET", "/buckets/swift")).body.message, /503/);
  cloud.state.isDown = false;
  await waitFor("swift", "Ready");
  const [project] = projectOf("swift");
  const container = cloud.containers.get(`AUTH_${project?.id}/swift-data`);
  assert.equal(container?.headers["x-container-write"], "project-of-the-service:*");
  cloud.state.hasBucketPolicies = true;
});

test("deletion keeps the data unless they are to go, and takes the keys either way", async () => {
  const [project] = projectOf("eric");
  const container = cloud.containers.get(`AUTH_${project?.id}/eric-data`);
  ["a", "b/c d", "ü?"].forEach((name) => container?.objects.set(name, ""));
  container?.objects.set("e", LARGE);
  assert.equal((await send("DELETE", "/buckets/eric?data=keep")).status, 202);
  await waitGone("eric");
  assert.equal(container?.objects.size, 4);
  assert.deepEqual(userOf("eric"), []);
  assert.equal([...cloud.ec2.values()].filter(({ tenant_id: id }) => id === project?.id).length, 0);
  await send("PUT", "/buckets/eric", { bucketName: "eric-data" });
  await waitFor("eric", "Ready");
  assert.equal((await send("GET", "/buckets/eric/keys")).body.projectid, project?.id, "the same data, new keys");
  await send("DELETE", "/buckets/eric?data=purge");
  await waitGone("eric");
  assert.deepEqual(projectOf("eric"), []);
  assert.equal(cloud.containers.has(`AUTH_${project?.id}/eric-data`), false);
});

/** Moments at which something has just been made that nobody has written down yet. */
const MOMENTS: readonly (readonly [name: string, request: RegExp, when: "before" | "after"])[] = [
  ["project", /^POST \/v3\/projects$/, "after"],
  ["user", /^POST \/v3\/users$/, "after"],
  ["no-keys", /^POST .*\/OS-EC2$/, "before"],
  ["keys", /^POST .*\/OS-EC2$/, "after"],
  ["container", /^PUT \/v1\/AUTH_[^/]+\/[^/]+$/, "after"],
];

test("kill -9 at any moment leaves no orphan: one project, one user, one pair of keys", async () => {
  for (const [moment, request, when] of MOMENTS) {
    const name = `crash-${moment}`;
    const killed = new Promise<void>((resolve, reject) => {
      cloud.hooks.onRequest = (what, now) => {
        if (now === when && request.test(what)) {
          delete cloud.hooks.onRequest;
          operator.kill("SIGKILL").then(resolve, reject);
        }
      };
    });
    // The operator may be at work, and so be killed, before its answer is sent.
    const response = await send("PUT", `/buckets/${name}`, { bucketName: `${name}-data` }).catch(() => undefined);
    assert.equal(response?.status ?? 202, 202);
    await killed;
    await operator.endLeases();
    await operator.start();
    if (response === undefined) {
      // The operator died before it acknowledged the request.
      assert.equal((await send("PUT", `/buckets/${name}`, { bucketName: `${name}-data` })).status, 202);
    }
    await waitFor(name, "Ready");
    assert.equal(projectOf(name).length, 1, `${moment}: projects`);
    const [user, ...more] = userOf(name);
    assert.deepEqual(more, [], `${moment}: users`);
    assert.equal([...cloud.ec2.values()].filter(({ user_id: id }) => id === user?.id).length, 1, `${moment}: keys`);
  }
});

test("is not ready with an account that the cloud refuses, and names the variables to check", async () => {
  const { check, close } = createOpenStackStorage({
    url: `${cloud.origin}/v3`,
    region: "RegionOne",
    domain: CLOUD.domain,
    username: CLOUD.username,
    password: "wrong",
    memberRole: CLOUD.memberRole,
    serviceProject: undefined,
    emailPattern: "<name>@example.org",
    s3Url: cloud.origin,
  });
  const ready = readyOnce(check, { retryMs: 0 });
  await assert.rejects(ready(), /answers 401 .*check CLOUD_USERNAME, CLOUD_PASSWORD, CLOUD_DOMAINNAME/);
  await close();
});
