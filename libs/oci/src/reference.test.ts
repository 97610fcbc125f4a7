import assert from "node:assert/strict";
import { test } from "node:test";

import { locate, parseReference } from "./reference.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

test("references with a registry are taken apart", () => {
  const all = { host: "registry.example.org", repository: "eric/ndvi", tag: "1.2", digest: DIGEST };
  assert.deepEqual(parseReference(`registry.example.org/eric/ndvi:1.2@${DIGEST}`), all);
  assert.deepEqual(parseReference("oci://Registry.example.org/eric/ndvi"), {
    ...all,
    tag: undefined,
    digest: undefined,
  });
  assert.equal(parseReference("localhost/a/b")?.host, "localhost");
  assert.equal(parseReference("127.0.0.1:5000/a/b:c")?.host, "127.0.0.1:5000");
  assert.equal(parseReference("server:5000/a/b")?.host, "server:5000");
});

test("what names no registry, or more than a reference, is none", () => {
  for (const text of [
    "alpine",
    "alpine:3",
    "library/alpine",
    "https://registry.example.org/eric/ndvi",
    "registry.example.org/Eric/ndvi",
    "registry.example.org/../ndvi",
    "registry.example.org/eric//ndvi",
    "registry.example.org/eric/ndvi:1.2?x=1",
    "user@registry.example.org/eric/ndvi",
    "registry.example.org/eric/ndvi@sha256:abc",
    `registry.example.org/${"a/".repeat(400)}a`,
  ]) {
    assert.equal(parseReference(text), undefined, text);
  }
});

test("images of Docker Hub are where its API is, under the names that it knows", () => {
  const of = (text: string) => locate(parseReference(text) ?? assert.fail(text));
  assert.deepEqual(of("docker.io/alpine:3"), { host: "registry-1.docker.io", repository: "library/alpine" });
  assert.deepEqual(of("docker.io/osgeo/gdal"), { host: "registry-1.docker.io", repository: "osgeo/gdal" });
  assert.deepEqual(of("r.example.org/a/b"), { host: "r.example.org", repository: "a/b" });
});
