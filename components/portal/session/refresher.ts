import { hash } from "node:crypto";

import { IssuerUnavailableError } from "@swath/auth";
import * as openid from "openid-client";

import type { OidcClient } from "./oidc-client.ts";
import type { TokenSet } from "./token-cookies.ts";

/** Renews logins. */
export interface Refresher {
  /**
   * New tokens, or `undefined` when the login has ended or is not the portal's to renew. A page sends many requests with the
   * same old cookies at once, and a refresh token is good once: they all get the tokens of one refresh.
   * @throws {IssuerUnavailableError}
   */
  readonly refresh: (refreshToken: string) => Promise<TokenSet | undefined>;
}

/** Milliseconds in which requests with the old cookies may still arrive. */
const REMEMBER = 30_000;
const MOST_REMEMBERED = 10_000;

export function createRefresher(client: OidcClient, clock: () => number = Date.now): Refresher {
  const recent = new Map<string, { readonly result: Promise<TokenSet | undefined>; readonly at: number }>();

  const ask = async (refreshToken: string): Promise<TokenSet | undefined> => {
    const configuration = await client.configuration();
    try {
      const tokens = await openid.refreshTokenGrant(configuration, refreshToken);
      return { accessToken: tokens.access_token, refreshToken: tokens.refresh_token ?? refreshToken };
    } catch (error) {
      if (error instanceof openid.ResponseBodyError && error.status < 500) {
        return undefined;
      }
      throw new IssuerUnavailableError("the identity service could not renew a login", { cause: error });
    }
  };

  return {
    refresh: (refreshToken) => {
      const key = hash("sha256", refreshToken);
      const now = clock();
      for (const [old, { at }] of recent) {
        if (at > now - REMEMBER && recent.size < MOST_REMEMBERED) {
          break;
        }
        recent.delete(old);
      }
      const known = recent.get(key);
      if (known !== undefined) {
        return known.result;
      }
      const result = ask(refreshToken);
      recent.set(key, { result, at: now });
      // A failure to ask is no answer: the next request asks again.
      result.catch(() => recent.delete(key));
      return result;
    },
  };
}
