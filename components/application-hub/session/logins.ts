import {
  type Administrators,
  type EndedLogin,
  TokenError,
  type TokenVerifier,
  type VerifiedToken,
  isAdministrator,
} from "@swath/auth";
import type { OidcClient } from "@swath/auth/login";
import { type Logger, Problem } from "@swath/service";
import * as openid from "openid-client";

import { type Sql, createSecret, hashSecret } from "../store/database.ts";
import { saveLogin } from "../store/users.ts";
import type { HubKeys } from "./seal.ts";

export interface Login {
  readonly id: string;
  readonly user: string;
}

interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

interface BegunLogin extends TokenSet {
  /** The issuer's session, from the ID token. */
  readonly sessionId: string | undefined;
}

/** Logins of people: kept in the database, so that their servers get tokens while no browser is open. */
export interface Logins {
  /** What a login ended with becomes a cookie. @throws {Problem} 403 where the token is not accepted */
  readonly begin: (tokens: BegunLogin) => Promise<{ readonly cookie: string; readonly user: string }>;
  /** Whose access token of the platform this is; undefined where it is not accepted. */
  readonly userOf: (accessToken: string) => Promise<string | undefined>;
  readonly find: (cookie: string) => Promise<Login | undefined>;
  /** An access token that is good for at least a minute; undefined where the login has ended. */
  readonly accessToken: (user: string) => Promise<{ readonly token: string; readonly expires: Date } | undefined>;
  /** Ends a login, its visits of servers, and its part at the identity service. */
  readonly end: (id: string) => Promise<void>;
  /** Ends what has ended at the identity service, which says so. */
  readonly endAll: (ended: EndedLogin) => Promise<void>;
  /** Asks the identity service about logins that were not heard of lately; ends those that have ended there. */
  readonly check: () => Promise<void>;
}

interface LoginsDeps {
  readonly sql: Sql;
  readonly client: OidcClient | undefined;
  readonly verifier: TokenVerifier | undefined;
  readonly audiences: readonly string[];
  readonly administrators: Administrators;
  readonly sealer: HubKeys;
  readonly logger: Logger;
}

interface LoginRow {
  readonly id: string;
  readonly user_name: string;
  readonly sealed_tokens: string;
  readonly access_expires: Date;
}

const LOGIN_HOURS = 24 * 7;
const RENEW_BEFORE_MS = 90_000;
const CHECK_AFTER_SECONDS = 60;
const MAX_CHECKS = 200;

