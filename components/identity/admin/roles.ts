import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { publishChange } from "../store/changes.ts";
import {
  type Role,
  type RoleHolder,
  addComposites,
  deleteRole,
  findRole,
  giveRoles,
  insertRole,
  listComposites,
  listHeldRoles,
  listRoleUsers,
  listRoles,
  removeComposites,
  takeRoles,
  updateRole,
} from "../store/roles.ts";
import { publishUserChange, findUser } from "../store/users.ts";
import { openClient } from "./clients.ts";
import { AdminError, notFound } from "./errors.ts";
import { findRoles, readRole, refuseLosingAdministrators, refuseToGive, toRoleRepresentation } from "./role-records.ts";
import { openGroup } from "./groups.ts";
import { type AdminRequest, forRoles, readList, readObject, readPage } from "./request.ts";
import { type RoleMappingKind, addRoleMappingRoutes } from "./role-mappings.ts";
import { toUserRepresentation } from "./user-records.ts";
import { openUser } from "./users.ts";

/** Roles of the realm, of clients, and who has which. */
export function addRoleRoutes(app: FastifyInstance, context: IdentityContext): void {
  addDefinitions(app, context, "/admin/realms/:realm/roles", async () => null);
  addDefinitions(
    app,
    context,
    "/admin/realms/:realm/clients/:client/roles",
    async (request) => (await openClient(request)).id,
  );
  addRoleMappingRoutes(
    app,
    context,
    "/admin/realms/:realm/users/:user",
    async (request) => ({ kind: "user" as const, id: (await openUser(request)).id }),
    ROLE_MAPPINGS,
  );
  addRoleMappingRoutes(
    app,
    context,
    "/admin/realms/:realm/groups/:group",
    async (request) => ({ kind: "group" as const, id: (await openGroup(request)).id }),
    ROLE_MAPPINGS,
  );
}

const ROLE_MAPPINGS: RoleMappingKind<RoleHolder> = {
  name: "role-mappings",
  resourceType: "ROLE_MAPPING",
  view: "view-users",
  manage: "manage-users",
  list: ({ context }, holder) => listHeldRoles(context.pool, holder),
  add: giveRoles,
  remove: takeRoles,
  refuseToAdd: refuseToGive,
  announceChange: ({ handle }, db, holder) =>
    holder.kind === "user"
      ? publishUserChange(db, handle.realm.name, holder.id)
      : publishChange(db, { kind: "policy", realm: handle.realm.name }),
};

type ClientOf = (request: AdminRequest) => Promise<string | null>;

function addDefinitions(app: FastifyInstance, context: IdentityContext, base: string, clientOf: ClientOf): void {
  const { pool } = context;
  const [view, manage] = base.includes(":client")
    ? (["view-clients", "manage-clients"] as const)
    : (["view-realm", "manage-realm"] as const);
  const open = async (request: AdminRequest): Promise<Role> => {
    const role = await findRole(pool, request.handle.realm.id, await clientOf(request), request.params["role"] ?? "");
    if (role === undefined) {
      throw notFound("Role");
    }
    return role;
  };
  app.get(
    base,
    forRoles(context, [view, "view-users"], async (request) => {
      const roles = await listRoles(pool, request.handle.realm.id, await clientOf(request));
      const { search } = request.query;
      return roles
        .filter(({ name }) => search === undefined || name.toLowerCase().includes(search.toLowerCase()))
        .map((role) => toRoleRepresentation(request.handle.realm.id, role));
    }),
  );
  app.post(
    base,
    forRoles(context, [manage], async (request) => {
      const { handle, change, reply } = request;
      const role = readRole(readObject(request.body));
      const client = await clientOf(request);
      if ((await findRole(pool, handle.realm.id, client, role.name)) !== undefined) {
        throw new AdminError(409, `Role with name ${role.name} already exists`);
      }
      await change({ operation: "CREATE", resourceType: "ROLE", resourcePath: `roles/${role.name}` }, (db) =>
        insertRole(db, handle.realm.id, { client, ...role }),
      );
      const path = `${request.reply.request.url.split("?", 1)[0] ?? ""}/${encodeURIComponent(role.name)}`;
      return reply.code(201).header("location", `${context.publicUrl}${path}`).send();
    }),
  );
  app.get(
    `${base}/:role`,
    forRoles(context, [view, "view-users"], async (request) =>
      toRoleRepresentation(request.handle.realm.id, await open(request)),
    ),
  );
  app.put(
    `${base}/:role`,
    forRoles(context, [manage], async (request) => {
      const role = await open(request);
      const fields = readRole(readObject(request.body), role);
      await request.change(
        { operation: "UPDATE", resourceType: "ROLE", resourcePath: `roles/${role.name}` },
        async (db) => {
          await updateRole(db, role.id, fields);
          await publishChange(db, { kind: "policy", realm: request.handle.realm.name });
        },
      );
      return request.reply.code(204).send();
    }),
  );
  app.delete(
    `${base}/:role`,
    forRoles(context, [manage], async (request) => {
      const role = await open(request);
      refuseLosingAdministrators(request, role);
      await request.change(
        { operation: "DELETE", resourceType: "ROLE", resourcePath: `roles/${role.name}` },
        async (db) => {
          await deleteRole(db, role.id);
          await publishChange(db, { kind: "policy", realm: request.handle.realm.name });
        },
      );
      return request.reply.code(204).send();
    }),
  );
  app.get(
    `${base}/:role/users`,
    forRoles(context, ["view-users"], async (request) => {
      const ids = await listRoleUsers(pool, (await open(request)).id, readPage(request.query));
      const users = await Promise.all(ids.map((id) => findUser(pool, request.handle.realm.id, id)));
      return users.flatMap((user) => (user === undefined ? [] : [toUserRepresentation(user)]));
    }),
  );
  app.get(
    `${base}/:role/composites`,
    forRoles(context, [view], async (request) =>
      (await listComposites(pool, (await open(request)).id)).map((role) =>
        toRoleRepresentation(request.handle.realm.id, role),
      ),
    ),
  );
  for (const method of ["POST", "DELETE"] as const) {
    app.route({
      method,
      url: `${base}/:role/composites`,
      handler: forRoles(context, [manage], async (request) => {
        const role = await open(request);
        const children = await findRoles(request, readList(request.body), await clientOf(request));
        if (method === "POST") {
          await refuseToGive(request, children);
        }
        await request.change(
          { operation: "UPDATE", resourceType: "ROLE", resourcePath: `roles/${role.name}/composites` },
          async (db) => {
            await (method === "POST" ? addComposites : removeComposites)(
              db,
              role.id,
              children.map(({ id }) => id),
            );
            await publishChange(db, { kind: "policy", realm: request.handle.realm.name });
          },
        );
        return request.reply.code(204).send();
      }),
    });
  }
}
