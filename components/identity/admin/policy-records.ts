import {
  type AuthzPolicy,
  OWNER_PERMISSION,
  PERMISSION_TYPES,
  POLICY_TYPES,
  type PolicyFields,
  findPolicyByName,
} from "../store/authz-policies.ts";
import { listResources, listScopes } from "../store/authz-resources.ts";
import { type Client, findClient, findClientById } from "../store/clients.ts";
import { type Queryable, isUuid } from "../store/database.ts";
import { listGroups } from "../store/groups.ts";
import { findRole, findRoleById, listRoles } from "../store/roles.ts";
import { findUser, findUserByName } from "../store/users.ts";
import { badRequest } from "./errors.ts";
import { readBoolean, readText, readTexts } from "./request.ts";

type Body = Readonly<Record<string, unknown>>;

/** A policy or permission as the admin API shows it; what its type has to say is at the top level. */
export function toPolicyRepresentation({
  id,
  name,
  description,
  type,
  logic,
  decisionStrategy,
  config,
  owner,
}: AuthzPolicy) {
  return {
    id,
    name,
    ...(description !== undefined && { description }),
    type,
    logic,
    decisionStrategy,
    ...(owner !== undefined && { owner }),
    ...config,
  };
}

/** Types by the names that existing clients use in paths. */
export function readType(name: string, kind: "policy" | "permission"): string {
  const type = { aggregated: "aggregate", js: "authenticated" }[name] ?? name;
  const allowed: readonly string[] = kind === "policy" ? POLICY_TYPES : PERMISSION_TYPES;
  if (!allowed.includes(type)) {
    throw badRequest(`${kind} type ${JSON.stringify(name)} is not known; allowed: ${allowed.join(", ")}`);
  }
  return type;
}

interface PolicyLookups {
  readonly db: Queryable;
  readonly realmId: string;
  readonly client: Client;
}

/** Reads a policy of a type, with everything that it refers to found. @throws {AdminError} 400 naming what is not there */
export async function readPolicy(
  context: PolicyLookups,
  type: string,
  body: Body,
  base?: AuthzPolicy,
): Promise<PolicyFields> {
  const name = readText(body, "name") ?? base?.name;
  if (name === undefined || name === "") {
    throw badRequest("name is missing");
  }
  const oneOf = <Value extends string>(field: string, values: readonly Value[], fallback: Value): Value => {
    const value = readText(body, field) ?? fallback;
    if (!(values as readonly string[]).includes(value)) {
      throw badRequest(`${field} is ${JSON.stringify(value)}; allowed: ${values.join(", ")}`);
    }
    return value as Value;
  };
  return {
    name,
    description: readText(body, "description", 2000) ?? base?.description,
    type,
    logic: oneOf("logic", ["POSITIVE", "NEGATIVE"], base?.logic ?? "POSITIVE"),
    decisionStrategy: oneOf(
      "decisionStrategy",
      ["UNANIMOUS", "AFFIRMATIVE", "CONSENSUS"],
      base?.decisionStrategy ?? "UNANIMOUS",
    ),
    config: await readConfig(context, type, body, base?.config ?? {}),
    resources: await findIds(readTexts(body, "resources"), base?.resources, "resource", () =>
      listResources(context.db, context.client.id),
    ),
    scopes: await findIds(readTexts(body, "scopes"), base?.scopes, "scope", () =>
      listScopes(context.db, context.client.id),
    ),
    policies: await findPolicies(context, readTexts(body, "policies"), base?.policies),
  };
}

async function findIds(
  requested: readonly string[] | undefined,
  fallback: readonly string[] | undefined,
  what: string,
  list: () => Promise<readonly { readonly id: string; readonly name: string }[]>,
): Promise<readonly string[]> {
  if (requested === undefined) {
    return fallback ?? [];
  }
  const all = await list();
  return requested.map((text) => {
    const found = all.find(({ id, name }) => id === text || name === text);
    if (found === undefined) {
      throw badRequest(`there is no ${what} ${JSON.stringify(text)}`);
    }
    return found.id;
  });
}

async function findPolicies(
  { db, client }: PolicyLookups,
  requested: readonly string[] | undefined,
  fallback: readonly string[] | undefined,
): Promise<readonly string[]> {
  if (requested === undefined) {
    return fallback ?? [];
  }
  return Promise.all(
    requested.map(async (text) => {
      if (isUuid(text)) {
        return text;
      }
      const found = await findPolicyByName(db, client.id, text);
      if (found === undefined) {
        throw badRequest(`there is no policy ${JSON.stringify(text)}`);
      }
      return found.id;
    }),
  );
}

