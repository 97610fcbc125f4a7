import { readBearerToken } from "@swath/auth";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { readResource, toResourceRepresentation } from "../admin/authz-resources.ts";
import { AdminError, badRequest, notFound, sendAdminError } from "../admin/errors.ts";
import { runChange, readObject, readText, readTexts } from "../admin/request.ts";
import type { IdentityContext } from "../context.ts";
import { checkAccessToken } from "../protocol/access-token.ts";
import { findRealmOr404 } from "../protocol/realm-scope.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import {
  deleteResource,
  findResource,
  insertResource,
  listResources,
  updateResource,
} from "../store/authz-resources.ts";
import type { AuthzResource } from "../store/authz-resources.ts";
import type { Client } from "../store/clients.ts";
import { isUuid } from "../store/database.ts";
import { announceRules, findResourceServer } from "../store/resource-servers.ts";
import { createUriIndex } from "@swath/auth";
import { signTicket } from "./ticket.ts";

type Params = { Params: { realm: string; resource?: string } };

/**
 * What a resource server may do about its own resources with a token of its service account (UMA 2.0 Federated Authorization
 * §3 and §4; the paths and bodies of the known provider).
 */
export function addProtectionRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const base = "/realms/:realm/authz/protection";

  const enter = async (request: FastifyRequest): Promise<{ handle: RealmHandle; client: Client }> => {
    const handle = await findRealmOr404(context, (request.params as { realm: string }).realm);
    const bearer = await checkAccessToken(context, handle, readBearerToken(request.headers.authorization) ?? "");
    if (bearer === undefined) {
      throw new AdminError(401, "invalid_bearer_token");
    }
    const client = await handle.findClient(textOf(bearer.claims["azp"]));
    if (client === undefined || client.serviceUserId !== bearer.user.id) {
      throw new AdminError(403, "The token must be one of the resource server itself (grant client_credentials)");
    }
    const server = await findResourceServer(pool, client.id);
    if (server === undefined || !server.allowRemote) {
      throw new AdminError(403, `Client ${client.clientId} does not manage resources this way`);
    }
    return { handle, client };
  };
  const open = async (request: FastifyRequest<Params>) => {
    const { handle, client } = await enter(request);
    const id = request.params.resource ?? "";
    const resource = isUuid(id) ? await findResource(pool, client.id, id) : undefined;
    if (resource === undefined) {
      throw notFound("Resource");
    }
    return { handle, client, resource };
  };
  const show = (resource: AuthzResource, client: Client) => ({
    ...toResourceRepresentation(resource, client),
    resource_scopes: resource.scopes,
  });

  app.register(async (scope) => {
    scope.setErrorHandler(sendAdminError);
    scope.get<Params & { Querystring: Record<string, string> }>(`${base}/resource_set`, async (request) => {
      const { client } = await enter(request);
      const { query } = request;
      const found = await listResources(pool, client.id, {
        ...(query["_id"] !== undefined && isUuid(query["_id"]) && { id: query["_id"] }),
        name: query["name"],
        exactName: query["exactName"] === "true",
        type: query["type"],
        owner: query["owner"],
        scope: query["scope"],
        ...(query["matchingUri"] === "true" ? {} : { uri: query["uri"] }),
      });
      const requested = query["uri"];
      const fitting =
        query["matchingUri"] === "true" && requested !== undefined
          ? createUriIndex(found.flatMap((item) => item.uris.map((uri) => [uri, item] as const))).find(requested)
          : found;
      return query["deep"] === "true" ? fitting.map((resource) => show(resource, client)) : fitting.map(({ id }) => id);
    });
    scope.post<Params>(`${base}/resource_set`, async (request, reply) => {
      const { handle, client } = await enter(request);
      const requested = readResource(readObject(request.body), client);
      const [same] = await listResources(pool, client.id, {
        name: requested.name,
        exactName: true,
        owner: requested.owner,
      });
      if (same !== undefined) {
        throw new AdminError(409, `Resource with name [${requested.name}] already exists.`);
      }
      const id = await runChange(context, async (db) => {
        const made = await insertResource(db, client.id, requested);
        await announceRules(db, handle.realm.name, client);
        return made;
      });
      const made = await findResource(pool, client.id, id);
      return reply.code(201).send(made && show(made, client));
    });
    scope.get<Params>(`${base}/resource_set/:resource`, async (request) => {
      const { client, resource } = await open(request);
      return show(resource, client);
    });
    scope.put<Params>(`${base}/resource_set/:resource`, async (request, reply) => {
      const { handle, client, resource } = await open(request);
      const requested = readResource(readObject(request.body), client, resource);
      await runChange(context, async (db) => {
        await updateResource(db, client.id, resource.id, requested);
        await announceRules(db, handle.realm.name, client);
      });
      return reply.code(204).send();
    });
    scope.delete<Params>(`${base}/resource_set/:resource`, async (request, reply) => {
      const { handle, client, resource } = await open(request);
      await runChange(context, async (db) => {
        await deleteResource(db, client.id, resource.id);
        await announceRules(db, handle.realm.name, client);
      });
      return reply.code(204).send();
    });

    scope.post<Params>(`${base}/permission`, async (request, reply) => {
      const { handle, client } = await enter(request);
      const items = (Array.isArray(request.body) ? request.body : [request.body]).map(readObject);
      if (items.length === 0) {
        throw badRequest("invalid_permission_request: name at least one resource or scope");
      }
      const known = await listResources(pool, client.id);
      const permissions = items.map((item) => {
        const id = readText(item, "resource_id") ?? readText(item, "resource_set_id");
        const scopes = readTexts(item, "resource_scopes") ?? readTexts(item, "scopes") ?? [];
        const resource = known.find((candidate) => candidate.id === id || candidate.name === id);
        if (id === undefined && scopes.length === 0) {
          throw badRequest("invalid_resource_id: name the resource by resource_id, or scopes by resource_scopes");
        }
        if (id !== undefined && resource === undefined) {
          throw badRequest(`invalid_resource_id: there is no resource ${JSON.stringify(id)}`);
        }
        const names =
          resource?.scopes.map(({ name }) => name) ?? known.flatMap((one) => one.scopes.map(({ name }) => name));
        const unknown = scopes.find((name) => !names.includes(name));
        if (unknown !== undefined) {
          throw badRequest(`invalid_scope: there is no scope ${JSON.stringify(unknown)}`);
        }
        return `${resource?.id ?? ""}${scopes.length > 0 ? `#${scopes.join(",")}` : ""}`;
      });
      return reply.code(201).send({ ticket: signTicket(handle, { audience: client.clientId, permissions }) });
    });
  });
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
