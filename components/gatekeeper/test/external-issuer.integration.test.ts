import { createLogger, loadSettings } from "@swath/service";
import { findFreePorts } from "@swath/testing";
import assert from "node:assert/strict";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { SignJWT, decodeJwt, exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { Registry } from "prom-client";

import { buildGatekeeper } from "../build.ts";
import { settings as definitions } from "../config.ts";

/** The gatekeeper with an issuer of somebody else: a certified provider that knows nothing of the platform. */
const servers: Server[] = [];
const service = await listen(createServer((request, response) => response.end(JSON.stringify(request.headers))));
// Both sides must know the other's address before they start.
const [gatekeeperUrl, issuerUrl] = (await findFreePorts(2)).map((port) => `http://127.0.0.1:${port}`) as [
  string,
  string,
];
const { privateKey } = await generateKeyPair("RS256", { extractable: true });
const provider = new Provider(issuerUrl, {
  jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "k1", alg: "RS256", use: "sig" }] },
  clients: [
    {
      client_id: "ades",
      client_secret: "hush%20:",
      redirect_uris: [`${gatekeeperUrl}/oauth/callback`],
      grant_types: ["authorization_code", "refresh_token"],
    },
  ],
  scopes: ["openid", "profile", "email"],
  cookies: { keys: ["only for this test"] },
  ttl: { AccessToken: 3600, IdToken: 3600, RefreshToken: 3600, Session: 3600, Grant: 3600, Interaction: 3600 },
  features: {
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => "urn:ades",
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: "openid profile email", audience: "ades", accessTokenFormat: "jwt" }),
    },
  },
  issueRefreshToken: () => Promise.resolve(true),
  extraTokenClaims: (_context, token) => ({ nickname: "accountId" in token ? token.accountId : undefined }),
});
const issuer = createServer((request, response) => void provider.callback()(request, response));
await listen(issuer, Number(new URL(issuerUrl).port));
const env = {
  GATEKEEPER_HOSTS: JSON.stringify({
    "127-0-0-1.example.org": {
      url: gatekeeperUrl,
      upstream: "UPSTREAM",
      clientId: "ades",
      secret: "SECRET",
      resources: [{ name: "eric", uris: ["/eric/*"], users: ["eric"] }],
    },
  }),
  UPSTREAM: `http://127.0.0.1:${service}`,
  SECRET: "hush%20:",
  PLATFORM_DOMAIN: "example.org",
  IDENTITY_ISSUER: issuerUrl,
  ENCRYPTION_KEY: "only for this test",
  USERNAME_CLAIM: "nickname",
};
const gatekeeper = await buildGatekeeper({
  settings: loadSettings(definitions, env),
  env,
  logger: createLogger("gatekeeper", "silent"),
  metrics: new Registry(),
});
const front = gatekeeper.servers["http"] as Server;
await listen(front, Number(new URL(gatekeeperUrl).port));
after(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await gatekeeper.close?.();
});

const cookies = new Map<string, string>();

test("a person logs in at another issuer and reaches what the declared rules allow", async () => {
  const navigation = { accept: "text/html", "sec-fetch-mode": "navigate" };
  let response = await send(`${gatekeeperUrl}/eric/x?y=z`, { headers: navigation });
  const steps: string[] = [];
  while (response.status === 302 || response.status === 303 || response.form !== undefined) {
    const target = response.location ?? response.form ?? "";
    steps.push(`${response.status} ${target}`);
    assert.ok(steps.length < 15, steps.join("\n"));
    if (target === `${gatekeeperUrl}/eric/x?y=z`) {
      break;
    }
    response =
      response.form === undefined
        ? await send(target, { headers: navigation })
        : await send(target, { body: `prompt=${response.prompt}&login=eric&password=x` });
  }
  assert.ok(cookies.has("auth_user_id"), steps.join("\n"));
  assert.match(cookies.get("auth_refresh_token") ?? "", /^s1\./);
  const right = await send(`${gatekeeperUrl}/eric/x`, {});
  assert.equal(right.status, 200);
  assert.equal((JSON.parse(right.text) as Record<string, string>)["x-auth-username"], "eric");
  assert.equal((await send(`${gatekeeperUrl}/bob/x`, {})).status, 403);
});

