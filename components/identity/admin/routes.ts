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
import { addRolesByIdRoutes } from "./roles-by-id.ts";
import { addScopeEvaluationRoutes } from "./client-scopes-evaluation.ts";
import { addAuthzEvaluationRoutes } from "./authz-evaluation.ts";
import { addAuthzSettingsRoutes } from "./authz-settings.ts";
import { addSessionCountRoutes } from "./client-sessions.ts";
import { addEventSettingRoutes } from "./realm-events.ts";
import { addDefaultGroupRoutes } from "./default-groups.ts";
import { addUserProfileRoutes } from "./user-profile.ts";
import { addRealmTransferRoutes } from "./transfer/routes.ts";
import { addComponentRoutes } from "./components.ts";
import { addAuthzAssignmentRoutes } from "./authz-assignments.ts";
import { addAuthenticationRoutes } from "./authentication.ts";
import { addServerInfoRoutes } from "./server-info.ts";
import { addCredentialRoutes } from "./credentials.ts";
import { addUserRoutes } from "./users.ts";

/** The admin REST API, below `/admin/realms`. docs/reference/identity-admin.md lists it. */
export function addAdminRoutes(app: FastifyInstance, context: IdentityContext): void {
  app.register(async (scope) => {
    scope.setErrorHandler(sendAdminError);
    for (const add of [
      addRealmRoutes,
      addUserRoutes,
      addCredentialRoutes,
      addSessionRoutes,
      addClientRoutes,
      addClientScopeRoutes,
      addMapperRoutes,
      addScopeMappingRoutes,
      addRoleRoutes,
      addGroupRoutes,
      addAuthzResourceRoutes,
      addAuthzPolicyRoutes,
      addAuthzAssignmentRoutes,
      addEventRoutes,
      addRolesByIdRoutes,
      addScopeEvaluationRoutes,
      addAuthzEvaluationRoutes,
      addAuthzSettingsRoutes,
      addSessionCountRoutes,
      addEventSettingRoutes,
      addDefaultGroupRoutes,
      addUserProfileRoutes,
      addRealmTransferRoutes,
      addComponentRoutes,
      addAuthenticationRoutes,
      addServerInfoRoutes,
    ]) {
      add(scope, context);
    }
  });
}
