import { readBearerToken } from "@swath/auth";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { AdminError, badRequest, notFound, sendAdminError } from "../admin/errors.ts";
import { listMembers, loadMemberNames } from "../admin/member-names.ts";
import { MEMBER_KINDS, readPolicy } from "../admin/policy-records.ts";
import { runChange, readObject, readPage, readText, readTexts } from "../admin/request.ts";
import type { IdentityContext } from "../context.ts";
import { checkAccessToken } from "../protocol/access-token.ts";
import { findRealmOr404 } from "../protocol/realm-scope.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import {
  type AuthzPolicy,
  OWNER_PERMISSION,
  type PolicyFields,
  countOwnerPolicies,
  deletePolicy,
  findPolicy,
  listPolicies,
  putPolicy,
} from "../store/authz-policies.ts";
import { type AuthzResource, findResource } from "../store/authz-resources.ts";
import type { Client } from "../store/clients.ts";
import { isUuid } from "../store/database.ts";
import { announceRules, findResourceServer } from "../store/resource-servers.ts";
import type { User } from "../store/users.ts";

type Params = { Params: { realm: string; id: string }; Querystring: Record<string, string> };

/** A user at the resource server that the token was issued to, or is meant for. */
interface Owner {
  readonly handle: RealmHandle;
  readonly client: Client;
  readonly user: User;
}

/** Every check of a request reads all rules of a resource server: one user must not make them many. */
const MAX_POLICIES = 1000;

/**
 * How the owner of a resource shares it, where the resource is managed by its owner: with users, roles, groups and clients, some scopes
 * or all. Paths and bodies are those of the known provider, whose discovery document calls this the `policy_endpoint`.
 */
