import assert from "node:assert/strict";
import { test } from "node:test";

import { createS3Signer, toObjectUrl } from "@swath/s3";

import { authenticate } from "../signature/authenticate.ts";
import { SigningKeys } from "../signature/signing-key.ts";
import { presign } from "./presign.ts";

const SECRET = "secret/of+the=tests";
const NOW = Date.parse("2026-01-02T03:04:05Z");
const publicUrl = "https://objstore.example.org:8443";
const host = "objstore.example.org:8443";
const KEYS = ["k", "a b+c/\u00e9*!'().tif", "a/../b", "a//b/", "%2F%", "\u{1f6f0}/\u007f"];

/** Verifies a request as the service reads it from its socket. */
function verify(url: string, headers: Readonly<Record<string, string>>, token: string | null) {
  const [, path = "", query = ""] = /^https:\/\/[^/]+([^?]*)\??(.*)$/.exec(url) ?? [];
  const pairs = [...new URLSearchParams(query)];
  return authenticate(
    {
      method: "PUT",
      path: path.split("/").map(decodeURIComponent).join("/"),
      query: pairs,
      parameters: new Map(pairs),
      headers: { ...headers, host },
      raw: { path, query },
    },
    {
      findCredential: () => ({ secret: SECRET, token, expires: null }),
      keys: new SigningKeys(),
      region: "eu-west-1",
      now: () => NOW,
    },
  );
}

for (const token of [null, "token+/="]) {
  test(`the service accepts presigned URLs of every kind of name, ${token === null ? "without" : "with"} a token`, async () => {
    for (const key of [undefined, ...KEYS]) {
      const headers = { "x-amz-copy-source": "/b/a%20b", "content-type": "text/plain" };
      const credential = { id: "A/KEY", secret: SECRET, token };
      const query = { "response-content-type": "text/html; charset=utf-8", versionId: "" };
      const common = { publicUrl, region: "eu-west-1", credential, bucket: "b", seconds: 60, now: NOW };
      const url = await presign({ ...common, method: "PUT", key, query, headers });
      assert.equal(verify(url, headers, token)?.authType, "REST-QUERY-STRING", url);
      assert.throws(() => verify(url.replace("/b", "/c"), headers, token), /signature/i, url);
    }
  });
}

test("the service accepts signed headers for every kind of name", async () => {
  const signer = createS3Signer({ accessKeyId: "A", secretAccessKey: SECRET, region: "eu-west-1" });
  for (const key of KEYS) {
    const url = toObjectUrl({ endpoint: publicUrl, bucket: "b", key, query: { uploadId: "a+b/=", partNumber: "1" } });
    const headers = await signer.sign({ method: "PUT", url, headers: { range: "bytes=0-1" }, at: new Date(NOW) });
    assert.equal(verify(url, headers, null)?.payload.kind, "unsigned", url);
    assert.throws(() => verify(`${url}0`, headers, null), /signature/i, url);
  }
});
