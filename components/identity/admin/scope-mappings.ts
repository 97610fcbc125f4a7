import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { publishChange } from "../store/changes.ts";
import { type MapperOwner, addScopeMappings, listScopeMappings, removeScopeMappings } from "../store/client-scopes.ts";
import { findRoleById } from "../store/roles.ts";
import { openClientScope } from "./client-scopes.ts";
import { openClient } from "./clients.ts";
import { type RoleMappingKind, addRoleMappingRoutes } from "./role-mappings.ts";

const SCOPE_MAPPINGS: RoleMappingKind<MapperOwner> = {
  name: "scope-mappings",
  resourceType: "SCOPE_MAPPING",
  view: "view-clients",
  manage: "manage-clients",
  async list({ context, handle }, owner) {
    const ids = await listScopeMappings(context.pool, owner);
    const roles = await Promise.all(ids.map((id) => findRoleById(context.pool, handle.realm.id, id)));
    return roles.flatMap((role) => role ?? []);
  },
  add: addScopeMappings,
  remove: removeScopeMappings,
  announceChange: ({ handle }, db) => publishChange(db, { kind: "realm", realm: handle.realm.name }),
};

/** Which roles a client without full scope, or a client scope, lets into tokens. */
export function addScopeMappingRoutes(app: FastifyInstance, context: IdentityContext): void {
  addRoleMappingRoutes(
    app,
    context,
    "/admin/realms/:realm/clients/:client",
    async (request) => ({ kind: "client" as const, id: (await openClient(request)).id }),
    SCOPE_MAPPINGS,
  );
  addRoleMappingRoutes(
    app,
    context,
    "/admin/realms/:realm/client-scopes/:scope",
    async (request) => ({ kind: "scope" as const, id: (await openClientScope(request)).id }),
    SCOPE_MAPPINGS,
  );
}
