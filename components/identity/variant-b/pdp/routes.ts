import { addOpenApi } from "@swath/service/openapi";
import type { FastifyInstance } from "fastify";

import type { IdentityContext, LoginFace } from "../../context.ts";
import { sendPdpError } from "./errors.ts";
import { addPdpPolicyRoutes } from "./policy-routes.ts";
import { addPdpTermRoutes } from "./term-routes.ts";

/**
 * The policy decision point of variant B, for others: the gatekeeper decides by the same engine itself. Everybody who asks says who they
 * are, by a token or as a client.
 */
export async function addPdpRoutes(app: FastifyInstance, context: IdentityContext, face: LoginFace): Promise<void> {
  app.setErrorHandler(sendPdpError);
  await addOpenApi(app, {
    title: "Policy decision point",
    version: "1.0.0",
    description: "Decisions about requests, and the policies and terms that they are made by.",
    page: "/swagger-ui",
    document: "/pdp/openapi.json",
  });
  addPdpPolicyRoutes(app, context, face);
  addPdpTermRoutes(app, context, face);
}
