import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import {
  type AuthzResource,
  type AuthzScope,
  type ResourceFields,
  deleteResource,
  deleteScope,
  findResource,
  insertResource,
  insertScope,
  listResources,
  listScopes,
  updateResource,
  updateScope,
} from "../store/authz-resources.ts";
import { listPolicies } from "../store/authz-policies.ts";
import type { Client } from "../store/clients.ts";
import { isUuid } from "../store/database.ts";
import {
  type ResourceServer,
  announceRules,
  findResourceServer,
  updateResourceServer,
} from "../store/resource-servers.ts";
import { findUser } from "../store/users.ts";
import { openClient } from "./clients.ts";
import { AdminError, badRequest, notFound } from "./errors.ts";
import { readAttributes } from "./user-records.ts";
import { type AdminRequest, forRoles, readBoolean, readObject, readPage, readText, readTexts } from "./request.ts";

export const AUTHZ_BASE = "/admin/realms/:realm/clients/:client/authz/resource-server";

/** A client that protects resources. @throws {AdminError} 404 */
export async function openResourceServer(request: AdminRequest): Promise<{ client: Client; server: ResourceServer }> {
  const client = await openClient(request);
  const server = await findResourceServer(request.context.pool, client.id);
  if (server === undefined) {
    throw notFound(`Authorization settings of client ${client.clientId}`);
  }
  return { client, server };
}

export function toResourceRepresentation(resource: AuthzResource, client: Client): Record<string, unknown> {
  return {
    _id: resource.id,
    name: resource.name,
    ...(resource.displayName !== undefined && { displayName: resource.displayName }),
    ...(resource.type !== undefined && { type: resource.type }),
    ...(resource.iconUri !== undefined && { icon_uri: resource.iconUri }),
    owner: { id: resource.owner, ...(resource.owner === client.id && { name: client.clientId }) },
    ownerManagedAccess: resource.ownerManaged,
    attributes: resource.attributes,
    uris: resource.uris,
    scopes: resource.scopes,
  };
}

/** Reads a resource; what is left out stays as in `base`. @throws {AdminError} 400 */
export function readResource(
  body: Readonly<Record<string, unknown>>,
  client: Client,
  base?: AuthzResource,
): ResourceFields {
  const name = readText(body, "name") ?? base?.name;
  if (name === undefined || name === "") {
    throw badRequest("name is missing");
  }
  const uri = readText(body, "uri", 2048);
  const uris = readTexts(body, "uris") ?? (uri === undefined ? (base?.uris ?? []) : [uri]);
  for (const pattern of uris) {
    if (!pattern.startsWith("/")) {
      throw badRequest(`uris has ${JSON.stringify(pattern)}; allowed: paths like /eric/*`);
    }
  }
  const owner = body["owner"];
  const ownerId = typeof owner === "string" ? owner : (owner as { id?: unknown } | undefined)?.id;
  return {
    name,
    displayName: readText(body, "displayName") ?? base?.displayName,
    type: readText(body, "type") ?? base?.type,
    iconUri: readText(body, "icon_uri", 2048) ?? base?.iconUri,
    owner: typeof ownerId === "string" && ownerId !== "" ? ownerId : (base?.owner ?? client.id),
    ownerManaged: readBoolean(body, "ownerManagedAccess") ?? base?.ownerManaged,
    uris,
    attributes: readAttributes(body["attributes"]) ?? base?.attributes,
    scopes: readScopeNames(body["scopes"] ?? body["resource_scopes"]) ?? base?.scopes.map((scope) => scope.name) ?? [],
  };
}

function readScopeNames(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  if (!Array.isArray(value)) {
    throw badRequest("scopes must be a list");
  }
  return value.map((scope: unknown) => {
    const name = typeof scope === "string" ? scope : (scope as { name?: unknown } | null)?.name;
    if (typeof name !== "string" || name === "") {
      throw badRequest("scopes must be names, or objects with a name");
    }
    return name;
  });
}

