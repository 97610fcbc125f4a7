import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";

import { ROOT, startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
before(async () => {
  store = await startObjstore();
});
after(() => store.stop());

const basic = (user: string, secret: string) => `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;
const asRoot = basic(ROOT.accessKeyId, ROOT.secretAccessKey);

async function call(path: string, method: string, body?: object, authorization = asRoot) {
  const response = await fetch(`${store.consoleUrl}${path}`, {
    method,
    headers: { authorization, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: (text === "" ? {} : JSON.parse(text)) as Record<string, string> & { urls: string[] },
  };
}

/** Sends a signed request to where the service really listens, with the host that it was signed for. */
function follow(url: string, method = "GET", body = "", headers: Record<string, string> = {}) {
  const { host, pathname, search } = new URL(url);
  const { hostname, port } = new URL(store.url);
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path: pathname + search, headers: { host, ...headers } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on("error", reject).end(body);
  });
}

test("a page's requests are signed for it: a list, about buckets too, with headers", async () => {
  const requests = [
    { method: "PUT", bucket: "links", seconds: 60 },
    { method: "PUT", bucket: "links", key: "a b/ü.txt", seconds: 60 },
    { method: "GET", bucket: "links", query: { "list-type": "2" }, seconds: 60 },
    { method: "POST", bucket: "links", query: { delete: "" }, seconds: 60 },
  ];
  const { status, body } = await call("/api/presign", "POST", { requests });
  assert.equal(status, 200);
  const [make = "", put = "", list = "", remove = ""] = body.urls;
  assert.equal((await follow(make, "PUT")).status, 200);
  assert.equal((await follow(put, "PUT", "hello")).status, 200);
  assert.match((await follow(list)).text, /<Key>a b\/ü\.txt<\/Key>/);

  const copy = {
    method: "PUT",
    bucket: "links",
    key: "copy",
    seconds: 60,
    headers: { "x-amz-copy-source": "/links/a%20b/%C3%BC.txt" },
  };
  const signed = await call("/api/presign", "POST", copy);
  const url = signed.body["url"] ?? "";
  assert.equal((await follow(url, "PUT", "", copy.headers)).status, 200);
  assert.equal((await follow(url, "PUT", "", { "x-amz-copy-source": "/links/other" })).status, 403);

  const body2 = "<Delete><Quiet>true</Quiet><Object><Key>copy</Key></Object></Delete>";
  assert.equal((await follow(remove, "POST", body2)).status, 200);
  assert.equal((await call("/api/presign", "POST", { ...copy, method: "PATCH" })).status, 400);
  assert.equal((await call("/api/presign", "POST", copy, basic("root", "wrong"))).status, 401);
});

test("a shared link reads one object, and nothing else; its holder has no other right", async () => {
  const { status, body } = await call("/api/share", "POST", { bucket: "links", key: "a b/ü.txt", seconds: 3600 });
  assert.equal(status, 201);
  const url = body["url"] ?? "";
  assert.deepEqual(await follow(url), { status: 200, text: "hello" });
  assert.equal((await follow(url, "PUT", "x")).status, 403);
  assert.equal((await follow(url.replace("%C3%BC.txt", "other"))).status, 403);
  // The temporary key proves itself only by the link; the API does not take it for a session.
  assert.equal((await call("/api/session", "GET", undefined, `Bearer ${body["accessKey"]}.x`)).status, 401);
});

test("only who may read an object shares it, and the link ends with that right", async () => {
  const statement = (key: string) => ({
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: "s3:GetObject", Resource: `arn:aws:s3:::links/${key}` }],
  });
  await call("/api/users/carol", "PUT", { policy: statement("*") });
  const made = await call("/api/access-keys", "POST", { user: "carol" });
  const asCarol = basic(made.body["accessKey"] ?? "", made.body["secretKey"] ?? "");
  const share = { bucket: "links", key: "a b/ü.txt", seconds: 60 };
  const { body } = await call("/api/share", "POST", share, asCarol);
  const url = body["url"] ?? "";
  assert.equal((await follow(url)).status, 200);
  await call("/api/users/carol", "PUT", { policy: statement("other") });
  assert.equal((await follow(url)).status, 403);
  assert.equal((await call("/api/share", "POST", share, asCarol)).status, 403);
  assert.equal((await call("/api/share", "POST", { ...share, seconds: 604_801 })).status, 400);
});

test("without an identity service there is no platform login, and an unknown page is the app's", async () => {
  assert.deepEqual((await call("/api/sign-in", "GET")).body, { platform: false });
  assert.equal((await call("/api/login", "GET")).status, 404);
});
