import { randomBytes } from "node:crypto";

import type { FastifyReply } from "fastify";

import type { IdentityContext } from "../context.ts";
import { authorizationPath } from "../oidc/provider.ts";

/** Through the authorization endpoint and back; the code that comes along is not needed, the browser session is. */
export function logInForPage(
  { publicUrl }: IdentityContext,
  realm: string,
  reply: FastifyReply,
  /** The page to come back to, below `/realms/{realm}/`; its `state` comes back as a parameter. */
  { page, state }: { readonly page: `account${string}`; readonly state?: string | undefined },
) {
  const query = new URLSearchParams({
    client_id: "account",
    response_type: "code",
    scope: "openid",
    redirect_uri: `${publicUrl}/realms/${realm}/${page}`,
    // Nobody redeems the code, so this is the hash of nothing that anybody knows.
    code_challenge: randomBytes(32).toString("base64url"),
    code_challenge_method: "S256",
    ...(state !== undefined && { state }),
  });
  return reply.redirect(`${authorizationPath(realm)}?${query.toString()}`);
}
