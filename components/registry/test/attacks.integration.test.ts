// What strangers send on purpose: digest confusion, path tricks, bombs, redirects, policies that are gone around.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { connect } from "node:net";
import { after, before, test } from "node:test";

import {
  IMAGE,
  INDEX,
  type RegistryClient,
  basic,
  createClient,
  createProject,
  digestOf,
  imageOf,
  usedBytes,
} from "./client.ts";
import { pushSignature } from "./push-signature.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";

const SECRET = "secret-between-processing-and-registry";
let registry: TestRegistry;
let admin: RegistryClient;
before(async () => {
  registry = await startTestRegistry({ PROCESSING_SECRET: SECRET });
  admin = createClient(registry.url);
  for (const name of ["lab", "eric", "bob"]) {
    await createProject(admin, name);
  }
});
after(() => registry.close());

/** A request with a path that no client library would send; gives the status. */
function sendRaw(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { hostname, port } = new URL(registry.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const fields = {
        host: "registry",
        connection: "close",
        authorization: basic("admin", "password-of-the-tests"),
        ...headers,
      };
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    });
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("end", () => resolve(Number(text.split(" ", 2)[1])));
    socket.on("error", reject);
  });
}

test("digest confusion: content is what its digest says, whatever else is claimed", async () => {
  const content = Buffer.from("the content");
  const other = digestOf("something else");
  for (const digest of [
    other,
    digestOf(content).toUpperCase(),
    digestOf(content).replace("sha256", "sha512"),
    `md5:${"a".repeat(32)}`,
    "sha256:../../etc/passwd",
    `${digestOf(content)}\n`,
    "sha256:",
  ]) {
    const path = `/v2/lab/x/blobs/uploads/?digest=${encodeURIComponent(digest)}`;
    const { status } = await admin.call("POST", path, { body: content });
    assert.equal(status, 400, digest);
  }
  assert.equal((await admin.call("HEAD", `/v2/lab/x/blobs/${other}`)).status, 404);
  await admin.pushImage("lab/x", "1");
  const manifest = (await admin.call("GET", "/v2/lab/x/manifests/1")).body;
  const put = await admin.call("PUT", `/v2/lab/x/manifests/${other}`, {
    body: manifest,
    headers: { "content-type": IMAGE },
  });
  assert.deepEqual([put.status, put.code()], [400, "DIGEST_INVALID"]);
  // One document that one client reads as an image and another one as an index.
  const both = JSON.stringify({ ...JSON.parse(manifest.toString()), mediaType: undefined, manifests: [] });
  for (const type of [IMAGE, INDEX]) {
    const { status } = await admin.call("PUT", "/v2/lab/x/manifests/both", {
      body: Buffer.from(both),
      headers: { "content-type": type },
    });
    assert.equal(status, 400, type);
  }
  const lying = await admin.call("PUT", "/v2/lab/x/manifests/lying", {
    body: manifest,
    headers: { "content-type": INDEX },
  });
  assert.equal(lying.status, 400);
});

test("path tricks in names lead nowhere", async () => {
  await admin.pushImage("bob/secret", "1");
  for (const path of [
    "/v2/../api/v2.0/users/current",
    "/v2/lab/../bob/secret/manifests/1",
    "/v2/lab/%2e%2e/bob/secret/manifests/1",
    "/v2/lab%2f..%2fbob/secret/manifests/1",
    "/v2/lab/x%00y/manifests/1",
    "/v2/lab//x/manifests/1",
    "/v2/LAB/x/manifests/1",
    "/v2/lab/x/manifests/%252e%252e",
    "/v2/lab/x/blobs/..%2f..%2fetc%2fpasswd",
    "/v2/%zz/x/manifests/1",
    `/v2/${"a/".repeat(500)}a/manifests/1`,
  ]) {
    const status = await sendRaw("GET", path);
    assert.ok(status === 400 || status === 404, `${path}: ${status}`);
  }
  assert.equal(await sendRaw("GET", "/assets/..%2f..%2f..%2fpackage.json"), 404);
  assert.notEqual(await sendRaw("GET", "/api/v2.0/projects/..%2f..", { accept: "application/json" }), 200);
});

