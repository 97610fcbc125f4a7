import { createTokenId } from "@swath/auth";

import { type ClaimSubject, mapClaims } from "../claims/mappers.ts";
import { showScope } from "../claims/scopes.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import type { Client } from "../store/clients.ts";
import type { User, UserAccess } from "../store/users.ts";

export interface Issue {
  readonly client: Client;
  readonly user: User;
  readonly access: UserAccess;
  readonly scope: string;
  /** Left out for a client acting for itself. */
  /** Thumbprint of the key that the tokens are bound to (RFC 9449). */
  readonly boundTo?: string | undefined;
  readonly session?: {
    readonly id: string;
    readonly refreshId: string;
    readonly chain: string;
    /** Seconds until the session ends when nobody uses it. */
    readonly secondsLeft: number;
    readonly offline: boolean;
    readonly authTime: Date;
    readonly nonce?: string | undefined;
    /** How the user was authenticated: `2` with a second factor. */
    readonly acr?: string | undefined;
  };
  /** Further audiences and claims: the permissions of an RPT. */
  readonly audience?: readonly string[];
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** What the token endpoint answers (RFC 6749 §5.1), with the fields that existing clients read besides. */
export interface TokenResponse {
  readonly access_token: string;
  readonly expires_in: number;
  readonly refresh_expires_in: number;
  readonly refresh_token?: string;
  readonly token_type: "Bearer" | "DPoP";
  readonly id_token?: string;
  readonly "not-before-policy": 0;
  readonly session_state?: string;
  readonly scope: string;
}

/** Signs the tokens of a grant that has been stored. Claims are listed in README.md. */
export async function issueTokens(handle: RealmHandle, issue: Issue): Promise<TokenResponse> {
  const { realm, issuer, keys, refreshTokens } = handle;
  const { client, user, access, scope, session } = issue;
  const { accessTokenLifespan, defaultSignatureAlgorithm: alg } = realm.settings;
  const now = Math.floor(Date.now() / 1000);
  const expires = session ? Math.min(accessTokenLifespan, session.secondsLeft) : accessTokenLifespan;
  const shown = showScope(client, scope);
  const subject: ClaimSubject = {
    client,
    user,
    access: await handle.limitAccess(client, access, scope),
    acr: session?.acr ?? "1",
  };
  const described = { seconds: expires, now, ...issue };
  const [accessToken, idToken] = await Promise.all([
    keys.sign(alg, "JWT", describeAccessToken(handle, subject, scope, described)),
    session && scope.split(" ").includes("openid")
      ? keys.sign(alg, "JWT", describeIdToken(handle, subject, scope, described))
      : undefined,
  ]);
  const refreshToken =
    session &&
    refreshTokens.sign({
      iss: issuer,
      sub: user.id,
      sid: session.id,
      azp: client.clientId,
      jti: session.refreshId,
      chain: session.chain,
      ...(session.nonce !== undefined && { nonce: session.nonce }),
      // A client with a secret proves itself at every refresh (RFC 9449 §5).
      ...(issue.boundTo !== undefined && client.settings.publicClient && { cnf: { jkt: issue.boundTo } }),
      scope,
      offline: session.offline,
      iat: now,
      exp: now + session.secondsLeft,
    });

  return {
    access_token: accessToken,
    expires_in: expires,
    refresh_expires_in: session ? (session.offline ? 0 : session.secondsLeft) : 0,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    token_type: issue.boundTo === undefined ? "Bearer" : "DPoP",
    ...(idToken !== undefined && { id_token: idToken }),
    "not-before-policy": 0,
    ...(session && { session_state: session.id }),
    scope: shown,
  };
}

type Described = Pick<Issue, "session" | "audience" | "claims" | "boundTo"> & {
  readonly seconds: number;
  /** Seconds since 1970. */
  readonly now?: number;
};

/** The claims of an access token. */
export function describeAccessToken(
  { issuer }: RealmHandle,
  subject: ClaimSubject,
  scope: string,
  { session, audience, claims: more, boundTo, seconds, now = Math.floor(Date.now() / 1000) }: Described,
): Record<string, unknown> {
  const { client, user, access } = subject;
  const { aud, cnf: _, ...claims } = mapClaims("access", subject, scope);
  return {
    exp: now + seconds,
    iat: now,
    jti: createTokenId(access.readAt),
    iss: issuer,
    aud: audienceOf([...(audience ?? []), ...((aud as string[] | undefined) ?? []), "account"]),
    sub: user.id,
    typ: "Bearer",
    azp: client.clientId,
    ...sessionClaims(session),
    // Browser adapters refuse the whole answer when one of its tokens lacks the nonce.
    ...(session?.nonce !== undefined && { nonce: session.nonce }),
    scope: showScope(client, scope),
    ...(client.serviceUserId === user.id && { client_id: client.clientId }),
    // Always, since services rely on it.
    preferred_username: user.username,
    ...claims,
    ...more,
    ...(boundTo !== undefined && { cnf: { jkt: boundTo } }),
  };
}

/** The claims of an ID token: what the mappers say, for the client and whom they name besides. */
export function describeIdToken(
  { issuer }: RealmHandle,
  subject: ClaimSubject,
  scope: string,
  { session, seconds, now = Math.floor(Date.now() / 1000) }: Described,
): Record<string, unknown> {
  const { client, user, access } = subject;
  const { aud, ...claims } = mapClaims("id", subject, scope);
  return {
    exp: now + seconds,
    iat: now,
    ...(session && { auth_time: Math.floor(session.authTime.getTime() / 1000) }),
    jti: createTokenId(access.readAt),
    iss: issuer,
    aud: audienceOf([client.clientId, ...((aud as string[] | undefined) ?? [])]),
    sub: user.id,
    typ: "ID",
    azp: client.clientId,
    ...(session?.nonce !== undefined && { nonce: session.nonce }),
    ...sessionClaims(session),
    ...claims,
  };
}

function sessionClaims(session: Issue["session"]): object {
  return session === undefined ? {} : { sid: session.id, session_state: session.id };
}

function audienceOf(audiences: readonly string[]): string | readonly string[] {
  const [first = "", ...others] = new Set(audiences);
  return others.length === 0 ? first : [first, ...others];
}
