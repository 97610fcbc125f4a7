import type { Permission, Policy, PolicySet, RoleReference } from "@swath/auth";

import { type AuthzPolicy, OWNER_PERMISSION, isPermission, listPolicies } from "../store/authz-policies.ts";
import { type AuthzResource, listResources } from "../store/authz-resources.ts";
import type { Client } from "../store/clients.ts";
import type { Queryable } from "../store/database.ts";
import { listDecisionPolicies } from "../store/decision-policies.ts";
import { findResourceServer } from "../store/resource-servers.ts";
import { MEMBER_KINDS } from "../admin/policy-records.ts";
import { toEngineRules } from "./decision-rules.ts";

/** Decision policies of one resource server, at most. */
const MAX_DECISION_POLICIES = 10_000;

/** Everything that decides who may use a client's resources. Empty, so that everything is refused, for one that has none. */
export async function loadPolicySet(
  db: Queryable,
  realmId: string,
  client: Client,
  /** Decision policies whose other decision point permits the request at hand. */
  permitted?: ReadonlySet<string>,
): Promise<PolicySet> {
  const server = await findResourceServer(db, client.id);
  const base = {
    clientId: client.clientId,
    enforcementMode: server?.enforcementMode ?? ("ENFORCING" as const),
    decisionStrategy: server?.decisionStrategy ?? ("UNANIMOUS" as const),
  };
  if (server === undefined) {
    return { ...base, version: `${client.id}-0`, resources: [], policies: [], permissions: [] };
  }
  const [resources, stored, names] = await Promise.all([
    listResources(db, client.id),
    listPolicies(db, client.id),
    loadNames(db, realmId),
  ]);
  const decided = await toEngineRules(
    db,
    realmId,
    resources.map(({ id, scopes }) => ({ id, scopes: scopes.map(({ name }) => name) })),
    await listDecisionPolicies(db, realmId, { resources: resources.map(({ id }) => id), limit: MAX_DECISION_POLICIES }),
    permitted,
  );
  const shared = toSharedRules(stored, resources, names);
  const scopeNames = new Map(resources.flatMap(({ scopes }) => scopes.map(({ id, name }) => [id, name] as const)));
  return {
    ...base,
    version: `${client.id}-${server.version}`,
    resources: resources.map(({ id, name, uris, type, scopes, owner, ownerManaged }) => ({
      id,
      name,
      uris,
      ...(type !== undefined && { type }),
      scopes: scopes.map((scope) => scope.name),
      owner,
      ownerManagedAccess: ownerManaged,
    })),
    policies: [
      ...stored.filter((policy) => !isPermission(policy)).map((policy) => toPolicy(policy, names)),
      ...shared.policies,
      ...decided.policies,
    ],
    permissions: stored
      .filter((policy) => isPermission(policy) && policy.type !== OWNER_PERMISSION)
      .map((permission): Permission => {
        const resourceType = permission.config["defaultResourceType"];
        return {
          id: permission.id,
          name: permission.name,
          type: permission.type as Permission["type"],
          resources: permission.resources,
          ...(typeof resourceType === "string" && resourceType !== "" && { resourceType }),
          scopes: permission.scopes.flatMap((id) => scopeNames.get(id) ?? []),
          policies: permission.policies,
          decisionStrategy: permission.decisionStrategy,
        };
      })
      .concat(shared.permissions, decided.permissions),
  };
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Names of what policies refer to by id. */
interface Names {
  readonly roles: ReadonlyMap<string, RoleReference>;
  readonly groups: ReadonlyMap<string, string>;
  readonly clients: ReadonlyMap<string, string>;
}

async function loadNames(db: Queryable, realmId: string): Promise<Names> {
  const [roles, groups, clients] = await Promise.all([
    db.query<{ id: string; name: string; client_id: string | null }>(
      "select r.id, r.name, c.client_id from role r left join client c on c.id = r.client where r.realm_id = $1",
      [realmId],
    ),
    db.query<{ id: string; path: string }>("select id, path from user_group where realm_id = $1", [realmId]),
    db.query<{ id: string; client_id: string }>("select id, client_id from client where realm_id = $1", [realmId]),
  ]);
  return {
    roles: new Map(
      roles.rows.map(({ id, name, client_id: client }) => [id, { role: name, ...(client !== null && { client }) }]),
    ),
    groups: new Map(groups.rows.map(({ id, path }) => [id, path])),
    clients: new Map(clients.rows.map(({ id, client_id: clientId }) => [id, clientId])),
  };
}

/** What owners share as policies, one for each kind of members, and permissions: of resources that are theirs still. */
function toSharedRules(
  stored: readonly AuthzPolicy[],
  resources: readonly AuthzResource[],
  names: Names,
): { readonly policies: readonly Policy[]; readonly permissions: readonly Permission[] } {
  const policies: Policy[] = [];
  const permissions: Permission[] = [];
  for (const share of stored.filter(({ type }) => type === OWNER_PERMISSION)) {
    const resource = resources.find(({ id, owner }) => share.resources.includes(id) && owner === share.owner);
    if (resource === undefined) {
      continue;
    }
    const members = Object.entries(MEMBER_KINDS)
      .filter(([, field]) => share.config[field] !== undefined)
      .map(([type, field]) =>
        toPolicy({ ...share, id: `${share.id} ${field}`, name: `${share.name}: ${field}`, type }, names),
      );
    policies.push(...members);
    permissions.push({
      id: share.id,
      name: share.name,
      type: "scope",
      resources: [resource.id],
      scopes: resource.scopes.filter(({ id }) => share.scopes.includes(id)).map(({ name }) => name),
      policies: members.map(({ id }) => id),
      decisionStrategy: share.decisionStrategy,
      byOwner: true,
    });
  }
  return { policies, permissions };
}

function toPolicy({ id, name, logic, type, config, policies, decisionStrategy }: AuthzPolicy, names: Names): Policy {
  const base = { id, name, logic };
  const list = <Item>(key: string): readonly Item[] => (Array.isArray(config[key]) ? (config[key] as Item[]) : []);
  switch (type) {
    case "authenticated":
      return { ...base, type };
    case "user":
      return { ...base, type, users: list<string>("users") };
    case "role":
      return {
        ...base,
        type,
        roles: list<{ id: string; required?: boolean }>("roles").flatMap(({ id: role, required }) => {
          const known = names.roles.get(role);
          // A role that is gone can be had by nobody; a required one then refuses everybody.
          return known || required
            ? [{ ...(known ?? { role: `deleted role ${role}` }), ...(required === true && { required }) }]
            : [];
        }),
      };
    case "group":
      return {
        ...base,
        type,
        groups: list<{ id: string; extendChildren?: boolean }>("groups").flatMap(({ id: group, extendChildren }) => {
          const path = names.groups.get(group);
          return path === undefined ? [] : [{ path, extendChildren: extendChildren === true }];
        }),
      };
    case "client":
      return { ...base, type, clients: list<string>("clients").flatMap((client) => names.clients.get(client) ?? []) };
    case "aggregate":
      return { ...base, type: "aggregated", policies, decisionStrategy };
    case "time":
      return { ...base, ...config, type };
    case "regex":
      return {
        ...base,
        type,
        targetClaim: text(config["targetClaim"]),
        pattern: text(config["pattern"]),
        ...(config["targetContextAttributes"] === true && { targetContextAttributes: true }),
      };
    default:
      throw new Error(`policy ${name} is of the unknown type ${type}`);
  }
}
