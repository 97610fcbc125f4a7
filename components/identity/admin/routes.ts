import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { addAuthzPolicyRoutes } from "./authz-policies.ts";
import { addAuthzResourceRoutes } from "./authz-resources.ts";
import { addClientScopeRoutes } from "./client-scopes.ts";
import { addClientRoutes } from "./clients.ts";
import { sendAdminError } from "./errors.ts";
import { addEventRoutes } from "./events.ts";
import { addGroupRoutes } from "./groups.ts";
import { addMapperRoutes } from "./protocol-mappers.ts";
import { addRealmRoutes } from "./realms.ts";
import { addRoleRoutes } from "./roles.ts";
import { addScopeMappingRoutes } from "./scope-mappings.ts";
import { addSessionRoutes } from "./sessions.ts";
import { addUserRoutes } from "./users.ts";

/** The admin REST API, below `/admin/realms`. docs/reference/identity-admin.md lists it. */
export function addAdminRoutes(app: FastifyInstance, context: IdentityContext): void {
  app.register(async (scope) => {
    scope.setErrorHandler(sendAdminError);
    for (const add of [
      addRealmRoutes,
      addUserRoutes,
      addSessionRoutes,
      addClientRoutes,
      addClientScopeRoutes,
      addMapperRoutes,
      addScopeMappingRoutes,
      addRoleRoutes,
      addGroupRoutes,
      addAuthzResourceRoutes,
      addAuthzPolicyRoutes,
      addEventRoutes,
    ]) {
      add(scope, context);
    }
  });
}
