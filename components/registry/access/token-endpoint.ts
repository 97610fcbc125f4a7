import type { IncomingMessage } from "node:http";

import { RegistryError } from "../errors.ts";
import { readBody } from "../protocol/body.ts";
import { authenticate, readBasic, toSubject } from "./authenticate.ts";
import { type CallerDeps, addressOf } from "./caller.ts";
import { ANONYMOUS, type Principal } from "./principal.ts";
import { grantScopes, parseScopes } from "./scope.ts";
import { TOKEN_SECONDS } from "./tokens.ts";

const MAX_FORM_BYTES = 64 << 10;

/**
 * Gives a token for what was asked for and is allowed (docs.docker.com token authentication: GET; OAuth 2 variant: POST). Without a
 * login, one for what everybody may do.
 */
export async function issueToken(deps: CallerDeps, message: IncomingMessage, query: URLSearchParams): Promise<object> {
  if (message.method === "POST") {
    return issueOAuthToken(deps, message);
  }
  if (message.method !== "GET") {
    throw new RegistryError("UNSUPPORTED", "The token endpoint takes GET and POST.");
  }
  const login = readBasic(message.headers.authorization);
  const principal =
    login === undefined ? ANONYMOUS : await authenticate(deps, { ...login, address: addressOf(message) });
  const token = await sign(deps, principal, query.getAll("scope"));
  return {
    ...token,
    // The login itself outlives the token; a client that asks for a refresh token keeps what it has.
    ...(query.get("offline_token") === "true" && login !== undefined && { refresh_token: toRefreshToken(login) }),
  };
}

async function issueOAuthToken(deps: CallerDeps, message: IncomingMessage): Promise<object> {
  const form = new URLSearchParams((await readBody(message, MAX_FORM_BYTES)).toString("utf8"));
  const grant = form.get("grant_type");
  const login =
    grant === "password"
      ? { user: form.get("username") ?? "", password: form.get("password") ?? "" }
      : grant === "refresh_token"
        ? readBasic(`Basic ${form.get("refresh_token") ?? ""}`)
        : undefined;
  if (login === undefined) {
    throw new RegistryError("UNSUPPORTED", "grant_type must be password or refresh_token.", { status: 400 });
  }
  const principal = await authenticate(deps, { ...login, address: addressOf(message) });
  return {
    ...(await sign(deps, principal, form.getAll("scope"))),
    ...(form.get("access_type") === "offline" || grant === "refresh_token"
      ? { refresh_token: toRefreshToken(login) }
      : {}),
  };
}

async function sign(deps: CallerDeps, principal: Principal, scopes: readonly string[]) {
  const access = await grantScopes(deps.sql, principal, parseScopes(scopes));
  const token = await deps.tokens.sign(toSubject(principal), access);
  return {
    token,
    access_token: token,
    expires_in: TOKEN_SECONDS,
    issued_at: new Date().toISOString(),
    scope: access.map(({ type, name, actions }) => `${type}:${name}:${actions.join(",")}`).join(" "),
  };
}

/** The login in another form: it ends when the secret is revoked, and nothing has to be stored. */
function toRefreshToken({ user, password }: { readonly user: string; readonly password: string }): string {
  return Buffer.from(`${user}:${password}`).toString("base64");
}
