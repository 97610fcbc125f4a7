import { adminRealmPath } from "@swath/manifest/realm-paths";
import { Problem } from "@swath/service";
import { LRUCache } from "lru-cache";

import { createLoginEnded, forward } from "../services/forward.ts";
import type { Service } from "../services/registry.ts";
import type { Session } from "../session/session.ts";

/** Lets administrators pass. @throws {Problem} 401 when the login has ended, 403, 502 */
export type RequireAdmin = (session: Session, clientAddress: string) => Promise<void>;

/** Milliseconds an answer of the identity service holds. */
const CACHE_TTL_MS = 5000;
const MAX_KEPT = 200;

/**
 * An administrator is who the identity service lets administer at this moment: a token goes on saying for minutes what is true no
 * more. With an issuer that is not the platform's own, the token's word is all there is.
 */
export function createRequireAdmin(identity: Service | undefined, realm: string): RequireAdmin {
  const known = new LRUCache<string, { readonly isAdmin: boolean }>({ max: MAX_KEPT, ttl: CACHE_TTL_MS });
  const send = async (token: string, clientAddress: string): Promise<boolean> => {
    if (identity === undefined) {
      return true;
    }
    const { status, body } = await forward({
      service: identity,
      method: "GET",
      path: adminRealmPath(realm),
      headers: { accept: "application/json" },
      body: null,
      token,
      clientAddress,
      signal: AbortSignal.timeout(5000),
    });
    body.resume();
    if (status === 401) {
      throw createLoginEnded();
    }
    if (status >= 500) {
      throw new Problem(502, "The identity service does not answer.", { extensions: { service: "identity" } });
    }
    return status === 200;
  };
  return async (session, clientAddress) => {
    const { token, identity: caller } = session.verified;
    const entry = known.get(token);
    const isAdmin = session.isAdmin && (entry === undefined ? await send(token, clientAddress) : entry.isAdmin);
    if (entry === undefined) {
      known.set(token, { isAdmin });
    }
    if (!isAdmin) {
      throw new Problem(403, `This is for administrators; ${caller.username ?? "you"} is none.`);
    }
  };
}
