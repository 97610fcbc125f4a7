import type { FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { grantScope } from "../claims/scopes.ts";
import { mapClaims } from "../claims/mappers.ts";
import { checkAccessToken } from "./access-token.ts";
import { readShownToken } from "./dpop.ts";
import { readForm } from "./form.ts";
import { OAuthError } from "./oauth-error.ts";

/** `GET` and `POST …/userinfo` (OpenID Connect Core §5.3); the token in the header, or in the form of a POST (RFC 6750 §2). */
export async function handleUserinfo(
  context: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const inHeader = await readShownToken(context, handle, request);
  const scheme = inHeader?.boundTo === undefined ? "Bearer" : "DPoP";
  const challenge = (error: string) => ({
    "www-authenticate": `${scheme} realm="${handle.realm.name}", error="${error}"`,
  });
  const inForm = request.method === "POST" ? readForm(request).get("access_token") : undefined;
  const token = inHeader?.token ?? inForm;
  if (token === undefined || token === "") {
    throw new OAuthError(401, "invalid_request", "Token not provided", {
      "www-authenticate": `Bearer realm="${handle.realm.name}"`,
    });
  }
  const bearer = await checkAccessToken(context, handle, token, {
    acceptIdTokens: context.login !== undefined,
    boundTo: inHeader?.boundTo,
  });
  if (bearer === undefined) {
    throw new OAuthError(401, "invalid_token", "Token verification failed", challenge("invalid_token"));
  }
  const { claims, user, access } = bearer;
  const client = typeof claims["azp"] === "string" ? await handle.findClient(claims["azp"]) : undefined;
  if (client === undefined) {
    throw new OAuthError(401, "invalid_token", "The client of the token does not exist", challenge("invalid_token"));
  }
  // An ID token says no scope; it was made for one with openid.
  const scope =
    claims["typ"] === "ID" ? grantScope(client, "openid") : typeof claims["scope"] === "string" ? claims["scope"] : "";
  if (!scope.split(" ").includes("openid")) {
    throw new OAuthError(403, "insufficient_scope", "Missing openid scope", challenge("insufficient_scope"));
  }
  void reply.header("cache-control", "no-store");
  const { aud: _, ...mapped } = mapClaims(
    "userinfo",
    { client, user, access: await handle.limitAccess(client, access, scope), acr: "1" },
    scope,
  );
  return { ...mapped, sub: user.id };
}