/** Settings, resources and scopes of a client that protects resources. */
export function addAuthzResourceRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const view = ["view-authorization", "view-clients"] as const;
  const manage = ["manage-authorization", "manage-clients"] as const;
  const openResource = async (request: AdminRequest) => {
    const { client } = await openResourceServer(request);
    const id = request.params["resource"] ?? "";
    const resource = isUuid(id) ? await findResource(pool, client.id, id) : undefined;
    if (resource === undefined) {
      throw notFound("Resource");
    }
    return { client, resource };
  };
  /** An owner is the client itself or a user of the realm, by id or name. */
  const checkOwner = async ({ handle }: AdminRequest, client: Client, owner: string) => {
    if (
      owner !== client.id &&
      owner !== client.clientId &&
      !(isUuid(owner) && (await findUser(pool, handle.realm.id, owner)))
    ) {
      throw badRequest(`owner ${JSON.stringify(owner)} is neither the client nor the id of a user`);
    }
  };

  app.get(
    AUTHZ_BASE,
    forRoles(context, view, async (request) => {
      const { client, server } = await openResourceServer(request);
      return {
        id: client.id,
        clientId: client.id,
        name: client.clientId,
        allowRemoteResourceManagement: server.allowRemote,
        policyEnforcementMode: server.enforcementMode,
        decisionStrategy: server.decisionStrategy,
      };
    }),
  );
  app.put(
    AUTHZ_BASE,
    forRoles(context, manage, async (request) => {
      const { client, server } = await openResourceServer(request);
      const body = readObject(request.body);
      const oneOf = <Value extends string>(name: string, values: readonly Value[], fallback: Value): Value => {
        const value = readText(body, name) ?? fallback;
        if (!(values as readonly string[]).includes(value)) {
          throw badRequest(`${name} is ${JSON.stringify(value)}; allowed: ${values.join(", ")}`);
        }
        return value as Value;
      };
      const requested = {
        client: client.id,
        enforcementMode: oneOf(
          "policyEnforcementMode",
          ["ENFORCING", "PERMISSIVE", "DISABLED"],
          server.enforcementMode,
        ),
        decisionStrategy: oneOf("decisionStrategy", ["UNANIMOUS", "AFFIRMATIVE", "CONSENSUS"], server.decisionStrategy),
        allowRemote: readBoolean(body, "allowRemoteResourceManagement") ?? server.allowRemote,
      };
      await changeRules(request, client, "UPDATE", "settings", (db) => updateResourceServer(db, requested));
      return request.reply.code(204).send();
    }),
  );

  app.get(
    `${AUTHZ_BASE}/resource`,
    forRoles(context, view, async (request) => {
      const { client } = await openResourceServer(request);
      const { query } = request;
      const id = query["_id"];
      const found = await listResources(pool, client.id, {
        ...(id !== undefined && isUuid(id) && { id }),
        name: query["name"],
        exactName: query["exactName"] === "true",
        uri: query["uri"],
        type: query["type"],
        owner: query["owner"],
        scope: query["scope"],
        ...readPage(query, -1),
      });
      return found.map((resource) => toResourceRepresentation(resource, client));
    }),
  );
  app.post(
    `${AUTHZ_BASE}/resource`,
    forRoles(context, manage, async (request) => {
      const { client } = await openResourceServer(request);
      const body = readObject(request.body);
      const resource = readResource(body, client);
      await checkOwner(request, client, resource.owner);
      const [same] = await listResources(pool, client.id, {
        name: resource.name,
        exactName: true,
        owner: resource.owner,
      });
      if (same !== undefined) {
        throw new AdminError(409, `Resource with name [${resource.name}] already exists.`);
      }
      const id = await changeRules(request, client, "CREATE", `resource/${resource.name}`, (db) =>
        insertResource(db, client.id, { ...resource, id: readText(body, "_id") }),
      );
      const made = await findResource(pool, client.id, id);
      return request.reply.code(201).send(made && toResourceRepresentation(made, client));
    }),
  );
  app.get(
    `${AUTHZ_BASE}/resource/search`,
    forRoles(context, view, async (request) => {
      const { client } = await openResourceServer(request);
      const [found] = await listResources(pool, client.id, { name: request.query["name"] ?? "", exactName: true });
      return found === undefined ? request.reply.code(204).send() : toResourceRepresentation(found, client);
    }),
  );
  app.get(
    `${AUTHZ_BASE}/resource/:resource`,
    forRoles(context, view, async (request) => {
      const { client, resource } = await openResource(request);
      return toResourceRepresentation(resource, client);
    }),
  );
  app.put(
    `${AUTHZ_BASE}/resource/:resource`,
    forRoles(context, manage, async (request) => {
      const { client, resource } = await openResource(request);
      const requested = readResource(readObject(request.body), client, resource);
      await checkOwner(request, client, requested.owner);
      await changeRules(request, client, "UPDATE", `resource/${resource.id}`, (db) =>
        updateResource(db, client.id, resource.id, requested),
      );
      return request.reply.code(204).send();
    }),
  );
  app.delete(
    `${AUTHZ_BASE}/resource/:resource`,
    forRoles(context, manage, async (request) => {
      const { client, resource } = await openResource(request);
      await changeRules(request, client, "DELETE", `resource/${resource.id}`, (db) =>
        deleteResource(db, client.id, resource.id),
      );
      return request.reply.code(204).send();
    }),
  );
  app.get(
    `${AUTHZ_BASE}/resource/:resource/scopes`,
    forRoles(context, view, async (request) => (await openResource(request)).resource.scopes),
  );
  app.get(
    `${AUTHZ_BASE}/resource/:resource/permissions`,
    forRoles(context, view, async (request) => {
      const { client, resource } = await openResource(request);
      const found = await listPolicies(pool, client.id, { permission: true, resource: resource.id });
      return found.map(({ id, name, type, logic, decisionStrategy }) => ({ id, name, type, logic, decisionStrategy }));
    }),
  );

  addScopeRoutes(app, context, { view, manage });
}

