import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";

import {
  IMAGE,
  INDEX,
  type RegistryClient,
  createClient,
  createProject,
  digestOf,
  imageOf,
  usedBytes,
} from "./client.ts";
import { type TestRegistry, startTestRegistry } from "./start-registry.ts";

let registry: TestRegistry;
let client: RegistryClient;

before(async () => {
  registry = await startTestRegistry();
  client = createClient(registry.url);
  await createProject(client, "lab");
  await createProject(client, "other");
});
after(() => registry.close());

const uploadPath = async (repository: string, query = "") => {
  const { status, headers } = await client.call("POST", `/v2/${repository}/blobs/uploads/${query}`);
  assert.equal(status, 202);
  return headers.get("location") ?? "";
};

test("OCI push: chunks in order, status, and a blob that can be read back by ranges", async () => {
  const content = randomBytes(3000);
  const digest = digestOf(content);
  const path = await uploadPath("lab/chunks");
  const patch = (start: number, end: number) =>
    client.call("PATCH", path, {
      body: content.subarray(start, end),
      headers: { "content-range": `${start}-${end - 1}` },
    });
  assert.equal((await patch(0, 1000)).headers.get("range"), "0-999");
  const wrong = await patch(2000, 3000);
  assert.deepEqual([wrong.status, wrong.headers.get("range")], [416, "0-999"]);
  assert.equal((await patch(1000, 2000)).status, 202);
  const status = await client.call("GET", path);
  assert.deepEqual([status.status, status.headers.get("range")], [204, "0-1999"]);
  const done = await client.call("PUT", `${path}?digest=${digest}`, {
    body: content.subarray(2000),
    headers: { "content-range": "2000-2999" },
  });
  assert.equal(done.status, 201);
  assert.deepEqual((await client.call("GET", `/v2/lab/chunks/blobs/${digest}`)).body, content);
  for (const [range, expected] of [
    ["bytes=0-9", content.subarray(0, 10)],
    ["bytes=2990-", content.subarray(2990)],
    ["bytes=-5", content.subarray(-5)],
    ["bytes=10-99999", content.subarray(10)],
  ] as const) {
    const part = await client.call("GET", `/v2/lab/chunks/blobs/${digest}`, { headers: { range } });
    assert.deepEqual([part.status, part.body], [206, expected], range);
  }
  const outside = await client.call("GET", `/v2/lab/chunks/blobs/${digest}`, { headers: { range: "bytes=3000-" } });
  assert.deepEqual([outside.status, outside.headers.get("content-range")], [416, "bytes */3000"]);
});

test("OCI push: an upload goes on where it was after a kill and after a broken connection", async () => {
  const content = randomBytes(1 << 20);
  const path = await uploadPath("lab/resumed");
  assert.equal((await client.call("PATCH", path, { body: content.subarray(0, 400_000) })).status, 202);
  await registry.kill();
  await registry.start();
  assert.equal((await client.call("GET", path)).headers.get("range"), "0-399999");

  // A client that says more than it sends: what came is there.
  const socket = connect(Number(new URL(registry.url).port), "127.0.0.1");
  const auth = Buffer.from("admin:password-of-the-tests").toString("base64");
  socket.write(`PATCH ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Basic ${auth}\r\ncontent-length: 600000\r\n\r\n`);
  socket.write(content.subarray(400_000, 500_000), () => setTimeout(() => socket.destroy(), 100));
  let received = 0;
  await waitUntil("the rest of the connection is kept", async () => {
    received = Number((await client.call("GET", path)).headers.get("range")?.slice(2)) + 1;
    return received > 400_000;
  });
  const done = await client.call("PUT", `${path}?digest=${digestOf(content)}`, { body: content.subarray(received) });
  assert.equal(done.status, 201, done.body.toString());
  assert.deepEqual((await client.call("GET", `/v2/lab/resumed/blobs/${digestOf(content)}`)).body, content);
});

