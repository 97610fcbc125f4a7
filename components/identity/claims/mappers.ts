import type { Client } from "../store/clients.ts";
import type { ProtocolMapper } from "../store/client-scopes.ts";
import type { User, UserAccess } from "../store/users.ts";
import { toJsonType } from "./json-type.ts";
import { heldScopes } from "./scopes.ts";

/** Where claims go: the two tokens, and what userinfo answers. */
export type ClaimTarget = "access" | "id" | "userinfo";

/** Whom a token speaks of. */
export interface ClaimSubject {
  readonly client: Client;
  readonly user: User;
  /** Roles that the client may see. */
  readonly access: UserAccess;
  readonly acr: string;
}

type Produce = (mapper: ProtocolMapper, subject: ClaimSubject) => unknown;

/** Claims in the names of the wire; `aud` collects, everything else is set. */
type Claims = Record<string, unknown>;

const FLAGS: Readonly<Record<ClaimTarget, string>> = {
  access: "access.token.claim",
  id: "id.token.claim",
  userinfo: "userinfo.token.claim",
};

/** Mappers that set one claim, the one that `claim.name` says. */
const VALUES: ReadonlyMap<string, Produce> = new Map(
  Object.entries<Produce>({
    "oidc-usermodel-attribute-mapper": ({ config }, { user }) => {
      const values = attributeOf(user, config["user.attribute"] ?? "");
      return config["multivalued"] === "true" ? (values.length === 0 ? undefined : values) : values[0];
    },
    "oidc-usermodel-property-mapper": ({ config }, { user }) => propertyOf(user, config["user.attribute"] ?? ""),
    "oidc-full-name-mapper": (_mapper, { user }) => {
      const name = [user.firstName, user.lastName].filter((part) => part !== undefined && part !== "").join(" ");
      return name === "" ? undefined : name;
    },
    "oidc-hardcoded-claim-mapper": ({ config }) => config["claim.value"],
    "oidc-usermodel-realm-role-mapper": ({ config }, { access }) =>
      access.realm.map((role) => `${config["usermodel.realmRoleMapping.rolePrefix"] ?? ""}${role}`),
    "oidc-group-membership-mapper": ({ config }, { access }) =>
      access.groups.length === 0
        ? undefined
        : access.groups.map((path) => (config["full.path"] === "false" ? path.slice(path.lastIndexOf("/") + 1) : path)),
    "oidc-address-mapper": (_mapper, { user }) => addressOf(user),
    "oidc-allowed-origins-mapper": (_mapper, { client }) =>
      client.settings.webOrigins.length === 0 ? undefined : client.settings.webOrigins,
    "oidc-acr-mapper": (_mapper, { acr }) => acr,
    // Whether the user has a role, as one truth value: `isOperator` of the login service.
    "swath-has-realm-role-mapper": ({ config }, { access }) => access.realm.includes(config["role"] ?? ""),
  }),
);

/** Names of claims that mappers set when their configuration has none. */
const DEFAULT_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    "oidc-full-name-mapper": "name",
    "oidc-address-mapper": "address",
    "oidc-allowed-origins-mapper": "allowed-origins",
    "oidc-acr-mapper": "acr",
    "oidc-usermodel-realm-role-mapper": "realm_access.roles",
    "oidc-group-membership-mapper": "groups",
  }),
);

/** Mappers that do more than to set one claim. */
const OTHERS: ReadonlyMap<string, (claims: Claims, mapper: ProtocolMapper, subject: ClaimSubject) => void> = new Map(
  Object.entries<(claims: Claims, mapper: ProtocolMapper, subject: ClaimSubject) => void>({
    "oidc-usermodel-client-role-mapper": (claims, { config }, { access }) => {
      const only = config["usermodel.clientRoleMapping.clientId"];
      const prefix = config["usermodel.clientRoleMapping.rolePrefix"] ?? "";
      for (const [clientId, roles] of Object.entries(access.clients)) {
        if (only === undefined || only === "" || only === clientId) {
          const path = (config["claim.name"] ?? "resource_access.${client_id}.roles").split(".");
          setPath(
            claims,
            path.map((part) => (part === "${client_id}" ? clientId : part)),
            roles.map((role) => `${prefix}${role}`),
          );
        }
      }
    },
    "oidc-audience-resolve-mapper": (claims, _mapper, { access, client }) =>
      addAudience(claims, ...Object.keys(access.clients).filter((clientId) => clientId !== client.clientId)),
    "oidc-audience-mapper": (claims, { config }) => {
      const audience = config["included.client.audience"] || config["included.custom.audience"];
      if (audience !== undefined && audience !== "") {
        addAudience(claims, audience);
      }
    },
  }),
);

