import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { createLoginEnded, forward } from "../services/forward.ts";
import type { HealthChecker } from "../services/health.ts";
import type { Registry } from "../services/registry.ts";
import { type SessionGuard, abortOnDisconnect } from "./context.ts";

export interface ServicesDeps {
  readonly sessionGuard: SessionGuard;
  readonly registry: Registry;
  readonly health: HealthChecker;
}

/** What is deployed and how it does, and the way to it. */
export function addServiceRoutes(app: FastifyInstance, { sessionGuard, registry, health }: ServicesDeps): void {
  app.get("/api/services", async (request, reply) => {
    await sessionGuard.enter(request, reply);
    const found = await health.look();
    void reply.header("cache-control", "no-store");
    return {
      services: registry.all.map(({ id, title, description, url, page, docs, admin }) => ({
        id,
        title,
        description,
        url,
        ...(page !== undefined && { page: `${url}${page}` }),
        ...(docs !== undefined && { docs: `${url}${docs}` }),
        admin: admin === true,
        health: found.get(id),
      })),
    };
  });

  void app.register((scope, _options, done) => {
    // Bodies go on as they come, of any type and size.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, ready) => ready(null));
    scope.all<{ Params: { id: string } }>("/api/services/:id/*", (request, reply) =>
      pass({ sessionGuard, registry, health }, request, reply),
    );
    done();
  });
}

async function pass(
  { sessionGuard, registry }: ServicesDeps,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
): Promise<unknown> {
  const { verified } = await sessionGuard.enter(request, reply);
  const { id } = request.params;
  const service = registry.find(id);
  if (service?.forwarded !== true) {
    throw new Problem(404, `This deployment has no service ${JSON.stringify(id)} that pages may ask.`);
  }
  const hasBody = request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined;
  const response = await forward({
    service,
    method: request.method,
    path: request.url.slice(`/api/services/${id}`.length),
    headers: request.headers,
    body: hasBody ? request.raw : null,
    token: verified.token,
    clientAddress: request.ip,
    signal: abortOnDisconnect(request, reply),
  });
  if (response.status === 401) {
    // The gatekeeper hears at once that a login was ended elsewhere.
    response.body.resume();
    sessionGuard.invalidate(verified.token);
    throw createLoginEnded();
  }
  return reply
    .code(response.status)
    .headers({ ...response.headers, ...UNTRUSTED })
    .send(response.body);
}

/** What services answer must not act as a page of the portal, whatever it is. */
export const UNTRUSTED = {
  "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
} as const;
