import { boundKeyOf } from "@swath/auth";

import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { isAccessTokenRevoked, isSessionActive } from "../store/sessions.ts";
import { findUserWithAccess } from "../store/users.ts";
import type { User, UserAccess } from "../store/users.ts";

export interface Bearer {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly user: User;
  readonly access: UserAccess;
}

interface CheckOptions {
  /** Take an ID token as well, as clients of the login service send it. */
  readonly acceptIdTokens?: boolean;
  /** Thumbprint of the key that the sender has shown to hold: a token that is bound to one is good with that one only (RFC 9449 §7). */
  readonly boundTo?: string | undefined;
  /** Say what a token is, whoever sends it: introspection, whose caller only asks. */
  readonly anyHolder?: boolean;
}

/**
 * Who an access token of this realm speaks of, when it is good at this moment: signed, not expired, not revoked, its session
 * alive, its user enabled. `undefined` otherwise.
 */
export async function checkAccessToken(
  { pool }: IdentityContext,
  { realm, issuer, keys }: RealmHandle,
  token: string,
  { acceptIdTokens = false, boundTo, anyHolder = false }: CheckOptions = {},
): Promise<Bearer | undefined> {
  const claims = await keys.verify(token);
  if (
    claims === undefined ||
    claims["iss"] !== issuer ||
    !(claims["typ"] === "Bearer" || (acceptIdTokens && claims["typ"] === "ID"))
  ) {
    return undefined;
  }
  // Of a token that is bound to nothing no proof is asked; one that was sent as DPoP must be bound, though.
  if (!anyHolder && boundKeyOf(claims) !== boundTo) {
    return undefined;
  }
  const { exp, sub, jti, sid } = claims;
  if (typeof exp !== "number" || exp <= Date.now() / 1000 || typeof sub !== "string" || typeof jti !== "string") {
    return undefined;
  }
  const [isRevoked, isActive, found] = await Promise.all([
    isAccessTokenRevoked(pool, jti),
    typeof sid === "string" ? isSessionActive(pool, sid) : true,
    findUserWithAccess(pool, realm.id, sub),
  ]);
  if (isRevoked || !isActive) {
    return undefined;
  }
  return found?.user.enabled === true ? { claims, ...found } : undefined;
}
