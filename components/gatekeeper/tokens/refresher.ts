import { createRefreshOnce } from "@swath/auth";

import type { FoundRefreshToken, TokenSet } from "./token-cookies.ts";
import type { TokenEndpoint } from "./token-endpoint.ts";

/** Renews logins whose access token has ended. */
export interface Refresher {
  /**
   * New tokens, or `undefined` when the login has ended. Requests with the same old cookies get the tokens of one refresh.
   * @param likelyClient the client the ended access token was issued to
   * @throws {Refusal} ISSUER_UNAVAILABLE
   */
  readonly refresh: (found: FoundRefreshToken, likelyClient: string | undefined) => Promise<TokenSet | undefined>;
}

interface RefresherDeps {
  readonly endpoint: TokenEndpoint;
  /** Client to try when nothing says whose a refresh token is: the portal's. */
  readonly defaultClient: string;
  readonly clock: () => number;
}

export function createRefresher({ endpoint, defaultClient, clock }: RefresherDeps): Refresher {
  const once = createRefreshOnce<TokenSet | undefined>(clock);

  const send = async (clientId: string, refreshToken: string): Promise<TokenSet | undefined> => {
    const response = await endpoint.send(clientId, { grant_type: "refresh_token", refresh_token: refreshToken });
    // A refresh token that is not rotated stays as it is.
    return response.ok ? { ...response.tokens, refreshToken: response.tokens.refreshToken ?? refreshToken } : undefined;
  };

  return {
    refresh: ({ clientId: known, refreshToken }, likelyClient) => {
      const clientId = known ?? likelyClient ?? defaultClient;
      return once(`${clientId}\n${refreshToken}`, () => send(clientId, refreshToken));
    },
  };
}
