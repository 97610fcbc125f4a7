import type { FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { UMA_GRANT, grantByUmaTicket } from "../uma/uma-grant.ts";
import { authenticateClient } from "./client-authentication.ts";
import { checkKeyIsShown, findShownKey, readShownToken } from "./dpop.ts";
import { readForm } from "./form.ts";
import { grantByCode } from "./grants/authorization-code.ts";
import { grantByClientCredentials } from "./grants/client-credentials.ts";
import { DEVICE_GRANT, grantByDeviceCode } from "./grants/device-code.ts";
import type { GrantRequest } from "./grants/grant.ts";
import { grantByPassword } from "./grants/password.ts";
import { grantByRefreshToken } from "./grants/refresh-token.ts";
import type { TokenResponse } from "./issue-tokens.ts";
import { OAuthError } from "./oauth-error.ts";

const GRANTS: Readonly<Record<string, (request: GrantRequest) => Promise<TokenResponse>>> = {
  password: grantByPassword,
  authorization_code: grantByCode,
  refresh_token: grantByRefreshToken,
  client_credentials: grantByClientCredentials,
  [DEVICE_GRANT]: grantByDeviceCode,
};

export const GRANT_TYPES: readonly string[] = [...Object.keys(GRANTS), UMA_GRANT];

/** `POST …/token` (RFC 6749 §3.2). Answers are never stored by caches (§5.1). */
export async function handleToken(
  context: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  void reply.headers({ "cache-control": "no-store", pragma: "no-cache" });
  const form = readForm(request);
  const type = form.get("grant_type");
  if (type === undefined) {
    throw new OAuthError(400, "invalid_request", "Missing form parameter: grant_type");
  }
  if (type === UMA_GRANT) {
    return grantByUmaTicket(context, handle, form, await readShownToken(context, handle, request));
  }
  const grant = Object.hasOwn(GRANTS, type) ? GRANTS[type] : undefined;
  if (grant === undefined) {
    throw new OAuthError(400, "unsupported_grant_type", `Unsupported grant_type; allowed: ${GRANT_TYPES.join(", ")}`);
  }
  const client = await authenticateClient(handle, request.headers.authorization, form);
  const boundTo = await findShownKey(context, handle, request);
  checkKeyIsShown(client, boundTo);
  return grant({ context, handle, client, form, boundTo, ip: request.ip, userAgent: request.headers["user-agent"] });
}
