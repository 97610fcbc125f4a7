import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { startTestServer } from "@swath/postgres/server";
import { createLogger, loadSettings } from "@swath/service";
import { compiledCode, findFreePorts, programFile, waitUntil } from "@swath/testing";
import { SignJWT, exportJWK, generateKeyPair } from "jose";

import { buildCatalogue } from "../build.ts";
import { settings } from "../config.ts";
import { makeCollection, makeItem } from "./fixture.ts";

const { privateKey, publicKey } = await generateKeyPair("ES256");
const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" };
let issuer = "";
const identity: Server = createServer((request, response) => {
  const body = request.url?.endsWith("/certs") === true ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/certs` };
  response.setHeader("content-type", "application/json").end(JSON.stringify(body));
});
await new Promise<void>((resolve) => identity.listen(0, "127.0.0.1", resolve));
issuer = `http://127.0.0.1:${(identity.address() as AddressInfo).port}/realms/master`;

/** Needs no login. */
const OPEN_HOST = "resource-catalogue-open.swath.localhost";
const postgres = await startTestServer();
const [publicPort = 0, internalPort = 0] = await findFreePorts(2);
const workspaces: ChildProcess = spawn(process.execPath, [programFile("workspace-api/main.ts")], {
  env: {
    ...compiledCode,
    LOG_LEVEL: "error",
    DATABASE_URL: postgres.url,
    PUBLIC_URL: `http://127.0.0.1:${publicPort}`,
    IDENTITY_ISSUER: issuer,
    INTERNAL_SECRET: "secret",
    LISTEN: `127.0.0.1:${publicPort}`,
    LISTEN_INTERNAL: `127.0.0.1:${internalPort}`,
  },
  stdio: ["ignore", "ignore", "inherit"],
});
const built = await buildCatalogue(
  loadSettings(settings, {
    DATABASE_URL: postgres.url,
    PUBLIC_URL: "http://resource-catalogue.swath.localhost",
    PLATFORM_DOMAIN: "swath.localhost",
    IDENTITY_ISSUER: issuer,
    WORKSPACE_URL: `http://127.0.0.1:${internalPort}`,
    WORKSPACE_SECRET: "secret",
    OPEN_HOST,
    INTERNAL_SECRET: "of-operators",
    DELEGATE_SECRET: "of-delegates",
    S3_PUBLIC_URL: "https://objstore.swath.localhost",
    S3_ACCESS_KEY: "key",
    S3_SECRET_KEY: "secret",
  }),
  createLogger("resource-catalogue", "error"),
);
after(async () => {
  workspaces.kill("SIGKILL");
  identity.closeAllConnections();
  identity.close();
  await built.close();
  await postgres.close();
});

const tokenOf = (user: string): Promise<string> =>
  new SignJWT({ preferred_username: user, ...(user === "admin" && { realm_access: { roles: ["admin"] } }) })
    .setProtectedHeader({ alg: "ES256", kid: "one" })
    .setIssuer(issuer)
    .setSubject(`id-of-${user}`)
    .setAudience("swath-platform")
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(privateKey);

async function send(
  user: string | undefined,
  method: "GET" | "POST" | "DELETE",
  url: string,
  payload?: unknown,
  host = "resource-catalogue.swath.localhost",
) {
  const response = await built.app.inject({
    method,
    url,
    headers: {
      host,
      ...(user !== undefined && { authorization: `Bearer ${await tokenOf(user)}` }),
      ...(payload !== undefined && { "content-type": "application/json" }),
    },
    ...(payload !== undefined && { payload: JSON.stringify(payload) }),
  });
  const isJson = String(response.headers["content-type"]).includes("json");
  return {
    status: response.statusCode,
    headers: response.headers,
    text: response.body,
    body: isJson && response.body !== "" ? response.json() : undefined,
  };
}

before(async () => {
  await waitUntil("the workspace API", async () => (await fetch(`http://127.0.0.1:${publicPort}/probe`)).ok);
  await fetch(`http://127.0.0.1:${publicPort}/workspaces`, {
    method: "POST",
    headers: { authorization: `Bearer ${await tokenOf("admin")}`, "content-type": "application/json" },
    body: JSON.stringify({ preferred_name: "eric", default_owner: "eric" }),
  }).then(async (response) => assert.equal(response.status, 201, await response.text()));
  assert.equal((await send("admin", "POST", "/stac/collections", makeCollection("public"))).status, 201);
  assert.equal((await send("admin", "POST", "/stac/collections/public/items", makeItem("open"))).status, 201);
});

test("owners make collections of their workspace, others of neither", async () => {
  assert.equal(
    (await send("eric", "POST", "/stac/collections?workspace=ws-eric", makeCollection("private"))).status,
    201,
  );
  assert.equal((await send("bob", "POST", "/stac/collections?workspace=ws-eric", makeCollection("other"))).status, 403);
  assert.equal((await send("eric", "POST", "/stac/collections", makeCollection("other"))).status, 403);
  assert.equal((await send(undefined, "POST", "/stac/collections", makeCollection("other"))).status, 403);
  const item = makeItem("secret-scene", {
    properties: { datetime: "2030-01-01T00:00:00Z", title: "Confidential", platform: "hidden-sat" },
    assets: {
      own: { href: "s3://ws-eric/a+b.tif" },
      stolen: { href: "s3://ws-bob/b.tif" },
      byAddress: { href: "https://objstore.swath.localhost/ws-eric/c.tif" },
      stolenByAddress: { href: "https://objstore.swath.localhost/ws-bob/d.tif" },
    },
  });
  assert.equal((await send("eric", "POST", "/stac/collections/private/items", item)).status, 201);
  assert.equal((await send("bob", "POST", "/stac/collections/private/items", item)).status, 404);
  assert.equal((await send("bob", "POST", "/stac/collections/public/items", makeItem("x"))).status, 403);
  assert.equal((await send(undefined, "DELETE", "/stac/collections/public/items/open")).status, 401);
});

test("nobody else learns that a private item exists: not from pages, counts, facets, queryables, aggregations or the feed", async () => {
  for (const path of [
    "/stac",
    "/stac/collections",
    "/stac/search",
    "/stac/search?ids=secret-scene",
    "/stac/search?collections=private",
    "/stac/search?q=confidential",
    "/stac/browse",
    "/stac/collections/private/browse",
    "/stac/collections/private",
    "/stac/collections/private/items",
    "/stac/collections/private/items/secret-scene",
    "/stac/collections/private/items/secret-scene/assets/own",
    "/collections/private/items/secret-scene/assets/own",
    "/collections/metadata:main/items/secret-scene/assets/own",
    "/stac/queryables",
    "/stac/aggregate?aggregations=total_count,datetime_max,collection_frequency,platform_frequency",
    "/collections",
    "/collections/metadata:main/items",
    "/collections/metadata:main/items?facets=true",
    "/collections/metadata:main/items/secret-scene",
    "/collections/metadata:main/facets",
    "/collections/private/items",
    "/changes",
  ]) {
    for (const [user, host] of [[undefined], ["bob"], [undefined, OPEN_HOST]] as const) {
      const { status, text } = await send(user, "GET", path, undefined, host);
      assert.ok(status === 200 || status === 404, `${path}: ${status}`);
      assert.doesNotMatch(
        text
          .replaceAll(path, "")
          .replaceAll('\\"private\\"', "")
          .replaceAll('\\"secret-scene\\"', "")
          .replaceAll('\\"own\\"', ""),
        /secret-scene|hidden-sat|Confidential|2030-|"private"/,
        `${path} for ${user} on ${host}`,
      );
    }
  }
  assert.equal((await send("bob", "GET", "/stac/search")).body.numberMatched, 1);
  assert.equal((await send("eric", "GET", "/stac/search")).body.numberMatched, 2);
  assert.equal((await send("admin", "GET", "/stac/search")).body.numberMatched, 2);
});

test("where no login is needed, nobody changes what a workspace keeps to its members, and the rest is open", async () => {
  const open = (method: "GET" | "POST" | "DELETE", path: string, body?: unknown) =>
    send(undefined, method, path, body, OPEN_HOST);
  for (const [method, path, body] of [
    ["DELETE", "/stac/collections/private"],
    ["DELETE", "/stac/collections/private/items/secret-scene"],
    ["POST", "/stac/collections/private/items", makeItem("planted")],
  ] as const) {
    assert.equal((await open(method, path, body)).status, 404, `${method} ${path}`);
  }
  assert.equal((await open("POST", "/subscriptions", { url: "https://example.org/" })).status, 403);
  assert.equal((await open("POST", "/stac/collections", makeCollection("anybodys"))).status, 201);
  assert.equal((await open("POST", "/stac/collections/anybodys/items", makeItem("free"))).status, 201);
  assert.equal((await open("DELETE", "/stac/collections/anybodys")).status, 204);
  assert.equal((await send("eric", "GET", "/stac/collections/private/items/secret-scene")).status, 200);
});

test("a taken id is taken, whoever asks, and says nothing more", async () => {
  const { status, text } = await send("admin", "POST", "/stac/collections", makeCollection("private"));
  assert.equal(status, 409, text);
});

test("the host of a workspace shows its collections alone", async () => {
  const host = "resource-catalogue.ws-eric.swath.localhost";
  const { body } = await send("eric", "GET", "/stac/search", undefined, host);
  assert.deepEqual(
    body.features.map(({ id }: { id: string }) => id),
    ["secret-scene"],
  );
  assert.equal((await send("eric", "GET", "/stac/collections/public", undefined, host)).status, 404);
  assert.equal((await send("admin", "GET", "/stac/search", undefined, host)).body.numberMatched, 1);
  assert.equal((await send("bob", "GET", "/stac/search", undefined, host)).body.numberMatched, 0);
  assert.equal((await send("eric", "POST", "/stac/collections", makeCollection("made-there"), host)).status, 201);
});

test("a service reads for a user what is public and in the user's own workspaces, and changes nothing", async (t) => {
  const server = built.createInternalServer?.();
  assert.ok(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const ask = async (path: string, headers: Record<string, string>, method = "GET") => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, redirect: "manual" });
    return { status: response.status, body: (await response.json().catch(() => undefined)) as any };
  };
  const forUser = (user: string, more: Record<string, string> = {}) => ({
    authorization: "Bearer of-delegates",
    "x-on-behalf-of": user,
    ...more,
  });
  const scene = "/stac/collections/private/items/secret-scene";
  assert.equal((await ask(scene, forUser("eric"))).status, 200);
  assert.equal((await ask(`${scene}/assets/own`, forUser("eric"))).status, 302);
  assert.equal((await ask(`${scene}/assets/stolen`, forUser("eric"))).status, 403);
  const onHost = forUser("eric", { "x-forwarded-host": "resource-catalogue.ws-eric.swath.localhost" });
  assert.equal((await ask(scene, onHost)).status, 200);
  assert.equal((await ask("/stac/search", forUser("bob"))).body.numberMatched, 1, "what is public");
  for (const user of ["bob", "admin", "nobody", "ws-eric", "Eric", "../eric"]) {
    assert.equal((await ask(scene, forUser(encodeURIComponent(user)))).status, 404, user);
  }
  assert.equal((await ask(scene, forUser("eric"), "DELETE")).status, 403);
  assert.equal((await ask("/stac/search", forUser("eric"), "POST")).status, 403);
  assert.equal((await ask(scene, { authorization: "Bearer of-delegates" })).status, 400);
  assert.equal((await ask(scene, forUser("%"))).status, 400);
  assert.equal((await ask(scene, { authorization: "Bearer other", "x-on-behalf-of": "eric" })).status, 401);
  assert.equal((await ask(scene, { authorization: "Bearer of-operators" })).status, 200);
  assert.equal((await send("bob", "GET", scene)).status, 404);
});