test("manifest bombs are refused, and the registry answers on", async () => {
  const layer = { mediaType: "application/vnd.oci.image.layer.v1.tar", digest: digestOf(""), size: 1 };
  const config = { ...layer, mediaType: "application/vnd.oci.image.config.v1+json" };
  const image = (more: object) => ({ schemaVersion: 2, mediaType: IMAGE, config, layers: [], ...more });
  const put = async (body: string) =>
    (
      await admin.call("PUT", "/v2/lab/bomb/manifests/1", {
        body: Buffer.from(body),
        headers: { "content-type": IMAGE },
      })
    ).status;
  assert.equal(await put(JSON.stringify(image({ layers: Array.from({ length: 10_001 }, () => layer) }))), 400);
  assert.equal(await put(JSON.stringify(image({ annotations: { a: "x".repeat(5 << 20) } }))), 413);
  assert.equal(await put(`{"a":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`), 400);
  assert.equal(await put(JSON.stringify(image({ layers: [{ ...layer, size: 1e300 }] }))), 400);
  assert.equal(await put(JSON.stringify(image({ layers: [{ ...layer, size: -1 }] }))), 400);
  assert.equal(await put('{"schemaVersion":2,"__proto__":{"config":1}}'), 400);
  // An index that contains itself cannot be, and one of many levels is answered level by level.
  let child = digestOf("nothing");
  for (let level = 0; level < 20; level += 1) {
    const body = {
      schemaVersion: 2,
      mediaType: INDEX,
      manifests: level === 0 ? [] : [{ mediaType: INDEX, digest: child, size: 1 }],
    };
    const { status, headers } = await admin.putManifest("lab/deep", `l${level}`, body, INDEX);
    assert.equal(status, 201);
    child = headers.get("docker-content-digest") ?? "";
  }
  const unknown = {
    schemaVersion: 2,
    mediaType: INDEX,
    manifests: [{ mediaType: INDEX, digest: digestOf("no"), size: 1 }],
  };
  assert.equal((await admin.putManifest("lab/deep", "self", unknown, INDEX)).status, 404);
  for (let level = 19; level >= 0; level -= 1) {
    await admin.call("DELETE", `/v2/lab/deep/manifests/l${level}`);
  }
  assert.equal((await admin.call("GET", "/v2/")).status, 200);
});

test("referrers of another project are neither listed nor made", async () => {
  const digest = await admin.pushImage("bob/secret", "2", [Buffer.from("of bob")]);
  const robot = await admin.call("POST", "/api/v2.0/robots", {
    body: {
      name: "r1",
      level: "project",
      duration: -1,
      permissions: [
        { namespace: "eric", access: ["pull", "push"].map((action) => ({ resource: "repository", action })) },
      ],
    },
  });
  const { name, secret } = robot.json();
  const eric = createClient(registry.url, basic(name, secret));
  const empty = Buffer.from("{}");
  const manifest = (repository: string) => ({
    body: imageOf(empty, [], { subject: { mediaType: IMAGE, digest, size: 1 } }),
    repository,
  });
  await eric.pushBlob("eric/forge", empty);
  const forged = manifest("eric/forge");
  assert.equal((await eric.putManifest("eric/forge", "1", forged.body)).status, 201, "a subject may be missing");
  assert.equal((await eric.putManifest("bob/secret", "3", forged.body)).status, 403);
  assert.equal((await eric.call("GET", `/v2/bob/secret/referrers/${digest}`)).status, 403);
  const listed = (await admin.call("GET", `/v2/bob/secret/referrers/${digest}`)).json();
  assert.deepEqual(listed.manifests, [], "what eric made is in eric's project alone");
});