test("OCI push: wrong digests, unknown uploads and uploads of another repository are refused", async () => {
  const path = await uploadPath("lab/wrong");
  const elsewhere = path.replace("lab/wrong", "other/wrong");
  assert.equal((await client.call("PATCH", elsewhere, { body: "x" })).code(), "BLOB_UPLOAD_UNKNOWN");
  const wrong = await client.call("PUT", `${path}?digest=${digestOf("y")}`, { body: "x" });
  assert.deepEqual([wrong.status, wrong.code()], [400, "DIGEST_INVALID"]);
  assert.equal((await client.call("GET", path)).status, 404);
  assert.equal((await client.call("HEAD", `/v2/lab/wrong/blobs/${digestOf("y")}`)).status, 404);
  for (const digest of ["md5:abc", "sha256:ABC", `sha256:${"a".repeat(63)}`, "sha256", ""]) {
    const refused = await client.call("PUT", `${await uploadPath("lab/wrong")}?digest=${digest}`, { body: "x" });
    assert.equal(refused.code(), "DIGEST_INVALID", digest);
  }
  const cancelled = await uploadPath("lab/wrong");
  assert.equal((await client.call("DELETE", cancelled)).status, 204);
  assert.equal((await client.call("GET", cancelled)).status, 404);
});

test("a chunk beyond its Content-Range is refused and nothing of it counts", async () => {
  const path = await uploadPath("lab/long");
  const long = await client.call("PATCH", path, { body: "12345", headers: { "content-range": "0-2" } });
  assert.equal(long.code(), "SIZE_INVALID");
  assert.equal((await client.call("PATCH", path, { body: "123", headers: { "content-range": "0-2" } })).status, 202);
});

test("names of repositories are what the specification says, whatever tricks their paths have", async () => {
  for (const name of [
    "lab",
    "Lab/x",
    "lab/..",
    "lab/%2e%2e/x",
    "lab//x",
    "lab/-x",
    "lab/x_",
    "lab/x%00",
    "lab/a%2f..%2fb",
    "lab/a%252fb",
  ]) {
    const { status } = await client.call("POST", `${registry.url}/v2/${name}/blobs/uploads/`);
    assert.ok([400, 404].includes(status), `${name}: ${status}`);
  }
  const missing = await client.call("POST", "/v2/nobody/x/blobs/uploads/");
  assert.deepEqual([missing.status, missing.code()], [404, "NAME_UNKNOWN"]);
});

test("OCI manifests: what they refer to has to be there, with the size that they say", async () => {
  const [config, layer] = [Buffer.from("{}"), Buffer.from("a layer")];
  const manifest = imageOf(config, [layer]);
  await client.pushBlob("lab/checked", config);
  const missing = await client.putManifest("lab/checked", "1", manifest);
  assert.deepEqual([missing.status, missing.code()], [404, "MANIFEST_BLOB_UNKNOWN"]);
  // In another repository it is not in this one.
  await client.pushBlob("other/checked", layer);
  assert.equal((await client.putManifest("lab/checked", "1", manifest)).code(), "MANIFEST_BLOB_UNKNOWN");
  await client.pushBlob("lab/checked", layer);
  const lying = JSON.parse(JSON.stringify(manifest)) as { layers: { size: number }[] };
  (lying.layers[0] as { size: number }).size = 99;
  assert.equal((await client.putManifest("lab/checked", "1", lying)).code(), "MANIFEST_INVALID");
  assert.equal((await client.putManifest("lab/checked", "1", manifest)).status, 201);
  const child = { mediaType: IMAGE, digest: digestOf(JSON.stringify(manifest)), size: 1 };
  const unknown = { ...child, digest: digestOf("nothing") };
  const index = (manifests: readonly object[]) => ({ schemaVersion: 2, mediaType: INDEX, manifests });
  assert.equal(
    (await client.putManifest("lab/checked", "i", index([child, unknown]), INDEX)).code(),
    "MANIFEST_BLOB_UNKNOWN",
  );
  assert.equal((await client.putManifest("lab/checked", "i", index([child]), INDEX)).status, 201);
  // The index needs it.
  const held = await client.call("DELETE", `/v2/lab/checked/manifests/${child.digest}`);
  assert.deepEqual([held.status, held.code()], [403, "DENIED"]);
  assert.equal((await client.call("DELETE", `/v2/lab/checked/blobs/${digestOf(layer)}`)).code(), "UNSUPPORTED");
});

