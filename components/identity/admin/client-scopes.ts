import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { publishChange } from "../store/changes.ts";
import {
  type ClientScope,
  type ClientScopeFields,
  assignScope,
  deleteClientScope,
  findClientScope,
  insertClientScope,
  insertMapper,
  listAssignedScopes,
  listClientScopes,
  removeAssignedScope,
  updateClientScope,
} from "../store/client-scopes.ts";
import { isUuid } from "../store/database.ts";
import { openClient } from "./clients.ts";
import { AdminError, badRequest, notFound } from "./errors.ts";
import { readMapper, toMapperRepresentation } from "./mapper-records.ts";
import { type AdminRequest, forRoles, readList, readObject, readText, readTextRecord } from "./request.ts";

/** @throws {AdminError} 404 */
export async function openClientScope({ context, handle, params }: AdminRequest): Promise<ClientScope> {
  const id = params["scope"] ?? "";
  const scope = isUuid(id) ? await findClientScope(context.pool, handle.realm.id, id) : undefined;
  if (scope === undefined) {
    throw notFound("Client scope");
  }
  return scope;
}

export function toClientScopeRepresentation(scope: ClientScope): Record<string, unknown> {
  const { id, name, description, protocol, attributes, mappers } = scope;
  return {
    id,
    name,
    ...(description !== undefined && { description }),
    protocol,
    attributes,
    ...(mappers.length > 0 && { protocolMappers: mappers.map(toMapperRepresentation) }),
  };
}

const shortly = ({ id, name, protocol }: ClientScope) => ({ id, name, protocol });

/** Reads a client scope; what is left out stays as in `base`. @throws {AdminError} 400 */
export function readClientScope(body: Readonly<Record<string, unknown>>, base?: ClientScope): ClientScopeFields {
  const name = readText(body, "name") ?? base?.name ?? "";
  // One word: it is written into `scope`, whose words spaces divide (RFC 6749 §3.3).
  if (!/^[\u0021\u0023-\u005b\u005d-\u007e]{1,255}$/.test(name)) {
    throw badRequest('name must be 1 to 255 characters of ASCII without spaces, " and \\');
  }
  const protocol = readText(body, "protocol") ?? base?.protocol ?? "openid-connect";
  if (protocol !== "openid-connect") {
    throw badRequest(`protocol is ${JSON.stringify(protocol)}; allowed: openid-connect`);
  }
  return {
    name,
    description: readText(body, "description", 2000) ?? base?.description,
    protocol,
    attributes: readTextRecord(body["attributes"], "attributes") ?? base?.attributes ?? {},
  };
}

/** Scopes of a realm, and which of them its clients have. */
export function addClientScopeRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const realm = "/admin/realms/:realm";
  const base = `${realm}/client-scopes`;
  const changeScopes = <Result>(
    request: AdminRequest,
    operation: "CREATE" | "UPDATE" | "DELETE",
    path: string,
    work: Parameters<typeof request.change<Result>>[1],
  ) =>
    request.change({ operation, resourceType: "CLIENT_SCOPE", resourcePath: path }, async (db) => {
      const result = await work(db);
      await publishChange(db, { kind: "realm", realm: request.handle.realm.name });
      return result;
    });

  app.get(
    base,
    forRoles(context, ["view-clients"], async ({ handle }) =>
      (await listClientScopes(pool, handle.realm.id)).map(toClientScopeRepresentation),
    ),
  );
  app.post(
    base,
    forRoles(context, ["manage-clients"], async (request) => {
      const { handle, reply } = request;
      const body = readObject(request.body);
      const fields = readClientScope(body);
      const id = readText(body, "id");
      if (id !== undefined && !isUuid(id)) {
        throw badRequest("id must be a UUID");
      }
      const mappers = body["protocolMappers"] === undefined ? [] : readList(body["protocolMappers"]);
      const requested = mappers.map((mapper) => readMapper(mapper));
      if ((await listClientScopes(pool, handle.realm.id)).some(({ name }) => name === fields.name)) {
        throw new AdminError(409, `Client Scope ${fields.name} already exists`);
      }
      const made = await changeScopes(request, "CREATE", `client-scopes/${fields.name}`, async (db) => {
        const scope = await insertClientScope(db, handle.realm.id, { ...fields, id });
        for (const mapper of requested) {
          await insertMapper(db, { kind: "scope", id: scope }, { ...mapper, id: undefined });
        }
        return scope;
      });
      return reply
        .code(201)
        .header("location", `${context.publicUrl}/admin/realms/${handle.realm.name}/client-scopes/${made}`)
        .send();
    }),
  );
  app.get(
    `${base}/:scope`,
    forRoles(context, ["view-clients"], async (request) => toClientScopeRepresentation(await openClientScope(request))),
  );
  app.put(
    `${base}/:scope`,
    forRoles(context, ["manage-clients"], async (request) => {
      const scope = await openClientScope(request);
      const fields = readClientScope(readObject(request.body), scope);
      await changeScopes(request, "UPDATE", `client-scopes/${scope.id}`, (db) =>
        updateClientScope(db, scope.id, fields),
      );
      return request.reply.code(204).send();
    }),
  );
  app.delete(
    `${base}/:scope`,
    forRoles(context, ["manage-clients"], async (request) => {
      const scope = await openClientScope(request);
      await changeScopes(request, "DELETE", `client-scopes/${scope.id}`, (db) => deleteClientScope(db, scope.id));
      return request.reply.code(204).send();
    }),
  );

  for (const [kind, optional] of [
    ["default", false],
    ["optional", true],
  ] as const) {
    const ofRealm = `${realm}/default-${kind}-client-scopes`;
    app.get(
      ofRealm,
      forRoles(context, ["view-clients"], async ({ handle }) =>
        (await listAssignedScopes(pool, { kind: "realm", id: handle.realm.id }, optional)).map(shortly),
      ),
    );
    const ofClient = `${realm}/clients/:client/${kind}-client-scopes`;
    app.get(
      ofClient,
      forRoles(context, ["view-clients"], async (request) =>
        (await listAssignedScopes(pool, { kind: "client", id: (await openClient(request)).id }, optional)).map(shortly),
      ),
    );
    for (const method of ["PUT", "DELETE"] as const) {
      app.route({
        method,
        url: `${ofRealm}/:scope`,
        handler: forRoles(context, ["manage-clients"], async (request) => {
          const { realm: owner } = request.handle;
          const scope = await openClientScope(request);
          await changeScopes(request, "UPDATE", `default-${kind}-client-scopes/${scope.id}`, (db) =>
            (method === "PUT" ? assignScope : removeAssignedScope)(
              db,
              { kind: "realm", id: owner.id },
              scope.id,
              optional,
            ),
          );
          return request.reply.code(204).send();
        }),
      });
      app.route({
        method,
        url: `${ofClient}/:scope`,
        handler: forRoles(context, ["manage-clients"], async (request) => {
          const client = await openClient(request);
          const scope = await openClientScope(request);
          await changeScopes(request, "UPDATE", `clients/${client.id}/${kind}-client-scopes/${scope.id}`, (db) =>
            (method === "PUT" ? assignScope : removeAssignedScope)(
              db,
              { kind: "client", id: client.id },
              scope.id,
              optional,
            ),
          );
          return request.reply.code(204).send();
        }),
      });
    }
  }
}
