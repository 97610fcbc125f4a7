import {
  type Identity,
  type Permission,
  type PolicySet,
  type Resource,
  createEvaluator,
  identityOf,
} from "@swath/auth";
import type { FastifyInstance } from "fastify";

import { mapClaims } from "../claims/mappers.ts";
import { grantScope } from "../claims/scopes.ts";
import type { IdentityContext } from "../context.ts";
import { loadPolicySet } from "../policy/load-policy-set.ts";
import { POLICY_TYPES } from "../store/authz-policies.ts";
import type { Client } from "../store/clients.ts";
import { isUuid } from "../store/database.ts";
import { findUserByName, findUserWithAccess } from "../store/users.ts";
import { AUTHZ_BASE, openResourceServer } from "./authz-resources.ts";
import { badRequest, notFound } from "./errors.ts";
import { type AdminRequest, forRoles, readList, readObject, readText } from "./request.ts";

/** What each rule says about a user and resources, as the gatekeeper decides. */
export function addAuthzEvaluationRoutes(app: FastifyInstance, context: IdentityContext): void {
  app.get(
    `${AUTHZ_BASE}/policy/providers`,
    forRoles(context, ["view-authorization", "view-clients"], async (request) => {
      await openResourceServer(request);
      return [
        ...POLICY_TYPES.map((type) => ({ type, name: type, group: "Others" })),
        ...["resource", "scope"].map((type) => ({ type, name: type, group: "Permission" })),
      ];
    }),
  );
  app.post(
    `${AUTHZ_BASE}/policy/evaluate`,
    forRoles(context, ["view-authorization", "view-clients"], async (request) => {
      const { client } = await openResourceServer(request);
      const body = readObject(request.body);
      const { identity, roles } = await findIdentity(request, client, body);
      const set = await loadPolicySet(context.pool, request.handle.realm.id, client);
      const now = new Date();
      const evaluator = createEvaluator(set);
      const requested = findWanted(set, body);
      const results = requested.map(({ resource, scopes }) => {
        const decision = evaluator.evaluateResource(resource, { identity, now }, scopes);
        return {
          resource: { name: resource.name, _id: resource.id },
          scopes: resource.scopes.map((name) => ({ name })),
          policies: permissionsAbout(set, resource).map((permission) =>
            explain(set, resource, permission, identity, now),
          ),
          status: decision.granted ? "PERMIT" : "DENY",
          allowedScopes: decision.scopes.map((name) => ({ name })),
        };
      });
      const permitted = results.filter(({ status }) => status === "PERMIT");
      return {
        results,
        entitlements: body["entitlements"] === true,
        status: permitted.length > 0 ? "PERMIT" : "DENY",
        rpt: {
          azp: client.clientId,
          sub: identity.userId,
          realm_access: { roles },
          authorization: {
            permissions: permitted.map(({ resource, allowedScopes }) => ({
              rsid: resource._id,
              rsname: resource.name,
              scopes: allowedScopes.map(({ name }) => name),
            })),
          },
        },
      };
    }),
  );
}

/** The user that `userId` names, by id or name, with the roles that `roleIds` adds for this question. */
async function findIdentity(
  { context: { pool }, handle }: AdminRequest,
  client: Client,
  body: Readonly<Record<string, unknown>>,
): Promise<{ identity: Identity; roles: readonly string[] }> {
  const named = readText(body, "userId") ?? "";
  const id = isUuid(named) ? named : (await findUserByName(pool, handle.realm.id, named))?.id;
  const found = id === undefined ? undefined : await findUserWithAccess(pool, handle.realm.id, id);
  if (found === undefined) {
    throw named === "" ? badRequest("userId is missing") : notFound("User");
  }
  const { user, access } = found;
  const requested = body["roleIds"];
  const added = Array.isArray(requested) ? requested.filter((role): role is string => typeof role === "string") : [];
  const roles = [...new Set([...access.realm, ...added])];
  const claims = mapClaims("access", { client, user, access, acr: "1" }, grantScope(client, undefined));
  const identity = identityOf({
    ...claims,
    sub: user.id,
    azp: readText(body, "clientId") ?? client.clientId,
    preferred_username: user.username,
    realm_access: { roles },
    resource_access: Object.fromEntries(
      Object.entries(access.clients).map(([clientId, names]) => [clientId, { roles: names }]),
    ),
    groups: access.groups,
  });
  return { identity, roles };
}

/** The resources that are asked about, by id, name or path; all of them where none is named. */
function findWanted(set: PolicySet, body: Readonly<Record<string, unknown>>) {
  const requested = body["resources"] === undefined ? [] : readList(body["resources"]);
  if (requested.length === 0) {
    return set.resources.map((resource) => ({ resource, scopes: undefined }));
  }
  const evaluator = createEvaluator(set);
  return requested.flatMap((item) => {
    const id = readText(item, "_id") ?? readText(item, "id");
    const name = readText(item, "name", 2048);
    const scopes = Array.isArray(item["scopes"])
      ? readList(item["scopes"]).map((scope) => readText(scope, "name") ?? "")
      : [];
    const found =
      id === undefined && name?.startsWith("/") === true
        ? evaluator.findResources(name)
        : set.resources.filter((resource) => resource.id === id || (id === undefined && resource.name === name));
    if (found.length === 0) {
      throw badRequest(`there is no resource ${JSON.stringify(id ?? name ?? "")}`);
    }
    return found.map((resource) => ({ resource, scopes: scopes.length === 0 ? undefined : scopes }));
  });
}

/** The permissions that have a say about a resource. */
export function permissionsAbout(set: PolicySet, resource: Resource): readonly Permission[] {
  return set.permissions.filter(
    ({ type, resources, resourceType }) =>
      resources.includes(resource.id) ||
      (resourceType !== undefined && resourceType === resource.type) ||
      (type === "scope" && resources.length === 0 && resourceType === undefined),
  );
}

/** What a permission says by itself, and each of its policies. */
function explain(set: PolicySet, resource: Resource, permission: Permission, identity: Identity, now: Date) {
  const vote = (alone: Permission) =>
    createEvaluator({ ...set, enforcementMode: "ENFORCING", permissions: [alone] }).evaluateResource(
      resource,
      { identity, now },
      alone.type === "scope" ? alone.scopes : [],
    ).granted
      ? "PERMIT"
      : "DENY";
  return {
    policy: { id: permission.id, name: permission.name, type: permission.type },
    status: vote(permission),
    associatedPolicies: permission.policies.flatMap((id) => {
      const policy = set.policies.find((candidate) => candidate.id === id);
      return policy === undefined
        ? []
        : [
            {
              policy: { id, name: policy.name, type: policy.type },
              status: vote({ ...permission, policies: [id] }),
              associatedPolicies: [],
            },
          ];
    }),
    scopes: permission.scopes,
  };
}
