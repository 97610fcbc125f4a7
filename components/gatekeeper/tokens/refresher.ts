import { hash } from "node:crypto";

import type { FoundRefreshToken, TokenSet } from "./token-cookies.ts";
import type { TokenEndpoint } from "./token-endpoint.ts";

/** Renews logins whose access token has ended. */
export interface Refresher {
  /**
   * New tokens, or `undefined` when the login has ended. A page that loads sends many requests with the same old cookies
   * at once, and a refresh token may be used only once: they all get the tokens of one refresh.
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

/** How long requests with the old cookies may still arrive. */
const REMEMBER = 30_000;
const MOST_REMEMBERED = 10_000;

export function createRefresher({ endpoint, defaultClient, clock }: RefresherDeps): Refresher {
  const recent = new Map<string, { readonly result: Promise<TokenSet | undefined>; at: number }>();

  const ask = async (clientId: string, refreshToken: string): Promise<TokenSet | undefined> => {
    const answer = await endpoint.ask(clientId, { grant_type: "refresh_token", refresh_token: refreshToken });
    // A refresh token that is not rotated stays as it is.
    return answer.ok ? { ...answer.tokens, refreshToken: answer.tokens.refreshToken ?? refreshToken } : undefined;
  };

  return {
    refresh: (found, likelyClient) => {
      const clientId = found.clientId ?? likelyClient ?? defaultClient;
      const key = hash("sha256", `${clientId}\n${found.refreshToken}`);
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
      const result = ask(clientId, found.refreshToken);
      recent.set(key, { result, at: now });
      // A failure to ask is no answer: the next request asks again.
      result.catch(() => recent.delete(key));
      return result;
    },
  };
}