test("assets lead to signed links, of the workspace's own bucket only", async () => {
  const path = "/stac/collections/private/items/secret-scene/assets";
  const { status, headers } = await send("eric", "GET", `${path}/own`);
  assert.equal(status, 302);
  assert.match(
    String(headers["location"]),
    /^https:\/\/objstore\.swath\.localhost\/ws-eric\/a%2Bb\.tif\?X-Amz-Algorithm=.*&X-Amz-Signature=[0-9a-f]{64}$/,
  );
  const byAddress = await send("eric", "GET", `${path}/byAddress`);
  assert.match(String(byAddress.headers["location"]), /\/ws-eric\/c\.tif\?X-Amz-Algorithm=.*&X-Amz-Signature=/);
  for (const collection of ["private", "metadata:main"]) {
    const asRecord = await send("eric", "GET", `/collections/${collection}/items/secret-scene/assets/own`);
    assert.equal(asRecord.status, 302, `an item is a record of ${collection}, too`);
    assert.match(String(asRecord.headers["location"]), /\/ws-eric\/a%2Bb\.tif\?X-Amz-Algorithm=/);
  }
  assert.equal((await send("eric", "GET", `${path}/stolen`)).status, 403);
  assert.equal((await send("eric", "GET", `${path}/stolenByAddress`)).status, 403);
  assert.equal((await send("eric", "GET", `${path}/__proto__`)).status, 404);
});

