import type { FastifyInstance } from "fastify";

import { RENEW_BEFORE, type Session } from "../session/session.ts";
import type { SessionGuard } from "./context.ts";

/** Who is logged in, as the page sees it: no tokens. */
export interface SessionResponse {
  readonly user: {
    readonly id: string;
    readonly username: string;
    readonly name?: string;
    readonly email?: string;
    readonly isAdmin: boolean;
    readonly mayCreateWorkspaces: boolean;
  } | null;
  /** ISO 8601; ask again before then, and the login is renewed. */
  readonly renewAt?: string;
}

export function addSessionRoutes(
  app: FastifyInstance,
  sessionGuard: SessionGuard,
  { isSelfService }: { readonly isSelfService: boolean },
): void {
  app.get("/api/session", async (request, reply): Promise<SessionResponse> => {
    void reply.header("cache-control", "no-store");
    return toResponse(await sessionGuard.find(request, reply, { confirm: true }), isSelfService);
  });
}

function toResponse(session: Session | undefined, isSelfService: boolean): SessionResponse {
  if (session === undefined) {
    return { user: null };
  }
  const { claims, identity } = session.verified;
  return {
    user: {
      id: identity.userId,
      username: identity.username ?? identity.userId,
      ...(typeof claims.name === "string" && claims.name !== "" && { name: claims.name }),
      ...(typeof claims.email === "string" && { email: claims.email }),
      isAdmin: session.isAdmin,
      mayCreateWorkspaces: session.isAdmin || isSelfService,
    },
    // A little into the time in which it is renewed, so that one request is enough.
    renewAt: new Date((claims.exp - RENEW_BEFORE + 5) * 1000).toISOString(),
  };
}
