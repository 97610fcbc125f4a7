import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";

/**
 * Browsers on other hosts may read what no cookie decides: discovery, keys, and answers to requests that bring their own token
 * or code (Fetch standard, CORS). Existing browser adapters ask with credentials included, and the browser hides the answer
 * from them unless credentials are allowed. That gives a stranger's page nothing: no endpoint of this scope reads a cookie.
 */
export function addCors(app: FastifyInstance, _context: IdentityContext): void {
  app.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    if (origin === undefined) {
      return;
    }
    void reply.headers(corsHeaders(origin));
    if (request.method === "OPTIONS") {
      await reply
        .code(204)
        .headers({
          "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS",
          "access-control-allow-headers": "Authorization, Content-Type, Accept, Origin, DPoP",
          "access-control-max-age": "3600",
        })
        .send();
    }
  });
}

/** What lets a page of `origin` read an answer that no cookie decided. */
export function corsHeaders(origin: string | undefined): Readonly<Record<string, string>> {
  return origin === undefined
    ? {}
    : {
        "access-control-allow-origin": origin,
        "access-control-allow-credentials": "true",
        vary: "Origin",
        "access-control-expose-headers": "WWW-Authenticate, Location",
      };
}
