import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";

/**
 * Browsers on other hosts may read what carries no cookie: discovery, keys, and answers to requests that bring their own token
 * or code (Fetch standard, CORS). Credentials are never allowed, so a stranger's page gains nothing that it does not bring.
 */
export function addCors(app: FastifyInstance, _context: IdentityContext): void {
  app.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    if (origin === undefined) {
      return;
    }
    void reply.headers({
      "access-control-allow-origin": origin,
      vary: "Origin",
      "access-control-expose-headers": "WWW-Authenticate, Location",
    });
    if (request.method === "OPTIONS") {
      await reply
        .code(204)
        .headers({
          "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS",
          "access-control-allow-headers": "Authorization, Content-Type, Accept, Origin",
          "access-control-max-age": "3600",
        })
        .send();
    }
  });
}