function addScopeRoutes(
  app: FastifyInstance,
  context: IdentityContext,
  { view, manage }: { view: Parameters<typeof forRoles>[1]; manage: Parameters<typeof forRoles>[1] },
): void {
  const { pool } = context;
  const path = `${AUTHZ_BASE}/scope`;
  const show = ({ id, name, displayName, iconUri }: AuthzScope) => ({
    id,
    name,
    ...(displayName !== undefined && { displayName }),
    ...(iconUri !== undefined && { iconUri }),
  });
  const readScope = (body: unknown) => {
    const source = readObject(body);
    const name = readText(source, "name");
    if (name === undefined || name === "") {
      throw badRequest("name is missing");
    }
    return { name, displayName: readText(source, "displayName"), iconUri: readText(source, "iconUri", 2048) };
  };
  const open = async (request: AdminRequest) => {
    const { client } = await openResourceServer(request);
    const scope = (await listScopes(pool, client.id)).find(({ id }) => id === request.params["scope"]);
    if (scope === undefined) {
      throw notFound("Scope");
    }
    return { client, scope };
  };
  app.get(
    path,
    forRoles(context, view, async (request) => {
      const { client } = await openResourceServer(request);
      const requested = request.query["name"];
      return (await listScopes(pool, client.id))
        .filter(({ name }) => requested === undefined || name.includes(requested))
        .map(show);
    }),
  );
  app.post(
    path,
    forRoles(context, manage, async (request) => {
      const { client } = await openResourceServer(request);
      const scope = readScope(request.body);
      const id = await changeRules(request, client, "CREATE", `scope/${scope.name}`, (db) =>
        insertScope(db, client.id, scope),
      );
      return request.reply.code(201).send(show({ id, ...scope }));
    }),
  );
  app.get(
    `${path}/:scope`,
    forRoles(context, view, async (request) => show((await open(request)).scope)),
  );
  app.put(
    `${path}/:scope`,
    forRoles(context, manage, async (request) => {
      const { client, scope } = await open(request);
      const requested = readScope(request.body);
      await changeRules(request, client, "UPDATE", `scope/${scope.id}`, (db) =>
        updateScope(db, client.id, { id: scope.id, ...requested }),
      );
      return request.reply.code(204).send();
    }),
  );
  app.delete(
    `${path}/:scope`,
    forRoles(context, manage, async (request) => {
      const { client, scope } = await open(request);
      await changeRules(request, client, "DELETE", `scope/${scope.id}`, (db) => deleteScope(db, client.id, scope.id));
      return request.reply.code(204).send();
    }),
  );
}

/** Makes a change of a client's rules that enforcement points hear of at once. */
export function changeRules<Result>(
  { change, handle }: AdminRequest,
  client: Client,
  operation: "CREATE" | "UPDATE" | "DELETE",
  what: string,
  work: Parameters<AdminRequest["change"]>[1] extends (db: infer Db) => unknown ? (db: Db) => Promise<Result> : never,
): Promise<Result> {
  return change(
    {
      operation,
      resourceType: "AUTHORIZATION_RULES",
      resourcePath: `clients/${client.id}/authz/resource-server/${what}`,
    },
    async (db) => {
      const result = await work(db);
      await announceRules(db, handle.realm.name, client);
      return result;
    },
  );
}