test("redirects and locations name this registry only, whatever a request claims", async () => {
  const headers = { host: "evil.example.org", "x-forwarded-host": "evil.example.org", "x-forwarded-proto": "ftp" };
  const upload = await admin.call("POST", "/v2/lab/x/blobs/uploads/", { headers });
  const location = upload.headers.get("location") ?? "";
  assert.ok(location.startsWith("/v2/lab/x/") || location.startsWith(registry.url), location);
  const challenge = (await fetch(`${registry.url}/v2/`, { headers: { "x-forwarded-host": "evil.example.org" } }))
    .headers;
  assert.ok(!(challenge.get("www-authenticate") ?? "").includes("evil"));
  // An upload of one repository is nothing in another one.
  const id = location.split("?")[0]?.split("/").at(-1) ?? "";
  assert.equal((await admin.call("GET", `/v2/bob/secret/blobs/uploads/${id}`)).status, 404);
  assert.equal(
    (await admin.call("PATCH", `/v2/bob/secret/blobs/uploads/${id}`, { body: Buffer.from("x") })).status,
    404,
  );
  const login = await fetch(`${registry.url}/api/session`, {
    headers: { cookie: "registry_session=a; registry_session=b" },
  });
  assert.equal(login.status, 401);
});

test("what has to be signed is pulled for processing only with a signature of a trusted key", async () => {
  await admin.call("POST", "/api/v2.0/projects/eric/members", {
    body: { role_id: 3, member_user: { username: "eric" } },
  });
  const delegate = await fetch(`${registry.url}/api/delegates`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
    body: JSON.stringify({ user: "eric" }),
  });
  const { username, password } = (await delegate.json()) as { username: string; password: string };
  const processing = createClient(registry.url, basic(username, password));
  const digest = await admin.pushImage("eric/tool", "1", [Buffer.from("tool")]);
  const pull = async () => (await processing.call("GET", "/v2/eric/tool/manifests/1")).status;
  assert.equal(await pull(), 200);
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = own.publicKey.export({ type: "spki", format: "pem" }).toString();
  const keys = (list: readonly string[]) =>
    admin.call("PUT", "/api/v2.0/projects/eric/trusted-keys", { body: { keys: list } });
  assert.equal((await keys(["no key"])).status, 400);
  assert.equal((await keys([own.privateKey.export({ type: "pkcs8", format: "pem" }).toString()])).status, 400);
  assert.equal((await keys([pem])).status, 200);
  await admin.call("PUT", "/api/v2.0/projects/eric", { body: { metadata: { enable_content_trust_cosign: "true" } } });
  assert.equal(await pull(), 403);
  assert.equal((await admin.call("GET", "/v2/eric/tool/manifests/1")).status, 200, "people pull as before");

  const at = { repository: "eric/tool", subject: digest };
  await pushSignature(admin, { ...at, key: foreign.privateKey });
  assert.equal(await pull(), 403, "a key that nobody trusts");
  await pushSignature(admin, { ...at, of: digestOf("another image"), key: own.privateKey });
  assert.equal(await pull(), 403, "a signature of something else");
  const signature = await pushSignature(admin, { ...at, key: own.privateKey });
  assert.equal(await pull(), 200);
  assert.equal((await admin.call("DELETE", `/v2/eric/tool/manifests/${signature}`)).status, 202);
  assert.equal(await pull(), 403);
  await pushSignature(admin, { ...at, key: own.privateKey, tag: `${digest.replace(":", "-")}.sig` });
  assert.equal(await pull(), 200, "the form with a tag");
  await keys([]);
  assert.equal(await pull(), 403);
});

test("after all this the quotas are exact still", async () => {
  await createProject(admin, "clean");
  const digest = await admin.pushImage("clean/x", "1");
  await admin.call("DELETE", `/v2/clean/x/manifests/${digest}`);
  assert.equal(await usedBytes(admin, "clean"), 0);
});
