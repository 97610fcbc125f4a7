import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";

import { startTestServer } from "@swath/postgres/server";
import { createLogger, loadSettings } from "@swath/service";
import { findFreePort, waitUntil } from "@swath/testing";
import { SignJWT, exportJWK, generateKeyPair } from "jose";
import { Registry } from "prom-client";

import { buildGatekeeper } from "../build.ts";
import { settings as definitions } from "../config.ts";

/** Replicas of the gatekeeper with an issuer of someone else, which tells one of them of a logout. */
const HOST = "ades.example.org";
const postgres = await startTestServer();
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.toReversed()) {
    await close();
  }
  await postgres.close();
});

const listen = async (server: Server): Promise<string> => {
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "k1", alg: "RS256", use: "sig" }] };
const issuer = await listen(
  createServer((request, response) => {
    const address = `http://${request.headers.host}`;
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(
        request.url === "/certs"
          ? jwks
          : { issuer: address, jwks_uri: `${address}/certs`, token_endpoint: `${address}/token` },
      ),
    );
  }),
);
const service = await listen(createServer((_request, response) => response.end("reached")));

async function startReplica(databaseUrl = postgres.url): Promise<string> {
  const env = {
    GATEKEEPER_HOSTS: JSON.stringify({
      [HOST]: {
        url: `http://${HOST}`,
        upstream: "UPSTREAM",
        clientId: "ades",
        secret: "SECRET",
        resources: [{ name: "all", uris: ["/*"], authenticated: true }],
      },
    }),
    UPSTREAM: service,
    SECRET: "hush",
    PLATFORM_DOMAIN: "example.org",
    IDENTITY_ISSUER: issuer,
    ENCRYPTION_KEY: "only for this test",
    DATABASE_URL: databaseUrl,
  };
  const replica = await buildGatekeeper({
    settings: loadSettings(definitions, env),
    env,
    logger: createLogger("gatekeeper", "silent"),
    metrics: new Registry(),
  });
  closing.push(() => replica.close?.());
  return listen(replica.servers["http"] as Server);
}

const sign = (claims: Record<string, unknown>, typ = "JWT") =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", kid: "k1", typ })
    .setIssuer(issuer)
    .setAudience("ades")
    .setIssuedAt()
    .setExpirationTime("2m")
    .sign(privateKey);
const tellLogout = async (replica: string, claims: Record<string, unknown>): Promise<number> => {
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const token = await sign({ jti: randomUUID(), events, ...claims }, "logout+jwt");
  return send(`${replica}/oauth/back-channel-logout`, { form: `logout_token=${token}` });
};
const visit = (replica: string, token: string) => send(`${replica}/x`, { token });

async function send(url: string, { token, form }: { token?: string; form?: string }): Promise<number> {
  const { request } = await import("node:http");
  const headers = {
    host: HOST,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
  };
  return new Promise((resolve, reject) => {
    const method = form === undefined ? "GET" : "POST";
    request(url, { method, agent: false, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    })
      .on("error", reject)
      .end(form);
  });
}

test("a logout that one replica hears of ends the login at all, also at those that start later", async () => {
  const [first, second] = [await startReplica(), await startReplica()];
  const eric = await sign({ sub: "eric", sid: "one" });
  const unnamed = await sign({ sub: "eric" });
  const bob = await sign({ sub: "bob", sid: "two" });
  for (const replica of [first, second]) {
    assert.equal(await visit(replica, eric), 200);
    assert.equal(await visit(replica, unnamed), 200);
  }
  assert.equal(await tellLogout(first, { sub: "eric", sid: "one" }), 200);
  assert.equal(await visit(first, eric), 401, "where it was told, at once");
  const third = await startReplica();
  for (const replica of [second, third]) {
    await waitUntil("the session has ended", async () => (await visit(replica, eric)) === 401);
    await waitUntil("tokens without a session have ended", async () => (await visit(replica, unnamed)) === 401);
    assert.equal(await visit(replica, bob), 200);
  }
  // Told as it was, not as of now: who logged in again afterwards stays in.
  const later = await sign({ sub: "eric", sid: "three" });
  const fourth = await startReplica();
  await waitUntil("the fourth has read", async () => (await visit(fourth, eric)) === 401);
  assert.equal(await visit(fourth, later), 200);
  assert.equal(await tellLogout(second, { sub: "bob" }), 200);
  await waitUntil("the user has ended", async () => (await visit(first, bob)) === 401);
});

test("what cannot be told to the others is not acknowledged, and ends here all the same", async () => {
  const nobody = await findFreePort();
  const alone = await startReplica(`postgres://nobody@127.0.0.1:${nobody}/none`);
  const alice = await sign({ sub: "alice", sid: "four" });
  assert.equal(await visit(alone, alice), 200);
  assert.equal(await tellLogout(alone, { sub: "alice", sid: "four" }), 503);
  assert.equal(await visit(alone, alice), 401);
});
