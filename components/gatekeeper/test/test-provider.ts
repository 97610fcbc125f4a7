import { type CryptoKey, SignJWT, exportJWK, generateKeyPair } from "jose";
import { createHash, randomUUID } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";

import type { PolicySet } from "@swath/auth";

/** An identity service as far as the gatekeeper sees one: keys, tokens, rules and their changes, all in memory. */
export interface TestProvider {
  readonly server: Server;
  readonly privateKey: CryptoKey;
  readonly policySets: Map<string, PolicySet>;
  readonly counts: { refreshes: number; introspections: number; revocations: number };
  readonly sign: (claims?: Record<string, unknown>, options?: { seconds?: number; key?: CryptoKey }) => Promise<string>;
  readonly issueRefreshToken: (clientId: string, username?: string) => string;
  /** Tells every gatekeeper. */
  readonly tell: (event: string, data: object) => void;
  readonly followers: () => number;
  /** Tokens that introspection calls inactive. */
  readonly inactive: Set<string>;
}

export const ISSUER = "http://identity.example.org/realms/master";
export const SECRET = "client:secret%";

interface Code {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string;
}

/** @param issuer where it will be reached, when not on a peer address */
export async function createTestProvider(issuer: string = ISSUER): Promise<TestProvider> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "first", alg: "RS256", use: "sig" };
  const policySets = new Map<string, PolicySet>();
  const counts = { refreshes: 0, introspections: 0, revocations: 0 };
  const streams = new Set<ServerResponse>();
  const refreshTokens = new Map<string, { clientId: string; username: string }>();
  const codes = new Map<string, Code>();
  const inactive = new Set<string>();

  const sign: TestProvider["sign"] = (claims = {}, { seconds = 300, key = privateKey } = {}) => {
    const at = Math.floor(Date.now() / 1000);
    const username = claims["preferred_username"];
    return new SignJWT({
      iss: issuer,
      sub: `id-of-${typeof username === "string" ? username : "eric"}`,
      iat: at,
      exp: at + seconds,
      jti: randomUUID(),
      sid: randomUUID(),
      aud: "account",
      azp: "swath-portal",
      typ: "Bearer",
      preferred_username: "eric",
      email: "eric@example.org",
      realm_access: { roles: ["user"] },
      ...claims,
    })
      .setProtectedHeader({ alg: "RS256", kid: "first", typ: "JWT" })
      .sign(key);
  };
  const issueRefreshToken: TestProvider["issueRefreshToken"] = (clientId, username = "eric") => {
    const token = randomUUID();
    refreshTokens.set(token, { clientId, username });
    return token;
  };
  const tokensFor = async (clientId: string, username: string, nonce?: string) => ({
    access_token: await sign({ preferred_username: username, azp: clientId }),
    refresh_token: issueRefreshToken(clientId, username),
    id_token: await sign({ typ: "ID", aud: clientId, nonce }),
    token_type: "Bearer",
    expires_in: 300,
  });

  const token = async (form: URLSearchParams, client: string | undefined): Promise<[number, object]> => {
    const clientId = client ?? form.get("client_id") ?? "";
    switch (form.get("grant_type")) {
      case "password":
        return form.get("password") === "right"
          ? [200, await tokensFor(clientId, form.get("username") ?? "")]
          : [401, { error: "invalid_grant", error_description: "Invalid user credentials" }];
      case "refresh_token": {
        counts.refreshes += 1;
        const value = form.get("refresh_token") ?? "";
        const known = refreshTokens.get(value);
        refreshTokens.delete(value);
        return known?.clientId === clientId
          ? [200, await tokensFor(clientId, known.username)]
          : [400, { error: "invalid_grant" }];
      }
      case "authorization_code": {
        const code = codes.get(form.get("code") ?? "");
        codes.delete(form.get("code") ?? "");
        const challenge = createHash("sha256")
          .update(form.get("code_verifier") ?? "")
          .digest("base64url");
        const right =
          code?.clientId === clientId && code.redirectUri === form.get("redirect_uri") && code.challenge === challenge;
        return right ? [200, await tokensFor(clientId, "eric", code.nonce)] : [400, { error: "invalid_grant" }];
      }
      case "client_credentials":
        return client === undefined ? [401, { error: "invalid_client" }] : [200, await tokensFor(clientId, clientId)];
      default:
        return [400, { error: "unsupported_grant_type" }];
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", ISSUER);
    const path = url.pathname.replace("/realms/master", "");
    const client = clientOf(request);
    const send = (status: number, value: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    const endpoint = (name: string) => `${issuer}/protocol/openid-connect/${name}`;
    if (path === "/.well-known/openid-configuration") {
      send(200, {
        issuer,
        jwks_uri: endpoint("certs"),
        authorization_endpoint: endpoint("auth"),
        token_endpoint: endpoint("token"),
        introspection_endpoint: endpoint("token/introspect"),
        revocation_endpoint: endpoint("revoke"),
        end_session_endpoint: endpoint("logout"),
      });
    } else if (path === "/protocol/openid-connect/certs") {
      send(200, { keys: [jwk] });
    } else if (path === "/protocol/openid-connect/auth") {
      // Everybody is logged in already.
      const code = randomUUID();
      const read = (name: string) => url.searchParams.get(name) ?? "";
      codes.set(code, {
        clientId: read("client_id"),
        redirectUri: read("redirect_uri"),
        challenge: read("code_challenge"),
        nonce: read("nonce"),
      });
      const back = new URL(read("redirect_uri"));
      back.searchParams.set("code", code);
      back.searchParams.set("state", read("state"));
      response.writeHead(302, { location: back.href }).end();
    } else if (path === "/protocol/openid-connect/token") {
      send(...(await token(await readForm(request), client)));
    } else if (path === "/protocol/openid-connect/token/introspect") {
      counts.introspections += 1;
      const value = (await readForm(request)).get("token") ?? "";
      send(client === undefined ? 401 : 200, { active: client !== undefined && !inactive.has(value) });
    } else if (path === "/protocol/openid-connect/revoke") {
      counts.revocations += 1;
      refreshTokens.delete((await readForm(request)).get("token") ?? "");
      send(200, {});
    } else if (path === "/authz/protection/permission") {
      const isOwn = request.headers.authorization?.startsWith("Bearer ") === true;
      send(isOwn ? 201 : 401, { ticket: `ticket-for-${Buffer.from(await readBody(request)).toString("base64url")}` });
    } else if (path === "/internal/policy-events" && client !== undefined) {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("event: ready\ndata: {}\n\n");
      streams.add(response);
      response.on("close", () => streams.delete(response));
    } else if (path.endsWith("/policy-set") && client !== undefined) {
      const policySet = policySets.get(client);
      const tag = `"${policySet?.version}"`;
      if (request.headers["if-none-match"] === tag) {
        response.writeHead(304).end();
      } else {
        response.setHeader("etag", tag);
        send(policySet === undefined ? 404 : 200, policySet ?? {});
      }
    } else {
      send(404, {});
    }
  };
  return {
    server: createServer((request, response) => {
      handle(request, response).catch(() => response.destroy());
    }),
    privateKey,
    policySets,
    counts,
    sign,
    issueRefreshToken,
    tell: (event, data) =>
      streams.forEach((stream) => stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)),
    followers: () => streams.size,
    inactive,
  };
}

/** The confidential client that a request authenticates as. */
function clientOf({ headers }: IncomingMessage): string | undefined {
  const [scheme, value] = headers.authorization?.split(" ") ?? [];
  const [id, secret] = Buffer.from(value ?? "", "base64")
    .toString()
    .split(":");
  return scheme === "Basic" && decodeURIComponent(secret ?? "") === SECRET ? id : undefined;
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  return new URLSearchParams(await readBody(request));
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString();
  }
  return text;
}