export const MAPPER_TYPES: readonly string[] = [...VALUES.keys(), ...OTHERS.keys()];

/** The claims that the mappers of the granted scopes, and then those of the client, make for one target. */
export function mapClaims(target: ClaimTarget, subject: ClaimSubject, granted: string): Claims {
  const { client } = subject;
  const claims: Claims = {};
  for (const { mappers } of heldScopes(client, granted)) {
    mappers.forEach((mapper) => apply(claims, mapper, target, subject));
  }
  client.mappers.forEach((mapper) => apply(claims, mapper, target, subject));
  return claims;
}

function apply(claims: Claims, mapper: ProtocolMapper, target: ClaimTarget, subject: ClaimSubject): void {
  const { type, config } = mapper;
  // Left out, userinfo follows the ID token: it came later.
  const flag = config[FLAGS[target]] ?? (target === "userinfo" ? config[FLAGS.id] : undefined);
  if (flag !== "true") {
    return;
  }
  const other = OTHERS.get(type);
  if (other !== undefined) {
    other(claims, mapper, subject);
    return;
  }
  const value = toJsonType(VALUES.get(type)?.(mapper, subject), config["jsonType.label"]);
  const name = config["claim.name"] || DEFAULT_NAMES.get(type);
  if (value !== undefined && name !== undefined) {
    setPath(claims, splitName(name), value);
  }
}

/** `a.b` is a claim `b` inside `a`; `a\.b` is one claim. */
function splitName(name: string): readonly string[] {
  return name.split(/(?<!\\)\./).map((part) => part.replaceAll("\\.", "."));
}

/** Claims that say whose token it is are made by the service alone. */
const RESERVED = new Set([
  "iss",
  "sub",
  "exp",
  "iat",
  "nbf",
  "jti",
  "azp",
  "typ",
  "sid",
  "session_state",
  "nonce",
  "auth_time",
  "scope",
  "cnf",
  "client_id",
  "authorization",
]);

function setPath(claims: Claims, path: readonly string[], value: unknown): void {
  const [first = "", ...rest] = path;
  if (RESERVED.has(first) || path.some((part) => part === "__proto__" || part === "")) {
    return;
  }
  if (first === "aud") {
    addAudience(claims, ...(Array.isArray(value) ? value : [value]).map(String));
    return;
  }
  let at = claims;
  const last = rest.pop();
  for (const part of last === undefined ? [] : [first, ...rest]) {
    const inner = at[part];
    at = (typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : (at[part] = {})) as Claims;
  }
  const name = last ?? first;
  const present = at[name];
  // Two mappers of the same list, roles of the realm and of a client for one, are one list.
  at[name] = Array.isArray(present) && Array.isArray(value) ? [...new Set<unknown>([...present, ...value])] : value;
}

function addAudience(claims: Claims, ...audiences: readonly string[]): void {
  claims["aud"] = [...new Set([...((claims["aud"] as string[] | undefined) ?? []), ...audiences])];
}

function propertyOf(user: User, name: string): string | boolean | number | undefined {
  switch (name) {
    case "id":
    case "username":
    case "email":
    case "emailVerified":
    case "firstName":
    case "lastName":
    case "enabled":
      // Whether an address was verified says nothing where there is none.
      return name === "emailVerified" && user.email === undefined ? undefined : user[name];
    case "createdTimestamp":
      return user.createdAt.getTime();
    default:
      return undefined;
  }
}

function attributeOf(user: User, name: string): readonly string[] {
  const own = Object.hasOwn(user.attributes, name) ? user.attributes[name] : undefined;
  const property = propertyOf(user, name);
  return own ?? (property === undefined ? [] : [String(property)]);
}

/** OpenID Connect Core §5.1.1. */
const ADDRESS = {
  formatted: "formatted",
  street_address: "street",
  locality: "locality",
  region: "region",
  postal_code: "postal_code",
  country: "country",
} as const;

function addressOf(user: User): Claims | undefined {
  const parts = Object.entries(ADDRESS).flatMap(([claim, attribute]) => {
    const value = attributeOf(user, attribute)[0];
    return value === undefined || value === "" ? [] : [[claim, value] as const];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}
