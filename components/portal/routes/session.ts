import type { FastifyInstance } from "fastify";

import { RENEW_BEFORE, type Session } from "../session/session.ts";
import type { Doorkeeper } from "./context.ts";

/** Who is logged in, as the page sees it: no tokens. */
export interface SessionAnswer {
  readonly user: {
    readonly id: string;
    readonly username: string;
    readonly name?: string;
    readonly email?: string;
    readonly isAdmin: boolean;
  } | null;
  /** ISO 8601; ask again before then, and the login is renewed. */
  readonly renewAt?: string;
}

export function addSessionRoutes(app: FastifyInstance, doorkeeper: Doorkeeper): void {
  app.get("/api/session", async (request, reply): Promise<SessionAnswer> => {
    void reply.header("cache-control", "no-store");
    return toAnswer(await doorkeeper.peek(request, reply, { confirm: true }));
  });
}

function toAnswer(session: Session | undefined): SessionAnswer {
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
    },
    // A little into the time in which it is renewed, so that one request is enough.
    renewAt: new Date((claims.exp - RENEW_BEFORE + 5) * 1000).toISOString(),
  };
}
