import {
  type Administrators,
  IssuerUnavailableError,
  TokenError,
  type TokenVerifier,
  isAdministrator,
} from "@swath/auth";

import { RegistryError } from "../errors.ts";
import { type Account, findAccount, recordAccount } from "../store/accounts.ts";
import type { Sql } from "../store/database.ts";
import { findRobotLogin, isRobotName } from "../store/robots.ts";
import { type Delegates, isDelegateName } from "./delegates.ts";
import type { LoginGuard } from "./login-guard.ts";
import { ANONYMOUS, type Principal } from "./principal.ts";
import { digestSecret, isSecret } from "./secrets.ts";

export const ADMIN_NAME = "admin";

export interface AuthenticateDeps {
  readonly sql: Sql;
  /** One, and while it is being changed the other as well. */
  readonly adminPasswords: readonly string[];
  /** User of the identity service who administers the registry. */
  readonly administrators: Administrators;
  /** Left out where the deployment has no identity service. */
  readonly verifier: TokenVerifier | undefined;
  /** The clients whose access tokens are taken. */
  readonly audiences: readonly string[];
  readonly guard: LoginGuard;
  readonly delegates: Delegates;
}

export interface Login {
  readonly user: string;
  readonly password: string;
  /** Where the request comes from. */
  readonly address: string;
}

const SECRET_HINT =
  "Users log in with their secret for command lines, not with their password: the registry's page makes one, at Command lines.";
const MAX_CREDENTIAL_CHARACTERS = 20_000;

/** User and password of an `Authorization: Basic` field (RFC 7617); undefined with another scheme. */
export function readBasic(authorization: string | undefined): { user: string; password: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(
    (authorization ?? "").slice(0, MAX_CREDENTIAL_CHARACTERS),
  )?.[1];
  if (encoded === undefined) {
    return undefined;
  }
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Finds out who logs in with a name and a password: the administrator, a robot, or a user by the secret for command lines or by
 * an access token of the identity service.
 * @throws {RegistryError} UNAUTHORIZED, TOOMANYREQUESTS after ten failures a minute
 */
export async function authenticate(deps: AuthenticateDeps, { user, password, address }: Login): Promise<Principal> {
  const key = `${user.slice(0, 256)}\n${address}`;
  if (!deps.guard.isOpen(key)) {
    throw new RegistryError("TOOMANYREQUESTS", "Too many failed logins with this name; wait a minute.", {
      headers: { "retry-after": "60" },
    });
  }
  const principal = user.includes("\0") ? undefined : await findPrincipal(deps, user, password);
  if (principal === undefined) {
    deps.guard.recordFailure(key);
    // The same text for users and for names of no user: it must not show which names exist.
    const hint = isRobotName(user) || user === ADMIN_NAME ? "" : ` ${SECRET_HINT}`;
    throw new RegistryError("UNAUTHORIZED", `The user name or the secret is wrong.${hint}`);
  }
  return principal;
}

export function isAdminLogin(
  { adminPasswords }: Pick<AuthenticateDeps, "adminPasswords">,
  user: string,
  password: string,
) {
  const isRight = adminPasswords.map((known) => isSecret(password, digestSecret(known))).includes(true);
  return user === ADMIN_NAME && isRight;
}

async function findPrincipal(deps: AuthenticateDeps, user: string, password: string): Promise<Principal | undefined> {
  const { sql } = deps;
  if (isAdminLogin(deps, user, password)) {
    return { kind: "admin", name: ADMIN_NAME };
  }
  if (isRobotName(user)) {
    const login = await findRobotLogin(sql, user);
    return login !== undefined && isSecret(password, login.digest)
      ? { kind: "robot", name: login.robot.fullName, permissions: login.robot.permissions }
      : undefined;
  }
  if (isDelegateName(user)) {
    const owner = await deps.delegates.verify(user, password);
    return owner === undefined ? undefined : findDelegate(deps, owner);
  }
  // Secrets have no dots; tokens have two.
  if (password.split(".").length === 3 && deps.verifier !== undefined) {
    return authenticateToken(deps, password).catch((error: unknown) => {
      if (error instanceof RegistryError && error.code === "UNAUTHORIZED") {
        return undefined;
      }
      throw error;
    });
  }
  const account = await findAccount(sql, user);
  return account?.secretDigest !== undefined && isSecret(password, account.secretDigest)
    ? toPrincipal(account)
    : undefined;
}

/** Who an access token of the identity service speaks of. @throws {RegistryError} UNAUTHORIZED, UNAVAILABLE */
export async function authenticateToken(
  { verifier, audiences, administrators, sql }: AuthenticateDeps,
  token: string,
): Promise<Principal> {
  if (verifier === undefined) {
    throw new RegistryError("UNAUTHORIZED", "No identity service is connected to this registry.");
  }
  let identity;
  const known = verifier.recall(token);
  try {
    ({ identity } = known ?? (await verifier.verify(token, { audiences })));
  } catch (error) {
    if (error instanceof TokenError) {
      throw new RegistryError("UNAUTHORIZED", `The access token is not accepted: ${error.message}.`, { cause: error });
    }
    if (error instanceof IssuerUnavailableError) {
      throw new RegistryError("UNAVAILABLE", "The identity service does not answer; try again in a moment.", {
        headers: { "retry-after": "2" },
        cause: error,
      });
    }
    throw error;
  }
  const { username = identity.userId, userId, realmRoles } = identity;
  const groups = [...identity.groups, ...realmRoles];
  const isAdmin = isAdministrator(identity, administrators);
  if (known === undefined) {
    await recordAccount(sql, { username, userId, groups, isAdmin });
  }
  return toPrincipal({ username, groups, isAdmin });
}

export function toPrincipal({
  username,
  groups,
  isAdmin,
}: Pick<Account, "username" | "groups" | "isAdmin">): Principal {
  return isAdmin ? { kind: "admin", name: username } : { kind: "user", name: username, groups };
}

/** Who has never come to the registry has the rights of their name alone. */
async function findDelegate(
  { sql, administrators }: Pick<AuthenticateDeps, "sql" | "administrators">,
  name: string,
): Promise<Principal> {
  const account = (await findAccount(sql, name)) ?? {
    username: name,
    groups: [],
    isAdmin: name === administrators.user,
  };
  return { kind: "delegate", name, of: toPrincipal(account) };
}

/** What a token of the registry says in `sub`. */
export function toSubject({ kind, name }: Principal): string {
  return `${kind}:${name}`;
}

/** The principal that a token of the registry was given to, as it is now; undefined when it may not log in any more. */
export async function findSubject(
  deps: Pick<AuthenticateDeps, "sql" | "administrators">,
  subject: string,
): Promise<Principal | undefined> {
  const { sql } = deps;
  const colon = subject.indexOf(":");
  const [kind, name] = [subject.slice(0, colon), subject.slice(colon + 1)];
  switch (kind) {
    case "anonymous":
      return ANONYMOUS;
    case "admin":
      return { kind: "admin", name };
    case "robot": {
      const login = await findRobotLogin(sql, name);
      return login && { kind: "robot", name, permissions: login.robot.permissions };
    }
    case "delegate":
      return findDelegate(deps, name);
    default: {
      const account = await findAccount(sql, name);
      return account && toPrincipal(account);
    }
  }
}
