import { IssuerUnavailableError, createRefreshOnce } from "@swath/auth";
import type { OidcClient } from "@swath/auth/login";
import * as openid from "openid-client";

import { type TokenSet, chooseTokens } from "./token-cookies.ts";

/** Renews logins. */
export interface Refresher {
  /**
   * New tokens, or `undefined` when the login has ended or is not the portal's to renew. Requests with the same old cookies get the
   * tokens of one refresh.
   * @throws {IssuerUnavailableError}
   */
  readonly refresh: (refreshToken: string) => Promise<TokenSet | undefined>;
}

export function createRefresher(
  client: OidcClient,
  { useIdTokens = false, clock = Date.now }: { readonly useIdTokens?: boolean; readonly clock?: () => number } = {},
): Refresher {
  const once = createRefreshOnce<TokenSet | undefined>(clock);

  const send = async (refreshToken: string): Promise<TokenSet | undefined> => {
    const configuration = await client.configuration();
    try {
      const tokens = await openid.refreshTokenGrant(configuration, refreshToken);
      return chooseTokens(
        {
          accessToken: tokens.access_token,
          refreshToken: tokens.refresh_token ?? refreshToken,
          idToken: tokens.id_token,
        },
        useIdTokens,
      );
    } catch (error) {
      if (error instanceof openid.ResponseBodyError && error.status < 500) {
        return undefined;
      }
      throw new IssuerUnavailableError("the identity service could not renew a login", { cause: error });
    }
  };

  return { refresh: (refreshToken) => once(refreshToken, () => send(refreshToken)) };
}
