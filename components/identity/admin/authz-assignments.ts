import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { type Assignment, assign, isAssignmentKind, listAssigned, unassign } from "../policy/assignments.ts";
import { findResource } from "../store/authz-resources.ts";
import { isUuid } from "../store/database.ts";
import { AUTHZ_BASE, changeRules, openResourceServer } from "./authz-resources.ts";
import { badRequest, notFound } from "./errors.ts";
import { type AdminRequest, forRoles } from "./request.ts";

/** Which users, groups and roles a resource is assigned to, beside what policies that people wrote grant. */
export function addAuthzAssignmentRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const base = `${AUTHZ_BASE}/resource/:resource/assignments`;
  const manage = ["manage-authorization", "manage-clients"] as const;

  const open = async (request: AdminRequest) => {
    const { client } = await openResourceServer(request);
    const { resource: id = "" } = request.params;
    const resource = isUuid(id) ? await findResource(pool, client.id, id) : undefined;
    if (resource === undefined) {
      throw notFound("Resource");
    }
    return { client, resource };
  };
  const change = async (request: AdminRequest, operation: "CREATE" | "DELETE", work: typeof assign) => {
    const { client, resource } = await open(request);
    const { kind = "", holder = "" } = request.params;
    if (!isAssignmentKind(kind)) {
      throw badRequest(`${JSON.stringify(kind)} cannot be assigned to; allowed: users, groups, roles`);
    }
    if (!isUuid(holder)) {
      throw notFound("Holder");
    }
    const assignment: Assignment = { realmId: request.handle.realm.id, client, resource, kind, holder };
    await changeRules(request, client, operation, `resource/${resource.id}/assignments/${kind}/${holder}`, (db) =>
      work(db, assignment),
    );
    return request.reply.code(204).send();
  };

  app.get(
    base,
    forRoles(context, ["view-authorization", "view-clients"], async (request) => {
      const { client, resource } = await open(request);
      return listAssigned(pool, client, resource);
    }),
  );
  app.put(
    `${base}/:kind/:holder`,
    forRoles(context, manage, (request) => change(request, "CREATE", assign)),
  );
  app.delete(
    `${base}/:kind/:holder`,
    forRoles(context, manage, (request) => change(request, "DELETE", unassign)),
  );
}
