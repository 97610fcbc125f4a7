import { randomUUID } from "node:crypto";

import type { RealmHandle } from "../realms/realm-cache.ts";
import type { Client } from "../store/clients.ts";
import type { User, UserAccess } from "../store/users.ts";
import { signRefreshToken } from "../tokens/refresh-token.ts";

export interface Issue {
  readonly client: Client;
  readonly user: User;
  readonly access: UserAccess;
  readonly scope: string;
  /** Left out for a client acting for itself. */
  readonly session?: {
    readonly id: string;
    readonly refreshId: string;
    readonly chain: string;
    /** Seconds until the session ends when nobody uses it. */
    readonly secondsLeft: number;
    readonly offline: boolean;
    readonly authTime: Date;
    readonly nonce?: string | undefined;
  };
  /** Further audiences and claims: the permissions of an RPT. */
  readonly audience?: readonly string[];
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** What the token endpoint answers (RFC 6749 §5.1), with the fields that existing clients read besides. */
export interface TokenAnswer {
  readonly access_token: string;
  readonly expires_in: number;
  readonly refresh_expires_in: number;
  readonly refresh_token?: string;
  readonly token_type: "Bearer";
  readonly id_token?: string;
  readonly "not-before-policy": 0;
  readonly session_state?: string;
  readonly scope: string;
}

/** Signs the tokens of a grant that has been stored. Claims are listed in README.md. */
export async function issueTokens(handle: RealmHandle, issue: Issue): Promise<TokenAnswer> {
  const { realm, issuer, keys } = handle;
  const { client, user, access, scope, session } = issue;
  const { accessTokenLifespan, defaultSignatureAlgorithm: alg } = realm.settings;
  const now = Math.floor(Date.now() / 1000);
  const expires = session ? Math.min(accessTokenLifespan, session.secondsLeft) : accessTokenLifespan;
  const scopes = scope.split(" ");
  const person = describePerson(user, access, scopes);
  const sessionClaims = session && { sid: session.id, session_state: session.id };

  const accessToken = await keys.sign(alg, "JWT", {
    exp: now + expires,
    iat: now,
    jti: randomUUID(),
    iss: issuer,
    aud: audiencesOf(client, access, issue.audience),
    sub: user.id,
    typ: "Bearer",
    azp: client.clientId,
    ...sessionClaims,
    // Browser adapters refuse the whole answer when one of its tokens lacks the nonce.
    ...(session?.nonce !== undefined && { nonce: session.nonce }),
    acr: "1",
    ...(client.settings.webOrigins.length > 0 && { "allowed-origins": client.settings.webOrigins }),
    realm_access: { roles: access.realm },
    resource_access: Object.fromEntries(
      Object.entries(access.clients).map(([clientId, roles]) => [clientId, { roles }]),
    ),
    scope,
    ...(client.serviceUserId === user.id && { client_id: client.clientId }),
    ...person,
    ...issue.claims,
  });

  const idToken =
    session && scopes.includes("openid")
      ? await keys.sign(alg, "JWT", {
          exp: now + expires,
          iat: now,
          auth_time: Math.floor(session.authTime.getTime() / 1000),
          jti: randomUUID(),
          iss: issuer,
          aud: client.clientId,
          sub: user.id,
          typ: "ID",
          azp: client.clientId,
          ...(session.nonce !== undefined && { nonce: session.nonce }),
          ...sessionClaims,
          ...person,
        })
      : undefined;

  return {
    access_token: accessToken,
    expires_in: expires,
    refresh_expires_in: session ? (session.offline ? 0 : session.secondsLeft) : 0,
    ...(session && {
      refresh_token: signRefreshToken(realm.secret, {
        iss: issuer,
        sub: user.id,
        sid: session.id,
        azp: client.clientId,
        jti: session.refreshId,
        chain: session.chain,
        ...(session.nonce !== undefined && { nonce: session.nonce }),
        scope,
        offline: session.offline,
        iat: now,
        exp: now + session.secondsLeft,
      }),
    }),
    token_type: "Bearer",
    ...(idToken !== undefined && { id_token: idToken }),
    "not-before-policy": 0,
    ...(session && { session_state: session.id }),
    scope,
  };
}

/** Claims about the person, by scope (OpenID Connect Core §5.4); the user name always, since services rely on it. */
export function describePerson(user: User, access: UserAccess, scopes: readonly string[]): Record<string, unknown> {
  const fullName = [user.firstName, user.lastName].filter((part) => part !== undefined && part !== "").join(" ");
  return {
    preferred_username: user.username,
    ...((scopes.includes("email") || user.email !== undefined) && {
      email: user.email,
      email_verified: user.emailVerified,
    }),
    ...(fullName !== "" && { name: fullName }),
    ...(user.firstName !== undefined && { given_name: user.firstName }),
    ...(user.lastName !== undefined && { family_name: user.lastName }),
    ...(access.groups.length > 0 && { groups: access.groups }),
  };
}

/** The clients that the user has roles of, and `account`, which every user may use. */
function audiencesOf(client: Client, access: UserAccess, more: readonly string[] = []): string | readonly string[] {
  const audiences = [...new Set([...more, ...Object.keys(access.clients), "account"])].filter(
    (audience) => audience !== client.clientId || more.includes(audience),
  );
  return audiences.length === 1 ? (audiences[0] ?? "account") : audiences;
}

/** Scopes that may be asked for; what is not known is left out, as RFC 6749 §3.3 allows. */
const SCOPES = ["openid", "profile", "email", "offline_access", "roles", "web-origins", "address", "phone", "groups"];

/** The scope of a grant: `profile email` always, and of the others what was asked for. */
export function grantScope(asked: string | undefined): string {
  const wanted = (asked ?? "").split(" ").filter((scope) => SCOPES.includes(scope));
  return [...new Set([...wanted.filter((scope) => scope === "openid"), "profile", "email", ...wanted])].join(" ");
}
