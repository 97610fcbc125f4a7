import { Problem, decodePercent } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { hash, timingSafeEqual } from "node:crypto";
import { type Static, Type } from "typebox";

import { mayEnter } from "../access/may-enter.ts";
import type { HubContext } from "../context.ts";
import { servicePrefix } from "../servers/names.ts";
import { createSecret, hashSecret } from "../store/database.ts";
import type { ServerRow } from "../store/servers.ts";

const AuthorizeQuery = Type.Object({
  client_id: Type.String({ maxLength: 600 }),
  redirect_uri: Type.Optional(Type.String({ maxLength: 2000 })),
  response_type: Type.Literal("code"),
  state: Type.Optional(Type.String({ maxLength: 2000 })),
  scope: Type.Optional(Type.String({ maxLength: 2000 })),
  code_challenge: Type.Optional(Type.String({ maxLength: 128 })),
  code_challenge_method: Type.Optional(Type.Literal("S256")),
});
const CODE_SECONDS = 120;
const TOKEN_DAYS = 14;

export const oauthClientOf = (user: string, name: string): string =>
  `jupyterhub-user-${encodeURIComponent(user)}${name === "" ? "" : `-${encodeURIComponent(name)}`}`;

export const oauthCallbackOf = (origin: string, user: string, name: string): string =>
  `${origin}${servicePrefix(user, name)}oauth_callback`;

/** The OAuth 2.0 provider of single-user servers (RFC 6749 §4.1): a server learns who looks at it, and nothing else. */
export function addOauthRoutes(app: FastifyInstance, { sql, callers, originOf }: HubContext): void {
  const findClient = async (clientId: string, redirectUri: string | undefined): Promise<ServerRow> => {
    const servers = await sql.rows<ServerRow>("select * from servers where state <> 'stopped'");
    const fitting = servers.filter(({ user_name: user, name }) => oauthClientOf(user, name) === clientId);
    const server =
      redirectUri === undefined
        ? fitting[0]
        : fitting.find((each) => oauthCallbackOf(originOf(each.label), each.user_name, each.name) === redirectUri);
    if (server === undefined) {
      // Never redirected to an address that is not the client's (RFC 6749 §4.1.2.1).
      throw new Problem(400, "No server that runs is this OAuth client with this redirect URI.");
    }
    return server;
  };

  app.get<{ Querystring: Static<typeof AuthorizeQuery> }>(
    "/oauth2/authorize",
    { schema: { querystring: AuthorizeQuery } },
    async (request, reply) => {
      const { client_id: client, redirect_uri: provided, state, code_challenge: challenge } = request.query;
      const server = await findClient(client, provided);
      const caller = await callers.find(request);
      if (caller?.login === undefined) {
        return reply.redirect(`/hub/login?next=${encodeURIComponent(request.url)}`, 302);
      }
      const redirectUri = oauthCallbackOf(originOf(server.label), server.user_name, server.name);
      const back = new URL(redirectUri);
      if (state !== undefined) {
        back.searchParams.set("state", state);
      }
      if ((await mayEnter(sql, caller.login.user, server)) === undefined) {
        back.searchParams.set("error", "access_denied");
        return reply.redirect(back.href, 302);
      }
      const { secret, hash: digest } = createSecret();
      const full = `${server.user_name}/${server.name}`;
      await sql.rows(
        `insert into oauth_codes (hash, client, redirect_uri, user_name, server_id, login_id, challenge, scopes, expires)
         values ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9))`,
        [
          digest,
          client,
          redirectUri,
          caller.login.user,
          server.id,
          caller.login.id,
          challenge ?? null,
          [`access:servers!server=${full}`, "read:users:name!user", "read:users:groups!user"],
          CODE_SECONDS,
        ],
      );
      back.searchParams.set("code", secret);
      return reply.header("cache-control", "no-store").redirect(back.href, 302);
    },
  );

  app.post<{ Body: Record<string, unknown> | null }>("/oauth2/token", async (request, reply) => {
    const body = request.body ?? {};
    const read = (name: string): string => (typeof body[name] === "string" ? body[name] : "");
    const [basicId = "", basicSecret = ""] = readBasic(request.headers.authorization);
    const clientId = read("client_id") || basicId;
    const secret = read("client_secret") || basicSecret;
    const refuse = (status: number, error: string, description: string) =>
      reply.code(status).header("cache-control", "no-store").send({ error, error_description: description });
    if (read("grant_type") !== "authorization_code") {
      return refuse(400, "unsupported_grant_type", "authorization_code is the one grant offered here");
    }
    const server = await sql.first<ServerRow & { readonly token_hash: string }>(
      "select * from servers where token_hash = $1",
      [hashSecret(secret)],
    );
    if (server === undefined || oauthClientOf(server.user_name, server.name) !== clientId) {
      return refuse(401, "invalid_client", "the client's id and secret do not fit");
    }
    const code = await sql.first<{
      readonly client: string;
      readonly redirect_uri: string;
      readonly user_name: string;
      readonly login_id: string;
      readonly server_id: string;
      readonly challenge: string | null;
      readonly scopes: readonly string[];
      readonly is_good: boolean;
    }>("delete from oauth_codes where hash = $1 returning *, expires > now() as is_good", [hashSecret(read("code"))]);
    const redirectUri = read("redirect_uri");
    if (
      code === undefined ||
      !code.is_good ||
      code.server_id !== server.id ||
      (redirectUri !== "" && redirectUri !== code.redirect_uri) ||
      (code.challenge !== null && !isVerifier(read("code_verifier"), code.challenge))
    ) {
      return refuse(400, "invalid_grant", "the code is not good, or not for this client");
    }
    const { secret: token, hash: digest } = createSecret();
    await sql.rows(
      `insert into tokens (hash, user_name, kind, server_id, login_id, client, scopes, note, expires)
       values ($1, $2, 'oauth', $3, $4, $5, $6, $7, now() + make_interval(days => $8))`,
      [
        digest,
        code.user_name,
        server.id,
        code.login_id,
        clientId,
        code.scopes,
        `Server ${server.user_name}/${server.name}`,
        TOKEN_DAYS,
      ],
    );
    return reply.header("cache-control", "no-store").send({
      access_token: token,
      token_type: "Bearer",
      expires_in: TOKEN_DAYS * 86_400,
      scope: code.scopes.join(" "),
    });
  });
}

function readBasic(header: string | undefined): readonly string[] {
  const [, encoded] = /^basic\s+([\w+/=-]+)$/i.exec(header ?? "") ?? [];
  return encoded === undefined ? [] : Buffer.from(encoded, "base64").toString("utf8").split(":").map(decodePercent);
}

function isVerifier(verifier: string, challenge: string): boolean {
  const [a, b] = [Buffer.from(hash("sha256", verifier, "base64url")), Buffer.from(challenge)];
  return a.length === b.length && timingSafeEqual(a, b);
}
