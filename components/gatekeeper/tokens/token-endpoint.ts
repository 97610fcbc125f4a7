import { type Issuer, IssuerUnavailableError } from "@swath/auth";

import { Refusal } from "../errors.ts";
import { type ClientCredentials, basicAuthorization } from "./credentials.ts";
import type { TokenSet } from "./token-cookies.ts";

/** Asks the issuer's token endpoint (RFC 6749 §3.2) for our clients and for public ones. */
export interface TokenEndpoint {
  /**
   * @returns the tokens, or what the issuer found wrong
   * @throws {Refusal} ISSUER_UNAVAILABLE
   */
  readonly send: (
    clientId: string,
    parameters: Readonly<Record<string, string>>,
    forwardedFor?: string,
  ) => Promise<TokenResponse>;
  /** Ends a login at the issuer (RFC 7009); resolves also when the issuer does not know the token any more. */
  readonly revoke: (clientId: string, refreshToken: string) => Promise<void>;
}

export type TokenResponse =
  | { readonly ok: true; readonly tokens: TokenSet; readonly body: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly status: number; readonly error: string; readonly description: string | undefined };

interface TokenEndpointDeps {
  readonly issuer: Issuer;
  readonly clients: ReadonlyMap<string, ClientCredentials>;
}

export function createTokenEndpoint({ issuer, clients }: TokenEndpointDeps): TokenEndpoint {
  const post = async (
    endpoint: "token_endpoint" | "revocation_endpoint",
    clientId: string,
    parameters: Readonly<Record<string, string>>,
    forwardedFor?: string,
  ) => {
    const credentials = clients.get(clientId);
    try {
      return await issuer.call(endpoint, {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "cache-control": "no-cache",
          ...(credentials !== undefined && { authorization: basicAuthorization(credentials) }),
          // The issuer counts failed logins by address.
          ...(forwardedFor !== undefined && { "x-forwarded-for": forwardedFor }),
        },
        body: new URLSearchParams({
          ...parameters,
          ...(credentials === undefined && { client_id: clientId }),
        }).toString(),
        timeout: 10_000,
      });
    } catch (cause) {
      throw cause instanceof IssuerUnavailableError ? new Refusal("ISSUER_UNAVAILABLE", { cause }) : cause;
    }
  };
  return {
    send: async (clientId, parameters, forwardedFor) => {
      const { status, body } = await post("token_endpoint", clientId, parameters, forwardedFor);
      const response = parseObject(body);
      if (status >= 500 || response === undefined) {
        throw new Refusal("ISSUER_UNAVAILABLE", { cause: new Error(`the token endpoint answered ${status}`) });
      }
      const {
        access_token: accessToken,
        refresh_token: refreshToken,
        error,
        error_description: description,
      } = response;
      if (status !== 200 || typeof accessToken !== "string") {
        return {
          ok: false,
          status,
          error: typeof error === "string" ? error : "server_error",
          description: typeof description === "string" ? description : undefined,
        };
      }
      return {
        ok: true,
        body: response,
        tokens: { accessToken, refreshToken: typeof refreshToken === "string" ? refreshToken : undefined, clientId },
      };
    },
    revoke: async (clientId, refreshToken) => {
      const { revocation_endpoint: endpoint } = await issuer.metadata();
      if (endpoint !== undefined) {
        await post("revocation_endpoint", clientId, { token: refreshToken, token_type_hint: "refresh_token" });
      }
    },
  };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
