import type { FastifyInstance } from "fastify";

import { mapClaims } from "../claims/mappers.ts";
import { grantScope, heldScopes } from "../claims/scopes.ts";
import type { IdentityContext } from "../context.ts";
import { describeAccessToken, describeIdToken } from "../protocol/issue-tokens.ts";
import { isUuid } from "../store/database.ts";
import { type Client, findClientById } from "../store/clients.ts";
import { listRoles } from "../store/roles.ts";
import { findRolesWithin } from "../store/scope-roles.ts";
import { findUserWithAccess } from "../store/users.ts";
import { openClient } from "./clients.ts";
import { badRequest, notFound } from "./errors.ts";
import { type AdminRequest, forRoles } from "./request.ts";
import { toRoleRepresentation } from "./role-records.ts";

/** What tokens of a client would hold, without any being made. */
export function addScopeEvaluationRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const base = "/admin/realms/:realm/clients/:client/evaluate-scopes";

  app.get(
    `${base}/protocol-mappers`,
    forRoles(context, ["view-clients"], async (request) => {
      const client = await openClient(request);
      const shown = (container: { id: string; name: string; type: string }, mappers: (typeof client)["mappers"]) =>
        mappers.map((mapper) => ({
          mapperId: mapper.id,
          mapperName: mapper.name,
          containerId: container.id,
          containerName: container.name,
          containerType: container.type,
          protocolMapper: mapper.type,
        }));
      return [
        ...shown({ id: client.id, name: client.clientId, type: "client" }, client.mappers),
        ...heldScopes(client, grantScope(client, request.query["scope"])).flatMap(({ id, name, mappers }) =>
          shown({ id, name, type: "client-scope" }, mappers),
        ),
      ];
    }),
  );

  for (const [name, describe] of [
    ["access-token", describeAccessToken],
    ["id-token", describeIdToken],
    ["userinfo", undefined],
  ] as const) {
    app.get(
      `${base}/generate-example-${name}`,
      forRoles(context, ["view-clients"], async (request) => {
        const client = await openClient(request);
        const id = request.query["userId"] ?? "";
        if (id === "") {
          throw badRequest("userId is missing");
        }
        const found = isUuid(id) ? await findUserWithAccess(pool, request.handle.realm.id, id) : undefined;
        if (found === undefined) {
          throw notFound("User");
        }
        const requested = request.query["scope"] ?? "";
        const scope = grantScope(client, `openid ${requested}`);
        const access = await request.handle.limitAccess(client, found.access, scope);
        const subject = { client, user: found.user, access, acr: "1" };
        if (describe === undefined) {
          const { aud: _, ...claims } = mapClaims("userinfo", subject, scope);
          return { ...claims, sub: found.user.id };
        }
        return describe(request.handle, subject, scope, {
          seconds: request.handle.realm.settings.accessTokenLifespan,
        });
      }),
    );
  }

  app.get(
    `${base}/scope-mappings/:container/:kind`,
    forRoles(context, ["view-clients"], async (request) => {
      const client = await openClient(request);
      const scope = grantScope(client, request.query["scope"]);
      const owner = await openRoleOwner(request);
      const all = await listRoles(pool, request.handle.realm.id, owner?.id ?? null);
      const ids = [...client.scopeRoles, ...heldScopes(client, scope).flatMap(({ roles }) => roles)];
      const within = client.settings.fullScopeAllowed ? undefined : await findRolesWithin(pool, ids, client.id);
      const isIn = (name: string) =>
        within === undefined ||
        (owner === undefined ? within.realm : (within.clients[owner.clientId] ?? [])).includes(name);
      const wantsGranted = request.params["kind"] === "granted";
      return all
        .filter(({ name }) => isIn(name) === wantsGranted)
        .map((role) => toRoleRepresentation(request.handle.realm.id, role));
    }),
  );
}

/** The client whose roles are meant, `undefined` for those of the realm. @throws {AdminError} 404 */
async function openRoleOwner({ context, handle, params }: AdminRequest): Promise<Client | undefined> {
  const id = params["container"] ?? "";
  if (id === handle.realm.name || id === handle.realm.id) {
    return undefined;
  }
  const client = isUuid(id) ? await findClientById(context.pool, handle.realm.id, id) : undefined;
  if (client === undefined) {
    throw notFound("Role container");
  }
  return client;
}
