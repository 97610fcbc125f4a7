import { Problem, createSecretCheck } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";

import { describeEnvironment } from "../api/swath.ts";
import type { HubContext } from "../context.ts";

/** What the proxy asks, with the secret that both have; the proxy lets nobody else come here. */
export function addInternalRoutes(app: FastifyInstance, context: HubContext): void {
  const isProxy = createSecretCheck(`Bearer ${context.hubSecret}`);
  app.addHook("onRequest", async (request) => {
    if (!isProxy(request.headers.authorization ?? "")) {
      throw new Problem(404, "There is nothing here.");
    }
  });
  app.get<{ Params: { user: string } }>(
    "/environment/:user",
    { schema: { params: Type.Object({ user: Type.String({ minLength: 1, maxLength: 255 }) }) } },
    async (request) => describeEnvironment(context, request.params.user),
  );
}
