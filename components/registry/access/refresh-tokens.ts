import { createHmac } from "node:crypto";

import { RegistryError } from "../errors.ts";
import { findAccount } from "../store/accounts.ts";
import type { Sql } from "../store/database.ts";
import { findRefreshToken, insertRefreshToken } from "../store/refresh-tokens.ts";
import { findRobotLogin, isRobotName } from "../store/robots.ts";
import { ADMIN_NAME, toPrincipal } from "./authenticate.ts";
import type { Principal } from "./principal.ts";
import { digestSecret } from "./secrets.ts";

/**
 * What clients keep in place of a password (token authentication of the registry, `refresh_token`): a random text of which the digest is
 * stored. It ends with the password or secret that it was given for, and when it is not used for 90 days.
 */
export interface RefreshTokens {
  /** Undefined for logins that end by themselves: access tokens of the identity service, and those of processing. */
  readonly create: (login: { readonly user: string; readonly password: string }) => Promise<string | undefined>;
  /** @throws {RegistryError} UNAUTHORIZED when it is unknown or has ended */
  readonly redeem: (token: string) => Promise<Principal>;
}

interface RefreshTokensOptions {
  readonly sql: Sql;
  /** Shared by all replicas. */
  readonly secret: string;
  readonly adminPasswords: readonly string[];
}

const SECONDS = 90 * 86_400;

export function createRefreshTokens({ sql, secret, adminPasswords }: RefreshTokensOptions): RefreshTokens {
  const prove = (digest: Buffer) =>
    createHmac("sha256", secret).update("registry refresh token ").update(digest).digest("base64url");
  /** What a name logs in with now, and as whom. */
  const listLogins = async (user: string): Promise<readonly { proof: string; principal: Principal }[]> => {
    if (isRobotName(user)) {
      const login = await findRobotLogin(sql, user);
      return login === undefined
        ? []
        : [
            {
              proof: prove(login.digest),
              principal: { kind: "robot", name: login.robot.fullName, permissions: login.robot.permissions },
            },
          ];
    }
    const account = await findAccount(sql, user);
    return [
      ...(user === ADMIN_NAME ? adminPasswords : []).map((password) => ({
        proof: prove(digestSecret(password)),
        principal: { kind: "admin", name: ADMIN_NAME } as const,
      })),
      ...(account?.secretDigest === undefined
        ? []
        : [{ proof: prove(account.secretDigest), principal: toPrincipal(account) }]),
    ];
  };
  return {
    create: async ({ user, password }) => {
      const proof = prove(digestSecret(password));
      return (await listLogins(user)).some((login) => login.proof === proof)
        ? insertRefreshToken(sql, { username: user, proof }, SECONDS)
        : undefined;
    },
    redeem: async (token) => {
      const found = await findRefreshToken(sql, token, SECONDS);
      const login = found && (await listLogins(found.username)).find(({ proof }) => proof === found.proof);
      if (login === undefined) {
        throw new RegistryError(
          "UNAUTHORIZED",
          "The refresh token is unknown, or has ended with the secret that it was given for; log in again.",
        );
      }
      return login.principal;
    },
  };
}