test("the issuer tells of a logout, and the login's tokens end at once (Back-Channel Logout 1.0)", async () => {
  const event = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const tell = async (claims: Record<string, unknown>) => {
    const token = await new SignJWT({ jti: crypto.randomUUID(), events: event, ...claims })
      .setProtectedHeader({ alg: "RS256", kid: "k1", typ: "logout+jwt" })
      .setIssuer(issuerUrl)
      .setAudience("ades")
      .setIssuedAt()
      .setExpirationTime("2m")
      .sign(privateKey);
    return send(`${gatekeeperUrl}/oauth/back-channel-logout`, { body: `logout_token=${token}` });
  };
  const { sub } = decodeJwt(cookies.get("auth_user_id") ?? "");
  const kept = new Map(cookies);
  cookies.delete("auth_refresh_token");
  assert.equal((await tell({ sub, nonce: "n" })).status, 400);
  assert.equal((await tell({ sub, events: {} })).status, 400);
  assert.equal((await tell({ sub: "somebody else", sid: "other" })).status, 200);
  assert.equal((await send(`${gatekeeperUrl}/eric/x`, {})).status, 200);
  assert.equal((await tell({ sub, sid: "its session" })).status, 200);
  assert.equal((await send(`${gatekeeperUrl}/eric/x`, {})).status, 401);
  // Whose refresh token is still good was another login of the user: it goes on. Times are whole seconds.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  kept.forEach((value, name) => cookies.set(name, value));
  assert.equal((await send(`${gatekeeperUrl}/eric/x`, {})).status, 200);
});

test("the login is renewed with the refresh token alone, and logout ends it", async () => {
  cookies.delete("auth_user_id");
  assert.equal((await send(`${gatekeeperUrl}/eric/x`, {})).status, 200);
  assert.ok(cookies.has("auth_user_id"));
  const kept = new Map(cookies);
  assert.equal((await send(`${gatekeeperUrl}/oauth/logout`, {})).status, 302);
  assert.equal(cookies.has("auth_user_id"), false);
  kept.forEach((value, name) => cookies.set(name, value));
  assert.equal((await send(`${gatekeeperUrl}/eric/x`, {})).status, 401);
});

interface TestResponse {
  readonly status: number;
  readonly location: string | undefined;
  /** Where the form on the page goes. */
  readonly form: string | undefined;
  readonly prompt: string | undefined;
  readonly text: string;
}

interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A browser without script: keeps cookies, reads the one form of a page. */
async function send(url: string, { headers = {}, body }: AskOptions): Promise<TestResponse> {
  const { request } = await import("node:http");
  const target = new URL(url);
  const host = url.startsWith(gatekeeperUrl) ? "127-0-0-1.example.org" : target.host;
  return new Promise((resolve, reject) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const form =
      body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded", origin: target.origin };
    const outgoing = request(
      target,
      { method: body === undefined ? "GET" : "POST", agent: false, headers: { host, cookie, ...form, ...headers } },
      (response) => {
        for (const line of response.headers["set-cookie"] ?? []) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          if (value === "" || /max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) {
            cookies.delete(name);
          } else {
            cookies.set(name, value);
          }
        }
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => {
          const { location } = response.headers;
          const action = /<form[^>]*action="([^"]+)"/.exec(text)?.[1];
          resolve({
            status: response.statusCode ?? 0,
            location: location === undefined ? undefined : new URL(location, url).href,
            form: action === undefined ? undefined : new URL(action, url).href,
            prompt: /name="prompt" value="([^"]+)"/.exec(text)?.[1],
            text,
          });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Listens on loopback and gives the port. */
function listen(server: Server, port = 0): Promise<number> {
  servers.push(server);
  return new Promise((resolve) =>
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
}
