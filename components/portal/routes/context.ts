import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "@swath/service";

import { requireOwnFetch, requireSameOrigin } from "../http/same-origin.ts";
import type { Session, SessionFinder } from "../session/session.ts";

/** What requests of the page need of who sent them. */
export interface SessionGuard {
  /** Who is logged in, if anybody; cookies of a login that was renewed go with the answer. */
  readonly find: (
    request: FastifyRequest,
    reply: FastifyReply,
    options?: { readonly confirm?: boolean },
  ) => Promise<Session | undefined>;
  /** @throws {Problem} 401 */
  readonly enter: (request: FastifyRequest, reply: FastifyReply) => Promise<Session>;
  /** A service refused this token: whether its login still is one has to be asked anew. */
  readonly invalidate: (token: string) => void;
}

export function createSessionGuard(
  sessions: SessionFinder | undefined,
  origin: string,
  forget: (token: string) => void = () => {},
): SessionGuard {
  const peek: SessionGuard["find"] = async (request, reply, options) => {
    requireSameOrigin(request.method, request.headers, origin);
    requireOwnFetch(request.headers);
    if (sessions === undefined) {
      return undefined;
    }
    const { session, setCookies } = await sessions.find(request.headers.cookie, options);
    if (setCookies.length > 0) {
      void reply.header("set-cookie", [...setCookies]);
    }
    return session;
  };
  return {
    find: peek,
    invalidate: forget,
    enter: async (request, reply) => {
      const session = await peek(request, reply);
      if (session === undefined) {
        throw new Problem(401, "Nobody is logged in; log in first.", { title: "Not logged in" });
      }
      return session;
    },
  };
}

/** Ends when the browser goes away. */
export function abortOnDisconnect(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => controller.abort());
  request.raw.once("error", () => controller.abort());
  return controller.signal;
}
