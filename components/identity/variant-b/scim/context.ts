import type { FastifyRequest } from "fastify";

import { findActor, requireRole } from "../../admin/authorize.ts";
import type { IdentityContext, LoginFace } from "../../context.ts";
import { findRealmOr404 } from "../../protocol/realm-scope.ts";
import type { RealmHandle } from "../../realms/realm-cache.ts";
import { SCIM_BASE } from "../discovery.ts";
import type { CallAdmin } from "./admin-calls.ts";

/** A request of SCIM by somebody who may look at users. */
export interface ScimContext {
  readonly identity: IdentityContext;
  readonly handle: RealmHandle;
  readonly callAdmin: CallAdmin;
  /** Public address of SCIM. */
  readonly base: string;
}

/** @throws {AdminError} 401, 403 */
export async function openScim(
  identity: IdentityContext,
  face: LoginFace,
  request: FastifyRequest,
  callAdmin: CallAdmin,
): Promise<ScimContext> {
  const handle = await findRealmOr404(identity, face.realm);
  requireRole(await findActor(identity, face.realm, request), "view-users");
  return { identity, handle, callAdmin, base: `${identity.publicUrl}${SCIM_BASE}` };
}
