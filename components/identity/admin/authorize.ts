import { type AccessTokenClaims, PLATFORM_AUDIENCE, audiencesOf, readBearerToken } from "@swath/auth";
import type { FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import { checkAccessToken } from "../protocol/access-token.ts";
import { ADMIN_ROLE, MANAGEMENT_ROLES, type ManagementRole, REALM_MANAGEMENT } from "../realms/create-realm.ts";
import { type RealmHandle, issuerOf } from "../realms/realm-cache.ts";
import type { User } from "../store/users.ts";
import { peekClaims } from "../tokens/verify-compact.ts";
import { AdminError } from "./errors.ts";

/** Who administers, as the admin events name them. */
export interface Actor {
  readonly user: User;
  readonly clientId: string;
  readonly ip: string;
  readonly may: (role: ManagementRole | "create-realm") => boolean;
  /** Names of the roles that administer and that the actor holds. */
  readonly roles: readonly string[];
}

/**
 * Who sent an admin request for `realm`: holds a token of that realm, or of `master`.
 * @throws {AdminError} 401
 */
export async function findActor(context: IdentityContext, realm: string, request: FastifyRequest): Promise<Actor> {
  const token = readBearerToken(request.headers.authorization) ?? "";
  const handle = await findIssuingRealm(context, realm, token);
  const bearer =
    handle && (await checkAccessToken(context, handle, token, { acceptIdTokens: context.login !== undefined }));
  if (handle === undefined || bearer === undefined) {
    throw new AdminError(401, "HTTP 401 Unauthorized");
  }
  const { user, access, claims } = bearer;
  if (!isMeantForAdministration(claims)) {
    throw new AdminError(
      401,
      "HTTP 401 Unauthorized: the token was made for another client, and none of its audiences is this API",
    );
  }
  // Roles as they are now, not as the token once said.
  const isAdministrator = handle.realm.name === "master" && access.realm.includes(ADMIN_ROLE);
  const roles = handle.realm.name === realm ? (access.clients[REALM_MANAGEMENT] ?? []) : [];
  return {
    user,
    clientId: typeof claims["azp"] === "string" ? claims["azp"] : "",
    ip: request.ip,
    roles: isAdministrator ? [ADMIN_ROLE, ...MANAGEMENT_ROLES] : roles,
    may: (role) => isAdministrator || (role !== "create-realm" && hasRole(roles, role)),
  };
}

/** The client of the administration console, whose tokens never leave this process. */
const CONSOLE_CLIENT = "security-admin-console";

/**
 * Whether a token may be used here: one of the console, of a client that acts for itself, or for an audience that stands for this
 * API. A program that people log in to for something else cannot administer in their name.
 */
function isMeantForAdministration(claims: Readonly<Record<string, unknown>>): boolean {
  const audiences = audiencesOf(claims as unknown as AccessTokenClaims);
  return (
    claims["azp"] === CONSOLE_CLIENT ||
    typeof claims["client_id"] === "string" ||
    audiences.includes(PLATFORM_AUDIENCE) ||
    audiences.includes(REALM_MANAGEMENT)
  );
}

/** Who sent an admin request that is about no realm, and the realm that they are of. @throws {AdminError} 401 */
export async function findActorOfAnyRealm(
  context: IdentityContext,
  request: FastifyRequest,
): Promise<{ readonly actor: Actor; readonly realm: string }> {
  const claims = peekClaims(readBearerToken(request.headers.authorization) ?? "");
  const issuer = String(claims?.["iss"]);
  const prefix = `${context.publicUrl}/realms/`;
  const realm =
    context.login !== undefined && issuer === context.publicUrl
      ? context.login.realm
      : issuer.startsWith(prefix)
        ? issuer.slice(prefix.length)
        : "";
  // The token is only read here; that it is good, and of this realm, is found next.
  return { actor: await findActor(context, /^[A-Za-z0-9_.-]{1,64}$/.test(realm) ? realm : "master", request), realm };
}

/** @throws {AdminError} 403 */
export function requireRole(actor: Actor, ...roles: readonly (ManagementRole | "create-realm")[]): void {
  if (!roles.some((role) => actor.may(role))) {
    throw new AdminError(403, "HTTP 403 Forbidden");
  }
}

function hasRole(roles: readonly string[], requested: ManagementRole): boolean {
  return (
    roles.includes("realm-admin") ||
    roles.includes(requested) ||
    // Who may change may look.
    (/^(view|query)-/.test(requested) && roles.includes(requested.replace(/^(view|query)-/, "manage-"))) ||
    (requested.startsWith("query-") && roles.includes(requested.replace("query-", "view-")))
  );
}

/** The token says which realm it is of; only the realm itself and master are heard. */
async function findIssuingRealm(
  { realms, publicUrl, login }: IdentityContext,
  realm: string,
  token: string,
): Promise<RealmHandle | undefined> {
  const claims = peekClaims(token);
  const name = [realm, "master"].find(
    (candidate) => claims?.["iss"] === issuerOf({ publicUrl, loginRealm: login?.realm }, candidate),
  );
  const handle = name === undefined ? undefined : await realms.find(name);
  return handle?.realm.enabled === true ? handle : undefined;
}
