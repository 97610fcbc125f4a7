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
    ...(query.get("offline_token") === "true" && login !== undefined && (await offerRefreshToken(deps, login))),
  };
}

async function issueOAuthToken(deps: CallerDeps, message: IncomingMessage): Promise<object> {
  const form = new URLSearchParams((await readBody(message, MAX_FORM_BYTES)).toString("utf8"));
  const grant = form.get("grant_type");
  const scopes = form.getAll("scope");
  if (grant === "refresh_token") {
    const token = form.get("refresh_token") ?? "";
    const principal = await deps.refreshTokens.redeem(token);
    return { ...(await sign(deps, principal, scopes)), refresh_token: token };
  }
  if (grant !== "password") {
    throw new RegistryError("UNSUPPORTED", "grant_type must be password or refresh_token.", { status: 400 });
  }
  const login = { user: form.get("username") ?? "", password: form.get("password") ?? "" };
  const principal = await authenticate(deps, { ...login, address: addressOf(message) });
  return {
    ...(await sign(deps, principal, scopes)),
    ...(form.get("access_type") === "offline" && (await offerRefreshToken(deps, login))),
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

async function offerRefreshToken(
  { refreshTokens }: CallerDeps,
  login: { readonly user: string; readonly password: string },
): Promise<{ readonly refresh_token?: string }> {
  const token = await refreshTokens.create(login);
  return token === undefined ? {} : { refresh_token: token };
}
