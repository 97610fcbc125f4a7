import { readRequestTokens } from "@swath/auth";
import type { FastifyRequest } from "fastify";

import type { IdentityContext, LoginFace } from "../../context.ts";
import { checkAccessToken } from "../../protocol/access-token.ts";
import { authenticateConfidentialClient } from "../../protocol/client-authentication.ts";
import { Form } from "../../protocol/form.ts";
import { findRealmOr404 } from "../../protocol/realm-scope.ts";
import { ADMIN_ROLE } from "../../realms/create-realm.ts";
import type { RealmHandle } from "../../realms/realm-cache.ts";
import { PdpError } from "./errors.ts";

/** Who asks the decision point. */
export interface PdpCaller {
  readonly handle: RealmHandle;
  /** Id of the user; of a client its own. */
  readonly userId: string;
  readonly isOperator: boolean;
}

/** Whether a request says who sends it, rightly or not. */
export const showsCredentials = ({ headers }: FastifyRequest): boolean =>
  headers.authorization !== undefined || readRequestTokens(headers, true).length > 0;

/** A user by ID or access token, or a client by its secret. @throws {PdpError} 401 */
export async function findPdpCaller(
  context: IdentityContext,
  face: LoginFace,
  request: FastifyRequest,
): Promise<PdpCaller> {
  const handle = await findRealmOr404(context, face.realm);
  const { authorization } = request.headers;
  if (/^basic /i.test(authorization ?? "")) {
    const client = await authenticateConfidentialClient(handle, authorization, new Form({}));
    return { handle, userId: client.id, isOperator: false };
  }
  for (const token of readRequestTokens(request.headers, true)) {
    const bearer = await checkAccessToken(context, handle, token, { acceptIdTokens: true });
    if (bearer !== undefined) {
      return { handle, userId: bearer.user.id, isOperator: bearer.access.realm.includes(ADMIN_ROLE) };
    }
  }
  throw new PdpError(401, "no token", "Send an ID token or access token as Authorization: Bearer or X-User-Id");
}
