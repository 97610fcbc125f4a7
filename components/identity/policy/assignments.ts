import { AdminError, notFound } from "../admin/errors.ts";
import {
  type AuthzPolicy,
  type PolicyFields,
  deletePolicy,
  findPolicyByName,
  isPermission,
  listPolicies,
  putPolicy,
} from "../store/authz-policies.ts";
import type { AuthzResource } from "../store/authz-resources.ts";
import type { Client } from "../store/clients.ts";
import type { Queryable } from "../store/database.ts";
import { findGroup } from "../store/groups.ts";
import { findResourceServer } from "../store/resource-servers.ts";
import { findRoleById } from "../store/roles.ts";
import { findUser } from "../store/users.ts";

/** Whom a resource can be assigned to, with the policy type that lets them in. */
const KINDS = { users: "user", groups: "group", roles: "role" } as const;
export type AssignmentKind = keyof typeof KINDS;
export const isAssignmentKind = (text: string): text is AssignmentKind => Object.hasOwn(KINDS, text);

/** By this description an assignment is known among the policies of a client. */
export const ASSIGNED = "Assigned by an administrator";
/** One policy has no more members: a group or a role holds more people. */
const MAX_MEMBERS = 1000;

/** What is assigned to whom: a resource of a client that protects resources, and one user, group or role. */
export interface Assignment {
  readonly realmId: string;
  readonly client: Client;
  readonly resource: AuthzResource;
  readonly kind: AssignmentKind;
  /** Id of the user, group or role. */
  readonly holder: string;
}

/** The policy by which a kind of holders is let in to a resource, with the permission that it is part of. */
interface Found {
  readonly policy: AuthzPolicy;
  readonly permission: AuthzPolicy;
}

/** Ids of whom a resource is assigned to. */
export async function listAssigned(
  db: Queryable,
  client: Client,
  resource: AuthzResource,
): Promise<Readonly<Record<AssignmentKind, readonly string[]>>> {
  const stored = await listPolicies(db, client.id);
  const of = (kind: AssignmentKind) => membersOf(findAssigned(stored, resource, kind)?.policy);
  return { users: of("users"), groups: of("groups"), roles: of("roles") };
}

/** The resources that are assigned to somebody, by their ids. */
export async function listAssignedTo(
  db: Queryable,
  client: Client,
  resources: readonly AuthzResource[],
  { kind, holder }: Pick<Assignment, "kind" | "holder">,
): Promise<ReadonlySet<string>> {
  const stored = await listPolicies(db, client.id);
  return new Set(
    resources
      .filter((resource) => membersOf(findAssigned(stored, resource, kind)?.policy).includes(holder))
      .map(({ id }) => id),
  );
}

/**
 * Lets somebody in to a resource, beside those who are let in already. Nobody loses anything by it; where the rules of the resource are
 * such that one more would, it is refused.
 * @throws {AdminError} 404 for a holder that is not there, 409 with what stands against it
 */
export async function assign(db: Queryable, assignment: Assignment): Promise<void> {
  const { client, resource, kind, holder } = assignment;
  await checkHolder(db, assignment);
  await lock(db, resource);
  const stored = await listPolicies(db, client.id);
  const found = findAssigned(stored, resource, kind);
  const members = membersOf(found?.policy);
  if (members.includes(holder)) {
    return;
  }
  if (members.length >= MAX_MEMBERS) {
    throw new AdminError(409, `${resource.name} is assigned to ${MAX_MEMBERS} ${kind} already; assign it to a group`);
  }
  if (found !== undefined) {
    await putPolicy(db, client.id, found.policy.id, withMembers(found.policy, kind, [...members, holder]));
    return;
  }
  const home = await findHome(db, stored, assignment);
  const name = await freeName(db, client, `${resource.name} assigned ${kind}`);
  const policy = await putPolicy(db, client.id, undefined, {
    ...withMembers({ ...EMPTY, name, type: KINDS[kind] }, kind, [holder]),
  });
  await (home === undefined
    ? putPolicy(db, client.id, undefined, {
        ...EMPTY,
        name: await freeName(db, client, `${resource.name} Assignments`),
        type: "resource",
        decisionStrategy: "AFFIRMATIVE",
        resources: [resource.id],
        policies: [policy],
      })
    : putPolicy(db, client.id, home.id, {
        ...home,
        decisionStrategy: "AFFIRMATIVE",
        policies: [...home.policies, policy],
      }));
}

