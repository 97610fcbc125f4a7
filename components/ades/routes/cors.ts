import { isOwnOrigin } from "@swath/auth";
import type { FastifyInstance } from "fastify";

/**
 * Pages of other hosts may read answers (Fetch standard, CORS). With the login in their cookies, which the gatekeeper turns into a
 * token, only pages of the deployment; others bring a token of their own.
 */
export function addCors(app: FastifyInstance, domain: string | undefined): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { origin } = request.headers;
    if (origin !== undefined) {
      void reply.headers({
        "access-control-allow-origin": origin,
        ...(domain !== undefined && isOwnOrigin(origin, domain) && { "access-control-allow-credentials": "true" }),
        "access-control-expose-headers": "Location, Link, Preference-Applied, ETag, Content-Range, Accept-Ranges",
        vary: "Accept, Origin",
      });
    }
    done();
  });
  app.options("/*", { schema: { hide: true } }, (request, reply) => {
    const requested = request.headers["access-control-request-headers"];
    return reply
      .code(204)
      .headers({
        "access-control-allow-methods": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
        "access-control-allow-headers":
          requested !== undefined && /^[A-Za-z0-9\-_, ]{1,1000}$/.test(requested)
            ? requested
            : "Authorization, Content-Type, Prefer",
        "access-control-max-age": "600",
      })
      .send();
  });
}
