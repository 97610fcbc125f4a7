import assert from "node:assert/strict";
import { test } from "node:test";

import { type AssetPlaces, locateAsset } from "./locate-asset.ts";

const places: AssetPlaces = {
  privateHosts: [],
  storage: {
    url: "http://objstore:9000",
    publicUrl: "https://objstore.example.org",
    region: "us-east-1",
    accessKeyId: "root",
    secretAccessKey: "secret",
    buckets: ["eodata"],
  },
};

test("a record leads to listed buckets and to no other, by either form of address", () => {
  for (const href of ["s3://eodata/a/b.tif", "https://objstore.example.org/eodata/a/b.tif"]) {
    const location = locateAsset(href, places);
    assert.deepEqual(location?.kind === "s3" && [location.bucket, location.key], ["eodata", "a/b.tif"]);
  }
  for (const href of [
    "s3://ws-eric/secret.tif",
    "https://objstore.example.org/ws-eric/secret.tif",
    "https://objstore.example.org/%77s-eric/secret.tif",
    "s3://registry/blob",
    "s3://eodata/../ws-eric/secret.tif",
    "https://objstore.example.org/eodata/%2e%2e/ws-eric/secret.tif",
    "https://objstore.example.org/eodata/a/%zz",
    "file:///etc/passwd",
  ]) {
    assert.equal(locateAsset(href, places), undefined, href);
  }
});

test("a bucket that is not listed is read where the catalogue says so", () => {
  const response = { ...places, mayRead: (bucket: string) => bucket === "ws-eric" };
  assert.equal(locateAsset("s3://ws-eric/a.tif", response)?.kind, "s3");
  assert.equal(locateAsset("s3://ws-bob/a.tif", response), undefined);
  assert.equal(locateAsset("s3://ws-eric/../ws-bob/a.tif", response), undefined);
});

test("a record in a folder leads to files of that folder alone; addresses that are no paths lead nowhere", () => {
  const inFolder: AssetPlaces = { privateHosts: [], folder: "/data" };
  assert.deepEqual(locateAsset("file:///data/a.tif", inFolder), { kind: "file", path: "/data/a.tif" });
  for (const href of [
    "file:///etc/passwd",
    "file:///data/../etc/passwd",
    "file://host/data/a.tif",
    "file:///data/%2e%2e%2fx",
  ]) {
    assert.equal(locateAsset(href, inFolder), undefined, href);
  }
});