/** What only this type has. Users, groups and clients may be named instead of given by id. */
async function readConfig(context: PolicyLookups, type: string, body: Body, base: Body): Promise<Body> {
  const { db, realmId } = context;
  switch (type) {
    case "user":
      return {
        users: await Promise.all(
          (readTexts(body, "users") ?? (base["users"] as string[]) ?? []).map((text) => findUserId(context, text)),
        ),
      };
    case "role":
      return { roles: await readRoles(context, body["roles"] ?? base["roles"] ?? []) };
    case "group": {
      const groups = await listGroups(db, realmId);
      const list = readItems(body["groups"] ?? base["groups"] ?? [], "groups");
      return {
        groups: list.map((item) => {
          const path = readText(item, "path") ?? readText(item, "id") ?? "";
          const found = groups.find((group) => group.id === path || group.path === path);
          if (found === undefined) {
            throw badRequest(`there is no group ${JSON.stringify(path)}`);
          }
          return { id: found.id, path: found.path, extendChildren: readBoolean(item, "extendChildren") ?? false };
        }),
      };
    }
    case "client": {
      const ids = readTexts(body, "clients") ?? (base["clients"] as string[]) ?? [];
      return {
        clients: await Promise.all(
          ids.map(async (text) => {
            const found = isUuid(text) ? await findClientById(db, realmId, text) : await findClient(db, realmId, text);
            if (found === undefined) {
              throw badRequest(`there is no client ${JSON.stringify(text)}`);
            }
            return found.id;
          }),
        ),
      };
    }
    case "time":
      return readTimes({ ...base, ...body });
    case "regex": {
      const pattern = readText(body, "pattern", 2000) ?? (base["pattern"] as string | undefined) ?? "";
      try {
        void new RegExp(pattern, "u");
      } catch (cause) {
        throw badRequest(`pattern is no regular expression: ${(cause as Error).message}`);
      }
      return {
        targetClaim: readText(body, "targetClaim") ?? base["targetClaim"] ?? "",
        pattern,
        targetContextAttributes:
          readBoolean(body, "targetContextAttributes") ?? base["targetContextAttributes"] ?? false,
      };
    }
    case OWNER_PERMISSION:
      return readMembers(context, body, base);
    case "resource":
    case "scope": {
      const resourceType = readText(body, "resourceType", 1000) ?? readText(body, "defaultResourceType", 1000);
      return resourceType === undefined ? base : { defaultResourceType: resourceType };
    }
    default:
      return {};
  }
}

/** Kinds of members that an owner shares with; each is a policy type, and names the field that lists them. */
export const MEMBER_KINDS = { user: "users", role: "roles", group: "groups", client: "clients" } as const;

/** Those with whom an owner shares, of each kind that is named. */
async function readMembers(context: PolicyLookups, body: Body, base: Body): Promise<Body> {
  const config: Record<string, unknown> = {};
  for (const [type, field] of Object.entries(MEMBER_KINDS)) {
    const members = (await readConfig(context, type, body, base))[field] as readonly unknown[];
    if (members.length > 0) {
      config[field] = members;
    }
  }
  return config;
}

async function findUserId({ db, realmId }: PolicyLookups, text: string): Promise<string> {
  const user =
    (isUuid(text) ? await findUser(db, realmId, text) : undefined) ?? (await findUserByName(db, realmId, text));
  if (user === undefined) {
    throw badRequest(`there is no user ${JSON.stringify(text)}`);
  }
  return user.id;
}

async function readRoles({ db, realmId }: PolicyLookups, value: unknown): Promise<readonly object[]> {
  return Promise.all(
    readItems(value, "roles").map(async (item) => {
      const text = readText(item, "id") ?? readText(item, "name") ?? "";
      const [clientId, name] = text.includes("/")
        ? [text.slice(0, text.indexOf("/")), text.slice(text.indexOf("/") + 1)]
        : [undefined, text];
      const client = clientId === undefined ? null : ((await findClient(db, realmId, clientId))?.id ?? null);
      const role =
        (isUuid(text) ? await findRoleById(db, realmId, text) : undefined) ??
        (await findRole(db, realmId, client, name));
      if (role === undefined) {
        const known = (await listRoles(db, realmId, null)).map((candidate) => candidate.name);
        throw badRequest(`there is no role ${JSON.stringify(text)}; realm roles: ${known.join(", ")}`);
      }
      return { id: role.id, required: readBoolean(item, "required") ?? false };
    }),
  );
}

/** A list of objects, or of texts standing for `{id}`. */
function readItems(value: unknown, name: string): readonly Body[] {
  if (!Array.isArray(value)) {
    throw badRequest(`${name} must be a list`);
  }
  return value.map((item: unknown) => {
    if (typeof item === "string") {
      return { id: item };
    }
    if (typeof item !== "object" || item === null) {
      throw badRequest(`${name} must be a list of objects or ids`);
    }
    return item as Body;
  });
}

const TIME_FIELDS = [
  "year",
  "yearEnd",
  "month",
  "monthEnd",
  "dayMonth",
  "dayMonthEnd",
  "hour",
  "hourEnd",
  "minute",
  "minuteEnd",
];

function readTimes(body: Body): Body {
  const times: Record<string, unknown> = {};
  for (const field of ["notBefore", "notOnOrAfter"]) {
    const text = readText(body, field);
    if (text !== undefined && text !== "") {
      const date = new Date(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.replace(" ", "T")}Z`);
      if (Number.isNaN(date.getTime())) {
        throw badRequest(`${field} is ${JSON.stringify(text)}; allowed: 2026-11-21T05:00:00Z`);
      }
      times[field] = date.toISOString();
    }
  }
  for (const field of TIME_FIELDS) {
    const value = body[field];
    if (value !== undefined && value !== null && value !== "") {
      if (!/^\d{1,4}$/.test(JSON.stringify(value).replaceAll('"', ""))) {
        throw badRequest(`${field} is ${JSON.stringify(value)}; allowed: a whole number`);
      }
      times[field] = Number(value);
    }
  }
  if (Object.keys(times).length === 0) {
    throw badRequest(`a time policy needs at least one of notBefore, notOnOrAfter, ${TIME_FIELDS.join(", ")}`);
  }
  return times;
}