test("a project may allow indexes of manifests that are elsewhere", async () => {
  await createProject(client, "sparse", { metadata: { allow_sparse_index: "true" } });
  const manifests = [{ mediaType: IMAGE, digest: digestOf("nothing"), size: 7 }];
  const pushed = await client.putManifest("sparse/x", "1", { schemaVersion: 2, mediaType: INDEX, manifests }, INDEX);
  assert.equal(pushed.status, 201);
});

test("manifests that are none are refused with the reason", async () => {
  const config = Buffer.from("{}");
  const good = imageOf(config, []) as Record<string, unknown>;
  await client.pushBlob("lab/bad", config);
  const put = (body: string, type = IMAGE) =>
    client.call("PUT", "/v2/lab/bad/manifests/1", { body: Buffer.from(body), headers: { "content-type": type } });
  for (const [body, type] of [
    ["not json", IMAGE],
    ["[]", IMAGE],
    ["null", IMAGE],
    [JSON.stringify({ ...good, schemaVersion: 1 }), IMAGE],
    [JSON.stringify({ ...good, manifests: [] }), IMAGE],
    [JSON.stringify({ ...good, config: { ...(good["config"] as object), digest: "sha256:x" } }), IMAGE],
    [JSON.stringify({ ...good, annotations: { a: 1 } }), IMAGE],
    [JSON.stringify({ ...good, annotations: { a: "\0" } }), IMAGE],
    [JSON.stringify(good), INDEX],
    [JSON.stringify(good), "application/vnd.docker.distribution.manifest.v1+json"],
    [`${"[".repeat(500_000)}`, IMAGE],
  ] as const) {
    const refused = await put(body, type);
    assert.deepEqual([refused.status, refused.code()], [400, "MANIFEST_INVALID"], body.slice(0, 80));
  }
  assert.equal((await put(" ".repeat((4 << 20) + 1))).status, 413);
  for (const tag of ["-x", ".x", "a".repeat(129), "a b"]) {
    assert.equal((await client.putManifest("lab/bad", encodeURIComponent(tag), good)).code(), "TAG_INVALID", tag);
  }
});

test("OCI content management: tags and manifests are deleted, and what they used is free at once", async () => {
  await createProject(client, "freed");
  const layers = [randomBytes(5000), randomBytes(7000)];
  const first = await client.pushImage("freed/a", "1", layers);
  const used = await usedBytes(client, "freed");
  assert.ok(used > 12_000 && used < 14_000, String(used));
  // The same layers once more, in another repository of the project: they are counted once.
  await client.pushImage("freed/b", "1", layers);
  assert.ok((await usedBytes(client, "freed")) - used < 1500);
  assert.equal((await client.call("DELETE", "/v2/freed/b/manifests/1")).status, 202);
  assert.equal((await client.call("GET", "/v2/freed/b/manifests/1")).status, 404);
  assert.deepEqual((await client.call("GET", "/v2/freed/b/tags/list")).json().tags, []);
  assert.equal((await client.call("DELETE", "/api/v2.0/projects/freed/repositories/b")).status, 200);
  assert.equal(await usedBytes(client, "freed"), used);
  assert.equal((await client.call("DELETE", `/v2/freed/a/manifests/${first}`)).status, 202);
  assert.equal(await usedBytes(client, "freed"), 0);
  assert.equal((await client.call("GET", `/v2/freed/a/blobs/${digestOf(layers[0] as Buffer)}`)).status, 404);
});

