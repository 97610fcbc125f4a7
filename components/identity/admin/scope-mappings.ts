import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { announce } from "../store/changes.ts";
import { type MapperOwner, addScopeMappings, listScopeMappings, removeScopeMappings } from "../store/client-scopes.ts";
import { findClientById } from "../store/clients.ts";
import { isUuid } from "../store/database.ts";
import { findRoleById, listRoles } from "../store/roles.ts";
import type { Role } from "../store/roles.ts";
import { listRolesWithin } from "../store/scope-roles.ts";
import { openClientScope } from "./client-scopes.ts";
import { openClient } from "./clients.ts";
import { notFound } from "./errors.ts";
import { type AdminRequest, forRoles, readList } from "./request.ts";
import { findRoles, toRoleRepresentation } from "./role-records.ts";

type OwnerOf = (request: AdminRequest) => Promise<MapperOwner>;

/** Which roles a client without full scope, or a client scope, lets into tokens. */
export function addScopeMappingRoutes(app: FastifyInstance, context: IdentityContext): void {
  addMappings(app, context, "/admin/realms/:realm/clients/:client/scope-mappings", async (request) => ({
    kind: "client",
    id: (await openClient(request)).id,
  }));
  addMappings(app, context, "/admin/realms/:realm/client-scopes/:scope/scope-mappings", async (request) => ({
    kind: "scope",
    id: (await openClientScope(request)).id,
  }));
}

/** The client whose roles a request is about. @throws {AdminError} 404 */
async function openRoleOwner({ context, handle, params }: AdminRequest): Promise<string> {
  const id = params["owner"] ?? "";
  const client = isUuid(id) ? await findClientById(context.pool, handle.realm.id, id) : undefined;
  if (client === undefined) {
    throw notFound("Role client");
  }
  return client.id;
}

function addMappings(app: FastifyInstance, context: IdentityContext, base: string, ownerOf: OwnerOf): void {
  const { pool } = context;
  const mapped = async (request: AdminRequest): Promise<readonly Role[]> => {
    const ids = await listScopeMappings(pool, await ownerOf(request));
    const roles = await Promise.all(ids.map((id) => findRoleById(pool, request.handle.realm.id, id)));
    return roles.flatMap((role) => role ?? []);
  };
  const show = ({ handle }: AdminRequest, roles: readonly Role[]) =>
    roles.map((role) => toRoleRepresentation(handle.realm.id, role));

  app.get(
    base,
    forRoles(context, ["view-clients"], async (request) => {
      const roles = await mapped(request);
      const clients = new Set(roles.flatMap(({ client }) => client ?? []));
      const named = await Promise.all([...clients].map((id) => findClientById(pool, request.handle.realm.id, id)));
      return {
        realmMappings: show(
          request,
          roles.filter(({ client }) => client === undefined),
        ),
        clientMappings: Object.fromEntries(
          named.flatMap((client) =>
            client === undefined
              ? []
              : [
                  [
                    client.clientId,
                    {
                      id: client.id,
                      client: client.clientId,
                      mappings: show(
                        request,
                        roles.filter((role) => role.client === client.id),
                      ),
                    },
                  ],
                ],
          ),
        ),
      };
    }),
  );

  for (const [suffix, roleOwnerOf] of [
    ["realm", async () => undefined],
    ["clients/:owner", openRoleOwner],
  ] as const) {
    const path = `${base}/${suffix}`;
    app.get(
      path,
      forRoles(context, ["view-clients"], async (request) => {
        const client = await roleOwnerOf(request);
        return show(
          request,
          (await mapped(request)).filter((role) => role.client === client),
        );
      }),
    );
    app.get(
      `${path}/available`,
      forRoles(context, ["view-clients"], async (request) => {
        const client = await roleOwnerOf(request);
        const held = new Set((await mapped(request)).map(({ id }) => id));
        const all = await listRoles(pool, request.handle.realm.id, client ?? null);
        return show(
          request,
          all.filter(({ id }) => !held.has(id)),
        );
      }),
    );
    app.get(
      `${path}/composite`,
      forRoles(context, ["view-clients"], async (request) => {
        const client = await roleOwnerOf(request);
        const within = await listRolesWithin(
          pool,
          (await mapped(request)).map(({ id }) => id),
        );
        const all = await listRoles(pool, request.handle.realm.id, client ?? null);
        return show(
          request,
          all.filter(({ id }) => within.includes(id)),
        );
      }),
    );
    for (const method of ["POST", "DELETE"] as const) {
      app.route({
        method,
        url: path,
        handler: forRoles(context, ["manage-clients"], async (request) => {
          const owner = await ownerOf(request);
          const client = await roleOwnerOf(request);
          const roles = await findRoles(request, readList(request.body), client ?? null);
          await request.change(
            {
              operation: method === "POST" ? "CREATE" : "DELETE",
              resourceType: "SCOPE_MAPPING",
              resourcePath: `${owner.kind}s/${owner.id}/scope-mappings`,
            },
            async (db) => {
              await (method === "POST" ? addScopeMappings : removeScopeMappings)(
                db,
                owner,
                roles.map(({ id }) => id),
              );
              await announce(db, { kind: "realm", realm: request.handle.realm.name });
            },
          );
          return request.reply.code(204).send();
        }),
      });
    }
  }
}