/** Takes back what was assigned. What other policies grant stays. @throws {AdminError} 404 where it is not assigned */
export async function unassign(db: Queryable, { client, resource, kind, holder }: Assignment): Promise<void> {
  await lock(db, resource);
  const found = findAssigned(await listPolicies(db, client.id), resource, kind);
  const members = membersOf(found?.policy);
  if (found === undefined || !members.includes(holder)) {
    throw notFound(`Assignment of ${resource.name}`);
  }
  const { policy, permission } = found;
  const left = members.filter((member) => member !== holder);
  if (left.length > 0) {
    await putPolicy(db, client.id, policy.id, withMembers(policy, kind, left));
    return;
  }
  const others = permission.policies.filter((id) => id !== policy.id);
  if (others.length === 0 && permission.description === ASSIGNED) {
    await deletePolicy(db, client.id, permission.id);
  } else {
    await putPolicy(db, client.id, permission.id, { ...permission, policies: others });
  }
  await deletePolicy(db, client.id, policy.id);
}

const EMPTY: Omit<PolicyFields, "name" | "type"> = {
  description: ASSIGNED,
  logic: "POSITIVE",
  decisionStrategy: "UNANIMOUS",
  config: {},
  resources: [],
  scopes: [],
  policies: [],
};

/** Two changes of one resource's assignments come one after the other. */
const lock = (db: Queryable, { id }: AuthzResource) =>
  db.query("select pg_advisory_xact_lock(hashtext($1))", [`assignments ${id}`]);

async function checkHolder(db: Queryable, { realmId, kind, holder }: Assignment): Promise<void> {
  const [what, find] = (
    { users: ["User", findUser], groups: ["Group", findGroup], roles: ["Role", findRoleById] } as const
  )[kind];
  if ((await find(db, realmId, holder)) === undefined) {
    throw notFound(what);
  }
}

/** Whether a permission is about a resource, and no other. */
const isAbout = ({ type, resources, config }: AuthzPolicy, { id }: AuthzResource): boolean =>
  type === "resource" && resources.length === 1 && resources[0] === id && !isText(config["defaultResourceType"]);

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function findAssigned(
  stored: readonly AuthzPolicy[],
  resource: AuthzResource,
  kind: AssignmentKind,
): Found | undefined {
  for (const permission of stored.filter((candidate) => isAbout(candidate, resource))) {
    const policy = stored.find(
      ({ id, type, description }) =>
        permission.policies.includes(id) && type === KINDS[kind] && description === ASSIGNED,
    );
    if (policy !== undefined) {
      return { policy, permission };
    }
  }
  return undefined;
}

/**
 * The permission that one more policy can be part of without taking anything from anybody; undefined where a new permission does that.
 * @throws {AdminError} 409 where neither does
 */
async function findHome(
  db: Queryable,
  stored: readonly AuthzPolicy[],
  { client, resource }: Assignment,
): Promise<AuthzPolicy | undefined> {
  const about = stored.filter(
    ({ type, resources, config }) =>
      (type === "resource" || type === "scope") &&
      (resources.includes(resource.id) ||
        (isText(config["defaultResourceType"]) && config["defaultResourceType"] === resource.type) ||
        (type === "scope" && resources.length === 0 && !isText(config["defaultResourceType"]))),
  );
  const fits = about.find(
    (permission) =>
      isAbout(permission, resource) &&
      (permission.decisionStrategy === "AFFIRMATIVE" || permission.policies.length <= 1),
  );
  if ((await findResourceServer(db, client.id))?.decisionStrategy === "AFFIRMATIVE") {
    return fits;
  }
  if (about.length === 0) {
    return undefined;
  }
  if (about.length === 1 && fits !== undefined) {
    return fits;
  }
  const names = about.map(({ name }) => name).join(", ");
  throw new AdminError(
    409,
    `${resource.name} cannot be assigned: ${names} ${about.length === 1 ? "decides" : "decide together"} about it, so that one more policy would not let anybody in. Change that first, or let one permission be enough (affirmative) for ${client.clientId}`,
  );
}

function membersOf(policy: AuthzPolicy | undefined): readonly string[] {
  const { users, groups, roles } = policy?.config ?? {};
  const list = [users, groups, roles].find(Array.isArray) as readonly unknown[] | undefined;
  return (list ?? []).flatMap((item) => {
    const id = typeof item === "string" ? item : (item as { id?: unknown }).id;
    return typeof id === "string" ? [id] : [];
  });
}

function withMembers(policy: PolicyFields, kind: AssignmentKind, members: readonly string[]): PolicyFields {
  const list =
    kind === "users"
      ? members
      : members.map((id) => ({ id, ...(kind === "groups" ? { extendChildren: false } : { required: false }) }));
  return { ...policy, config: { [kind]: list } };
}

/** Somebody may have taken the name for a policy of their own. */
async function freeName(db: Queryable, client: Client, name: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${name} ${count}`;
    if ((await findPolicyByName(db, client.id, candidate)) === undefined) {
      return candidate;
    }
  }
}

/** Policies of a permission that were assigned, and so stay when what is declared is written anew. */
export const assignedPolicies = (permission: AuthzPolicy, stored: readonly AuthzPolicy[]): readonly string[] =>
  permission.policies.filter((id) =>
    stored.some((policy) => policy.id === id && !isPermission(policy) && policy.description === ASSIGNED),
  );