test("OCI content discovery: tags by pages, referrers by type, for subjects that do not exist too", async () => {
  const config = Buffer.from("{}");
  await client.pushBlob("lab/listed", config);
  const manifest = imageOf(config, []);
  const digest = digestOf(JSON.stringify(manifest));
  const pushed = await client.putManifest("lab/listed", `${digest}?tag=b&tag=a&tag=B&tag=c`, manifest);
  assert.deepEqual([pushed.status, pushed.headers.get("oci-tag")], [201, "b, a, B, c"]);
  const page = await client.call("GET", "/v2/lab/listed/tags/list?n=2");
  assert.deepEqual(page.json().tags, ["B", "a"]);
  const next = /<([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1] ?? "";
  const rest = await client.call("GET", next);
  assert.deepEqual([rest.json().tags, rest.headers.get("link")], [["b", "c"], null]);
  assert.equal((await client.call("GET", "/v2/lab/listed/tags/list?n=x")).code(), "PAGINATION_NUMBER_INVALID");

  const subject = { mediaType: IMAGE, digest: digestOf("no such manifest"), size: 10 };
  for (const artifactType of ["application/spdx+json", "application/vnd.dev.cosign.artifact.sig.v1+json"]) {
    const referrer = imageOf(config, [], { subject, artifactType, annotations: { of: artifactType } });
    const { status, headers } = await client.putManifest("lab/listed", digestOf(JSON.stringify(referrer)), referrer);
    assert.deepEqual([status, headers.get("oci-subject")], [201, subject.digest]);
  }
  const all = await client.call("GET", `/v2/lab/listed/referrers/${subject.digest}`);
  assert.deepEqual([all.headers.get("content-type"), all.json().manifests.length], [INDEX, 2]);
  const some = await client.call(
    "GET",
    `/v2/lab/listed/referrers/${subject.digest}?artifactType=application/spdx%2Bjson`,
  );
  assert.equal(some.headers.get("oci-filters-applied"), "artifactType");
  assert.deepEqual(
    some.json().manifests.map((each: { annotations: object }) => each.annotations),
    [{ of: "application/spdx+json" }],
  );
  assert.deepEqual((await client.call("GET", `/v2/lab/nowhere/referrers/${subject.digest}`)).json().manifests, []);
});

test("a sha512 digest is as good as any, named before the upload or only at its end", async () => {
  const { createHash } = await import("node:crypto");
  const content = randomBytes(2000);
  const digest = `sha512:${createHash("sha512").update(content).digest("hex")}`;
  for (const query of ["", "?digest-algorithm=sha512"]) {
    const path = await uploadPath("lab/long-digests", query);
    assert.equal((await client.call("PATCH", path, { body: content })).status, 202);
    assert.equal((await client.call("PUT", `${path}?digest=${digest}`)).status, 201);
  }
  assert.deepEqual((await client.call("GET", `/v2/lab/long-digests/blobs/${digest}`)).body, content);
  assert.equal((await client.call("POST", "/v2/lab/long-digests/blobs/uploads/?digest-algorithm=md5")).status, 400);
});

test("an empty blob is a blob", async () => {
  const digest = await client.pushBlob("lab/empty", Buffer.alloc(0));
  const read = await client.call("GET", `/v2/lab/empty/blobs/${digest}`);
  assert.deepEqual([read.status, read.body.length, read.headers.get("content-length")], [200, 0, "0"]);
});

test("methods and paths that do not exist have errors of the specification", async () => {
  const { status, headers } = await client.call("POST", "/v2/lab/x/tags/list");
  assert.deepEqual([status, headers.get("allow")], [405, "GET"]);
  assert.equal((await client.call("GET", "/v2/lab/x/nothing")).code(), "UNSUPPORTED");
});