export function addOwnerPolicyRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const base = "/realms/:realm/authz/protection/uma-policy";

  const enter = async (request: FastifyRequest): Promise<Owner> => {
    const handle = await findRealmOr404(context, (request.params as Params["Params"]).realm);
    const bearer = await checkAccessToken(context, handle, readBearerToken(request.headers.authorization) ?? "");
    if (bearer === undefined) {
      throw new AdminError(401, "invalid_bearer_token");
    }
    const { azp, aud } = bearer.claims;
    for (const clientId of [azp, ...(Array.isArray(aud) ? aud : [aud])]) {
      const client = typeof clientId === "string" ? await handle.findClient(clientId) : undefined;
      if (client !== undefined && (await findResourceServer(pool, client.id))?.allowRemote === true) {
        return { handle, client, user: bearer.user };
      }
    }
    throw new AdminError(403, "The token must be issued to the client that protects the resource, or be meant for it");
  };
  const open = async (request: FastifyRequest<Params>) => {
    const owner = await enter(request);
    const { id } = request.params;
    const policy = isUuid(id) ? await findPolicy(pool, owner.client.id, id) : undefined;
    // Whether others have one of this id is not told.
    if (policy?.owner !== owner.user.id) {
      throw notFound("Policy");
    }
    return { owner, policy };
  };
  const findShared = async ({ client, user }: Owner, id: string): Promise<AuthzResource> => {
    const resource = isUuid(id) ? await findResource(pool, client.id, id) : undefined;
    if (resource === undefined) {
      throw badRequest(`there is no resource ${JSON.stringify(id)} at client ${client.clientId}`);
    }
    if (resource.owner !== user.id) {
      throw new AdminError(403, "Only the owner of a resource shares it");
    }
    if (!resource.ownerManaged || resource.scopes.length === 0) {
      throw badRequest(
        `resource ${resource.name} cannot be shared: it needs ownerManagedAccess and at least one scope, set by client ${client.clientId}`,
      );
    }
    return resource;
  };
  const show = async (policies: readonly AuthzPolicy[], { client }: Owner) => {
    const names = await loadMemberNames(pool, policies);
    const scopesOf = new Map<string, string>();
    for (const id of new Set(policies.flatMap(({ resources }) => resources))) {
      (await findResource(pool, client.id, id))?.scopes.forEach((scope) => scopesOf.set(scope.id, scope.name));
    }
    return policies.map((policy) => ({
      id: policy.id,
      name: policy.name,
      ...(policy.description !== undefined && { description: policy.description }),
      type: policy.type,
      owner: policy.owner,
      logic: policy.logic,
      decisionStrategy: policy.decisionStrategy,
      resources: policy.resources,
      scopes: policy.scopes.flatMap((id) => scopesOf.get(id) ?? []),
      ...Object.fromEntries(
        Object.values(MEMBER_KINDS).flatMap((field) => {
          const members = listMembers(policy, field).flatMap(({ id }) => names.get(id) ?? []);
          return members.length > 0 ? [[field, members] as const] : [];
        }),
      ),
    }));
  };
  const showOne = async (policy: AuthzPolicy, owner: Owner) => (await show([policy], owner))[0];
  const save = (owner: Owner, id: string | undefined, fields: PolicyFields) =>
    runChange(context, async (db) => {
      if (id === undefined && (await countOwnerPolicies(db, owner.user.id)) >= MAX_POLICIES) {
        throw badRequest(`a user shares by at most ${MAX_POLICIES} policies; delete some, or share with a group`);
      }
      const stored = await putPolicy(db, owner.client.id, id, fields);
      await announceRules(db, owner.handle.realm.name, owner.client);
      return { id: stored, ...fields };
    });
  const read = async (
    { handle, client, user }: Owner,
    body: unknown,
    resource: AuthzResource,
    present?: AuthzPolicy,
  ) => {
    const provided = readObject(body);
    if (provided["condition"] !== undefined) {
      throw badRequest("condition is not supported; allowed: users, roles, groups, clients");
    }
    if (readText(provided, "logic") === "NEGATIVE") {
      throw badRequest('logic is "NEGATIVE"; allowed: POSITIVE');
    }
    const own = new Set(resource.scopes.map(({ name }) => name));
    const scopes = readTexts(provided, "scopes") ?? (present === undefined ? [...own] : undefined);
    const unknown = scopes?.find((scope) => !own.has(scope));
    if (unknown !== undefined || scopes?.length === 0) {
      throw badRequest(
        `scopes has ${JSON.stringify(unknown ?? "nothing")}; of ${resource.name}: ${[...own].join(", ")}`,
      );
    }
    const context = { db: pool, realmId: handle.realm.id, client };
    const { resources: _, policies: __, ...known } = provided;
    const fields = await readPolicy(context, OWNER_PERMISSION, { ...known, scopes }, present);
    if (Object.keys(fields.config).length === 0) {
      throw badRequest(`nobody is named to share ${resource.name} with; allowed: users, roles, groups, clients`);
    }
    return { ...fields, logic: "POSITIVE" as const, resources: [resource.id], policies: [], owner: user.id };
  };

  app.register(async (scope) => {
    scope.setErrorHandler(sendAdminError);
    scope.get<Params>(base, async (request) => {
      const owner = await enter(request);
      const { query } = request;
      const { resource } = query;
      if (resource !== undefined && !isUuid(resource)) {
        return [];
      }
      const found = await listPolicies(pool, owner.client.id, {
        owner: owner.user.id,
        resource,
        name: query["name"],
        scope: query["scope"],
        ...readPage(query),
      });
      return show(found, owner);
    });
    scope.post<Params>(`${base}/:id`, async (request, reply) => {
      const owner = await enter(request);
      const resource = await findShared(owner, request.params.id);
      const made = await save(owner, undefined, await read(owner, request.body, resource));
      return reply.code(201).send(await showOne(made, owner));
    });
    scope.get<Params>(`${base}/:id`, async (request) => {
      const { owner, policy } = await open(request);
      return showOne(policy, owner);
    });
    scope.put<Params>(`${base}/:id`, async (request) => {
      const { owner, policy } = await open(request);
      const resource = await findShared(owner, policy.resources[0] ?? "");
      return showOne(await save(owner, policy.id, await read(owner, request.body, resource, policy)), owner);
    });
    scope.delete<Params>(`${base}/:id`, async (request, reply) => {
      const { owner, policy } = await open(request);
      await runChange(context, async (db) => {
        await deletePolicy(db, owner.client.id, policy.id);
        await announceRules(db, owner.handle.realm.name, owner.client);
      });
      return reply.code(204).send();
    });
  });
}
