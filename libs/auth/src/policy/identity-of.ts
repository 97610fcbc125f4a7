import type { Identity } from "./types.ts";

/** Which claims of a token say who somebody is, where an issuer's tokens differ from those of the platform's own provider. */
export interface ClaimNames {
  /** `preferred_username` when left out. */
  readonly username?: string;
  /** A list of role names read besides `realm_access.roles`; none when left out. Dots reach into objects. */
  readonly roles?: string;
}

/** Who a verified access token speaks of. Claims that are missing or of another shape grant nothing. */
export function identityOf(
  claims: Readonly<Record<string, unknown>>,
  { username = "preferred_username", roles }: ClaimNames = {},
): Identity {
  const name = claims[username];
  const clientId = claims["azp"] ?? claims["client_id"];
  const access = claims["resource_access"];
  return {
    userId: typeof claims["sub"] === "string" ? claims["sub"] : "",
    ...(typeof name === "string" && name !== "" && { username: name }),
    ...(typeof clientId === "string" && { clientId }),
    realmRoles: [...rolesOf(claims["realm_access"]), ...(roles === undefined ? [] : texts(reach(claims, roles)))],
    clientRoles: isRecord(access)
      ? Object.fromEntries(Object.entries(access).map(([client, entry]) => [client, rolesOf(entry)]))
      : {},
    groups: texts(claims["groups"]),
    claims,
  };
}

const rolesOf = (access: unknown): readonly string[] => (isRecord(access) ? texts(access["roles"]) : []);

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The claim of that very name, else dots reach into objects. Inherited members are no claims. */
export function reach(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) {
    return claims[name];
  }
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) {
      return undefined;
    }
    value = value[part];
  }
  return value;
}
