import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { callAdmin } from "./call-admin.ts";
import { startIssuer } from "./start-issuer.ts";
import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

let issuer: Awaited<ReturnType<typeof startIssuer>>;
let store: Awaited<ReturnType<typeof startObjstore>>;
const admin = (method: string, path: string, body?: object) => callAdmin(store, method, path, body);

before(async () => {
  issuer = await startIssuer();
  store = await startObjstore({ IDENTITY_ISSUER: issuer.url });
  for (const name of ["ws-eric", "ws-bob", "ws-team"]) {
    assert.equal((await admin("PUT", `/api/buckets/${name}`)).status, 201);
  }
});
after(async () => {
  issuer.stop();
  await store.stop();
});

const allow = (bucket: string, ...actions: readonly string[]) => ({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action: actions, Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`] }],
});

async function assume(token: string, more: Readonly<Record<string, string>> = {}) {
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleSessionName: "test",
    WebIdentityToken: token,
    ...more,
  });
  const response = await fetch(store.url, { method: "POST", body });
  const text = await response.text();
  const read = (name: string) => new RegExp(`<${name}>([^<]+)<`).exec(text)?.[1] ?? "";
  const client = createS3Client(store, {
    credentials: {
      accessKeyId: read("AccessKeyId"),
      secretAccessKey: read("SecretAccessKey"),
      sessionToken: read("SessionToken"),
    },
  });
  return { status: response.status, text, client };
}

const write = (client: s3.S3Client, Bucket: string) =>
  client.send(new s3.PutObjectCommand({ Bucket, Key: "a", Body: "x" })).then(
    () => "written",
    (error: Error) => error.name,
  );

test("roles are made, read, listed, changed and deleted", async () => {
  const policy = allow("ws-eric", "s3:*");
  assert.equal((await admin("PUT", "/api/roles/r1", { policy, claim: "sub", values: ["id-of-eric"] })).status, 204);
  const { body } = await admin("GET", "/api/roles/r1");
  assert.deepEqual([body.claim, body.values, body.policy], ["sub", ["id-of-eric"], policy]);
  assert.equal((await admin("PUT", "/api/roles/r1", { policy, claim: "sub", value: "id-of-bob" })).status, 204);
  assert.deepEqual((await admin("GET", "/api/roles/r1")).body.values, ["id-of-bob"]);
  const names = (await admin("GET", "/api/roles")).body.roles.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ["administrator", "r1"]);
  assert.equal((await admin("DELETE", "/api/roles/r1")).status, 204);
  assert.equal((await admin("DELETE", "/api/roles/r1")).status, 404);
  assert.equal((await admin("GET", "/api/roles/r1")).status, 404);
  for (const wrong of [
    { policy, claim: "sub" },
    { policy, values: ["x"] },
    { policy, claim: "sub", value: "x", values: ["x"] },
    { policy: { Statement: [{ Effect: "Maybe" }] } },
    { claim: "sub", values: ["x"] },
    { policy, claim: "sub", values: [7] },
  ]) {
    assert.equal((await admin("PUT", "/api/roles/r2", wrong)).status, 400, JSON.stringify(wrong));
  }
  assert.equal((await admin("PUT", "/api/roles/-bad", { policy })).status, 400);
  assert.equal((await callAdmin(store, "GET", "/api/roles", undefined, "Bearer x.y")).status, 401);
});

test("a user reaches the buckets of the workspaces whose roles fit, and no other", async () => {
  await admin("PUT", "/api/roles/ws-eric", { policy: allow("ws-eric", "s3:*"), claim: "sub", values: ["id-of-eric"] });
  await admin("PUT", "/api/roles/ws-bob", { policy: allow("ws-bob", "s3:*"), claim: "sub", values: ["id-of-bob"] });
  const both = { policy: allow("ws-team", "s3:*"), claim: "preferred_username", values: ["eric", "bob"] };
  await admin("PUT", "/api/roles/ws-team", both);
  const { client } = await assume(await issuer.sign("eric"));
  assert.equal(await write(client, "ws-eric"), "written");
  assert.equal(await write(client, "ws-team"), "written");
  assert.equal(await write(client, "ws-bob"), "AccessDenied");
  const { Buckets } = await client.send(new s3.ListBucketsCommand({}));
  assert.deepEqual(
    Buckets?.map(({ Name }) => Name),
    ["ws-eric", "ws-team"],
  );
  const one = await assume(await issuer.sign("eric"), { RoleArn: "arn:aws:iam:::role/ws-team" });
  assert.equal(await write(one.client, "ws-team"), "written");
  assert.equal(await write(one.client, "ws-eric"), "AccessDenied", "the one role that was asked for");
  const other = await assume(await issuer.sign("eric"), { RoleArn: "arn:aws:iam:::role/ws-bob" });
  assert.equal(other.status, 403);
  for (const each of [client, one.client, other.client]) {
    each.destroy();
  }
});

test("who is taken out of a role loses the keys got by it; who stays or comes loses nothing", async () => {
  const role = (...values: readonly string[]) =>
    admin("PUT", "/api/roles/shared", { policy: allow("ws-team", "s3:*"), claim: "sub", values });
  await admin("DELETE", "/api/roles/ws-team");
  await role("id-of-carol");
  const { client } = await assume(await issuer.sign("carol"));
  assert.equal(await write(client, "ws-team"), "written");
  await role("id-of-carol", "id-of-dave");
  assert.equal(await write(client, "ws-team"), "written");
  await role("id-of-dave");
  assert.equal(await write(client, "ws-team"), "InvalidAccessKeyId");
  assert.equal((await assume(await issuer.sign("carol"))).status, 403);
  client.destroy();
  const dave = await assume(await issuer.sign("dave"));
  assert.equal(await write(dave.client, "ws-team"), "written");
  await admin("DELETE", "/api/roles/shared");
  assert.equal(await write(dave.client, "ws-team"), "InvalidAccessKeyId");
  dave.client.destroy();
});

test("a token counts only when it is an access token for this platform, signed by its issuer and not expired", async () => {
  const refused = async (token: string) => {
    const { status, text } = await assume(token);
    assert.deepEqual([status, /<Code>(\w+)</.exec(text)?.[1]], [400, "InvalidToken"], text);
    assert.ok(token === "" || !text.includes(token), "a token is never repeated");
  };
  await refused(await issuer.sign("eric", { aud: "another-platform" }));
  await refused(await issuer.sign("eric", { aud: undefined }));
  await refused(await issuer.sign("eric", { typ: "ID" }));
  await refused(await issuer.sign("eric", {}, "http://elsewhere/realms/master"));
  await refused("nonsense");
  await refused("");
  const token = await issuer.sign("eric");
  await refused(`${token.slice(0, -6)}AAAAAA`);
  assert.equal((await assume(await issuer.sign("eric", { aud: ["x", "swath-platform"] }))).status, 200);
});

test("while the identity service cannot be asked, the answer says so and asks for patience", async (t) => {
  const lone = await startObjstore({ IDENTITY_ISSUER: "http://127.0.0.1:9/realms/master" });
  t.after(lone.stop);
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    WebIdentityToken: await issuer.sign("eric", {}, "http://127.0.0.1:9/realms/master"),
  });
  const response = await fetch(lone.url, { method: "POST", body });
  assert.equal(response.status, 503);
  assert.match(await response.text(), /identity service cannot be asked now/);
});
