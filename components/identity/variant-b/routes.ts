import { createJsonBodyParser } from "@swath/service/fastify";
import type { FastifyInstance } from "fastify";

import type { IdentityContext, LoginFace } from "../context.ts";
import { addCors } from "../protocol/cors.ts";
import { findRealmOr404, sendOAuthError } from "../protocol/realm-scope.ts";
import { describeLogin, describeLoginUma, describeScim } from "./discovery.ts";
import { addRegistrationRoutes } from "../protocol/registration/registration-routes.ts";
import { LOGIN_CLIENT_MAPPERS } from "./client-mappers.ts";
import { acceptLenientJson } from "./lenient-json.ts";
import { loginBase } from "./paths.ts";
import { addPdpRoutes } from "./pdp/routes.ts";
import { addEnforcementResources } from "./resources.ts";
import { addProfileRoutes } from "./profile/routes.ts";
import { addScimRoutes } from "./scim/routes.ts";

/**
 * What the login service of variant B has besides the realm's own endpoints, which it shows under other names (`paths.ts`): discovery
 * documents, registration of clients, SCIM.
 */
export function addLoginFace(app: FastifyInstance, context: IdentityContext, face: LoginFace): void {
  const { publicUrl } = context;
  const hide = { schema: { hide: true } };
  // Existing clients of the login service send JSON under this type.
  app.addContentTypeParser("application/scim+json", { parseAs: "buffer" }, createJsonBodyParser());
  app.register(async (scope) => {
    scope.setErrorHandler(sendOAuthError);
    acceptLenientJson(scope);
    scope.register(async (open) => {
      addCors(open, context);
      const openRealm = () => findRealmOr404(context, face.realm);
      for (const prefix of ["", `/${face.provider}`]) {
        open.get(`${prefix}/.well-known/openid-configuration`, hide, async () =>
          describeLogin(await openRealm(), face, publicUrl),
        );
        open.get(`${prefix}/.well-known/uma2-configuration`, hide, async () =>
          describeLoginUma(await openRealm(), face, publicUrl),
        );
      }
      open.get("/.well-known/scim-configuration", hide, () => describeScim(publicUrl));
    });
    addRegistrationRoutes(scope, context, {
      url: `${loginBase(face)}/register`,
      realm: face.realm,
      who: face.registration,
      refusedToStrangers: ["client_credentials", "password"],
      mappers: LOGIN_CLIENT_MAPPERS,
    });
  });
  app.register(async (scope) => addScimRoutes(scope, context, face));
  app.register(async (scope) => addEnforcementResources(scope, context, face));
  if (face.delegates !== undefined) {
    app.register(async (scope) => addPdpRoutes(scope, context, face));
  }
  const { profile } = face;
  if (profile !== undefined) {
    app.register(async (scope) => addProfileRoutes(scope, context, face, profile));
  }
}
