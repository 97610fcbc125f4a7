import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { publishChange } from "../store/changes.ts";
import { isUuid } from "../store/database.ts";
import {
  type Role,
  addComposites,
  deleteRole,
  findRoleById,
  listComposites,
  removeComposites,
  updateRole,
} from "../store/roles.ts";
import { notFound } from "./errors.ts";
import { type AdminRequest, forRoles, readList, readObject } from "./request.ts";
import { findRoles, readRole, refuseLosingAdministrators, refuseToGive, toRoleRepresentation } from "./role-records.ts";

/** `/admin/realms/{realm}/roles-by-id`: roles of the realm and of clients alike. */
export function addRolesByIdRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const base = "/admin/realms/:realm/roles-by-id/:role";
  const open = async ({ handle, params }: AdminRequest): Promise<Role> => {
    const id = params["role"] ?? "";
    const role = isUuid(id) ? await findRoleById(pool, handle.realm.id, id) : undefined;
    if (role === undefined) {
      throw notFound("Could not find role with id");
    }
    return role;
  };
  const changeRole = (
    request: AdminRequest,
    role: Role,
    operation: "UPDATE" | "DELETE",
    work: Parameters<AdminRequest["change"]>[1],
  ) =>
    request.change({ operation, resourceType: "ROLE", resourcePath: `roles-by-id/${role.id}` }, async (db) => {
      await work(db);
      await publishChange(db, { kind: "policy", realm: request.handle.realm.name });
    });
  const composites = async (request: AdminRequest, fits: (role: Role) => boolean) =>
    (await listComposites(pool, (await open(request)).id))
      .filter(fits)
      .map((role) => toRoleRepresentation(request.handle.realm.id, role));

  app.get(
    base,
    forRoles(context, ["view-realm", "view-clients", "view-users"], async (request) =>
      toRoleRepresentation(request.handle.realm.id, await open(request)),
    ),
  );
  app.put(
    base,
    forRoles(context, ["manage-realm"], async (request) => {
      const role = await open(request);
      const fields = readRole(readObject(request.body), role);
      await changeRole(request, role, "UPDATE", (db) => updateRole(db, role.id, fields));
      return request.reply.code(204).send();
    }),
  );
  app.delete(
    base,
    forRoles(context, ["manage-realm"], async (request) => {
      const role = await open(request);
      refuseLosingAdministrators(request, role);
      await changeRole(request, role, "DELETE", (db) => deleteRole(db, role.id));
      return request.reply.code(204).send();
    }),
  );
  app.get(
    `${base}/composites`,
    forRoles(context, ["view-realm"], (request) => composites(request, () => true)),
  );
  app.get(
    `${base}/composites/realm`,
    forRoles(context, ["view-realm"], (request) => composites(request, ({ client }) => client === undefined)),
  );
  app.get(
    `${base}/composites/clients/:client`,
    forRoles(context, ["view-realm"], (request) =>
      composites(request, ({ client }) => client === request.params["client"]),
    ),
  );
  for (const method of ["POST", "DELETE"] as const) {
    app.route({
      method,
      url: `${base}/composites`,
      handler: forRoles(context, ["manage-realm"], async (request) => {
        const role = await open(request);
        const children = await findRoles(request, readList(request.body), null);
        if (method === "POST") {
          await refuseToGive(request, children);
        }
        await changeRole(request, role, "UPDATE", (db) =>
          (method === "POST" ? addComposites : removeComposites)(
            db,
            role.id,
            children.map(({ id }) => id),
          ),
        );
        return request.reply.code(204).send();
      }),
    });
  }
}