test("a key of a workspace's owner follows its private changes and no others, until it is deleted", async () => {
  const body = { workspace: "ws-eric", title: "Tiles of ws-eric" };
  assert.equal((await send("bob", "POST", "/feed-keys", body)).status, 403);
  assert.equal((await send(undefined, "POST", "/feed-keys", body)).status, 401);
  assert.equal((await send("eric", "POST", "/feed-keys", { title: "of all" })).status, 403);
  const made = await send("eric", "POST", "/feed-keys", body);
  assert.equal(made.status, 201, made.text);
  const { id, key } = made.body as { id: string; key: string };
  const follow = (value: string, query = "") =>
    built.app.inject({ url: `/changes${query}`, headers: { "x-feed-key": value } });
  const seen = await follow(key);
  assert.match(seen.body, /secret-scene/);
  assert.doesNotMatch(seen.body, /"open"/);
  assert.equal((await follow(`${key.slice(0, -1)}x`)).statusCode, 401);
  const narrow = await send("admin", "POST", "/feed-keys", { title: "one collection", collections: ["public"] });
  const ofOne = await follow((narrow.body as { key: string }).key);
  assert.match(ofOne.body, /"open"/);
  assert.doesNotMatch(ofOne.body, /secret-scene/);
  assert.equal((await follow((narrow.body as { key: string }).key, "?collections=private")).statusCode, 400);
  const listed = await send("eric", "GET", "/feed-keys");
  assert.doesNotMatch(listed.text, /scfk_/);
  assert.equal((listed.body as { keys: unknown[] }).keys.length, 1);
  assert.equal((await send("bob", "DELETE", `/feed-keys/${id}`)).status, 404);
  assert.equal((await send("eric", "DELETE", `/feed-keys/${id}`)).status, 204);
  assert.equal((await follow(key)).statusCode, 401);
});
