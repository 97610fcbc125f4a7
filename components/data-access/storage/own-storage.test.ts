import assert from "node:assert/strict";
import { test } from "node:test";

import { createOwnStorage } from "./own-storage.ts";

const storage = createOwnStorage({
  url: "http+unix://%2Frun%2Fs3.sock",
  publicUrl: "https://objstore.example.org:8443",
  region: "eu",
  findKeys: async (token) =>
    token === "eric"
      ? { accessKeyId: "ASIA", secretAccessKey: "secret", sessionToken: "session", expires: new Date() }
      : undefined,
});
const S3 = { kind: "s3", endpoint: "http://localhost", socketPath: "/run/s3.sock", region: "eu", bucket: "maps" };

test("finds an object by each form of its address", async () => {
  for (const url of [
    "s3://maps/a/b c.tif",
    "https://objstore.example.org:8443/maps/a/b%20c.tif",
    "http://objstore.example.org:8443/maps/a/b%20c.tif",
    "https://maps.objstore.example.org:8443/a/b%20c.tif",
    "http+unix://%2Frun%2Fs3.sock/maps/a/b%20c.tif",
  ]) {
    assert.deepEqual(await storage.locate(url, undefined), { ...S3, key: "a/b c.tif" }, url);
    assert.deepEqual(await storage.locate(url, "Bearer bob"), { ...S3, key: "a/b c.tif" }, url);
    assert.deepEqual(
      await storage.locate(url, "Bearer eric"),
      {
        ...S3,
        key: "a/b c.tif",
        credentials: { accessKeyId: "ASIA", secretAccessKey: "secret", sessionToken: "session" },
      },
      url,
    );
  }
});

test("leaves a signed address as it is, and sends no other credentials", async () => {
  for (const [url, host, path] of [
    ["https://objstore.example.org:8443/maps/a.tif?X-Amz-Signature=1", "objstore.example.org:8443", "/maps/a.tif"],
    ["https://maps.objstore.example.org:8443/a.tif?X-Amz-Signature=1", "maps.objstore.example.org:8443", "/a.tif"],
  ] as const) {
    assert.deepEqual(await storage.locate(url, "Bearer eric"), {
      kind: "http",
      url: `http://localhost${path}?X-Amz-Signature=1`,
      headers: { host },
      allowPrivate: true,
      socketPath: "/run/s3.sock",
    });
  }
});

test("knows addresses that are not of the storage, and refuses those that name no object", async () => {
  for (const url of [
    "https://example.org/maps/a.tif",
    "https://objstore.example.org/maps/a.tif",
    "https://objstore.example.org:8443@evil.net/maps/a.tif",
    "https://user@objstore.example.org:8443/maps/a.tif",
    "https://evilobjstore.example.org:8443/maps/a.tif",
    "https://objstore.example.org:8443.evil.net/maps/a.tif",
    "file:///etc/passwd",
  ]) {
    assert.equal(await storage.locate(url, undefined), undefined, url);
  }
  for (const url of [
    "s3://maps",
    "s3://maps/../other/a.tif",
    "https://objstore.example.org:8443/",
    "https://objstore.example.org:8443/maps/",
    "https://objstore.example.org:8443/maps/%2e%2e%2fother/a.tif",
    "https://objstore.example.org:8443/maps/a.tif?versionId=1",
  ]) {
    await assert.rejects(storage.locate(url, undefined), { status: 400 }, url);
  }
});