export function createLogins({ sql, client, verifier, audiences, administrators, sealer, logger }: LoginsDeps): Logins {
  const verify = async (token: string) => {
    if (verifier === undefined) {
      throw new Problem(503, "This deployment has no identity service that people could log in with.");
    }
    return verifier.verify(token, { audiences });
  };

  /** Renews a login under a lock of its own: a refresh token may be good for one use only. */
  const renew = async (id: string): Promise<{ token: string; expires: Date } | undefined> => {
    const outcome = await sql.exclusive(`login ${id}`, async (tx) => {
      const row = await tx.first<LoginRow>("select * from logins where id = $1", [id]);
      const tokens = row === undefined ? undefined : readTokens(sealer, row.sealed_tokens);
      if (row === undefined || tokens === undefined || client === undefined) {
        return undefined;
      }
      if (row.access_expires.getTime() - Date.now() > RENEW_BEFORE_MS) {
        return { token: tokens.accessToken, expires: row.access_expires };
      }
      const renewed = tokens.refreshToken === undefined ? undefined : await refresh(client, tokens.refreshToken);
      if (renewed === undefined) {
        await tx.rows("delete from logins where id = $1", [id]);
        return undefined;
      }
      const verified = await verify(renewed.accessToken).catch((cause: unknown) => ({ cause }));
      // The refresh token of before is spent: the new one is kept whatever became of the check, which is made again with the next renewal.
      const expires = "cause" in verified ? new Date() : new Date(verified.claims.exp * 1000);
      await tx.rows("update logins set sealed_tokens = $2, access_expires = $3, checked_at = now() where id = $1", [
        id,
        sealer.seal(JSON.stringify(renewed)),
        expires,
      ]);
      return "cause" in verified ? verified : { token: renewed.accessToken, expires };
    });
    if (outcome !== undefined && "cause" in outcome) {
      throw outcome.cause;
    }
    return outcome;
  };

  const saveUser = async ({ identity }: VerifiedToken): Promise<string> => {
    const { username, userId, realmRoles, groups } = identity;
    const user = username ?? userId;
    await saveLogin(sql, {
      name: user,
      admin: isAdministrator(identity, administrators),
      groups: [...new Set([...groups.map((group) => group.replace(/^\//, "")), ...realmRoles])],
    });
    return user;
  };

  return {
    userOf: async (accessToken) => {
      try {
        return await saveUser(await verify(accessToken));
      } catch (error) {
        if (error instanceof TokenError) {
          return undefined;
        }
        throw error;
      }
    },
    begin: async ({ sessionId, accessToken, refreshToken }) => {
      const tokens: TokenSet = { accessToken, refreshToken };
      const verified = await verify(tokens.accessToken).catch((error: unknown) => {
        throw error instanceof TokenError
          ? new Problem(403, `The login is not accepted: ${error.message}.`, { cause: error })
          : error;
      });
      const user = await saveUser(verified);
      const { exp, sid, sub } = verified.claims;
      const { secret, hash } = createSecret();
      await sql.rows(
        `insert into logins (cookie_hash, user_name, sealed_tokens, access_expires, expires, session_id, subject)
         values ($1, $2, $3, $4, now() + make_interval(hours => $5), $6, $7)`,
        [
          hash,
          user,
          sealer.seal(JSON.stringify(tokens)),
          new Date(exp * 1000),
          LOGIN_HOURS,
          sessionId ?? sid ?? null,
          sub,
        ],
      );
      return { cookie: secret, user };
    },
    find: async (cookie) => {
      const row = await sql.first<{ id: string; user_name: string }>(
        "select id, user_name from logins where cookie_hash = $1 and expires > now()",
        [hashSecret(cookie)],
      );
      return row === undefined ? undefined : { id: row.id, user: row.user_name };
    },
    accessToken: async (user) => {
      const rows = await sql.rows<{ id: string }>(
        "select id from logins where user_name = $1 and expires > now() order by created desc limit 5",
        [user],
      );
      for (const { id } of rows) {
        const token = await renew(id);
        if (token !== undefined) {
          return token;
        }
      }
      return undefined;
    },
    end: async (id) => {
      const row = await sql.first<LoginRow>("delete from logins where id = $1 returning *", [id]);
      const refreshToken = row === undefined ? undefined : readTokens(sealer, row.sealed_tokens)?.refreshToken;
      if (client !== undefined && refreshToken !== undefined) {
        await openid
          .tokenRevocation(await client.configuration(), refreshToken)
          .catch((error: unknown) => logger.warn({ err: error }, "a login was not revoked at the identity service"));
      }
    },
    endAll: async ({ sessionId, userId }) => {
      await sql.rows(
        sessionId === undefined
          ? "delete from logins where subject = $1"
          : "delete from logins where session_id = $1 and ($2::text is null or subject = $2)",
        sessionId === undefined ? [userId] : [sessionId, userId ?? null],
      );
    },
    check: async () => {
      await sql.rows("delete from logins where expires < now()");
      await sql.rows("delete from visits where expires < now()");
      await sql.rows("delete from entries where expires < now()");
      await sql.rows("delete from oauth_codes where expires < now()");
      const due = await sql.rows<LoginRow>(
        `select * from logins where checked_at < now() - make_interval(secs => $1) order by checked_at limit $2`,
        [CHECK_AFTER_SECONDS, MAX_CHECKS],
      );
      for (const { id, sealed_tokens: sealed } of due) {
        const token = (await renew(id))?.token ?? readTokens(sealer, sealed)?.accessToken;
        const isAlive = token === undefined || client === undefined || (await isKnown(client, token));
        await sql.rows(
          isAlive ? "update logins set checked_at = now() where id = $1" : "delete from logins where id = $1",
          [id],
        );
      }
    },
  };
}

function readTokens(sealer: HubKeys, sealed: string): TokenSet | undefined {
  const text = sealer.open(sealed);
  return text === undefined ? undefined : (JSON.parse(text) as TokenSet);
}

/** New tokens, or undefined where the login has ended. */
async function refresh(client: OidcClient, refreshToken: string): Promise<TokenSet | undefined> {
  try {
    const tokens = await openid.refreshTokenGrant(await client.configuration(), refreshToken);
    return { accessToken: tokens.access_token, refreshToken: tokens.refresh_token ?? refreshToken };
  } catch (error) {
    if (error instanceof openid.ResponseBodyError && error.status < 500) {
      return undefined;
    }
    throw new Problem(503, "The identity service does not answer; try again in a moment.", { cause: error });
  }
}

async function isKnown(client: OidcClient, token: string): Promise<boolean> {
  try {
    await openid.fetchUserInfo(await client.configuration(), token, openid.skipSubjectCheck);
    return true;
  } catch (error) {
    return !(error instanceof openid.WWWAuthenticateChallengeError && error.status === 401);
  }
}
