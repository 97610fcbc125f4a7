import * as openid from "openid-client";

import type { Issuer } from "../issuer.ts";
import { IssuerUnavailableError } from "../token-error.ts";
import { LoginFailure } from "./login-failure.ts";

interface CodeExchange {
  readonly issuer: Issuer;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where the browser came back to, with everything that it brought. */
  readonly callback: URL;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** What a login ends with. */
interface CodeTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

/**
 * Exchanges the code of a login for tokens, as a client with a secret (OpenID Connect Core §3.1.3, RFC 7636 §4.5, RFC 9207 §2.4).
 * @throws {LoginFailure} saying why there are none
 * @throws {IssuerUnavailableError} nobody can say now
 */
export async function exchangeCode(exchange: CodeExchange): Promise<CodeTokens> {
  const { issuer, clientId, clientSecret, callback, state, nonce, verifier } = exchange;
  const metadata = await issuer.metadata();
  const configuration = new openid.Configuration(
    metadata as unknown as openid.ServerMetadata,
    clientId,
    undefined,
    openid.ClientSecretBasic(clientSecret),
  );
  if (issuer.url.startsWith("http:")) {
    openid.allowInsecureRequests(configuration);
  }
  let unavailable: IssuerUnavailableError | undefined;
  // The library asks the token endpoint alone: what came from there needs no look at its signature (§3.1.3.7).
  configuration[openid.customFetch] = async (_address, options) => {
    try {
      const { status, body } = await issuer.call("token_endpoint", {
        method: "POST",
        headers: Object.fromEntries(new Headers(options.headers)),
        // Forms are all that the library sends here.
        body: options.body instanceof URLSearchParams ? options.body.toString() : "",
        timeout: 10_000,
      });
      if (status >= 500) {
        throw new IssuerUnavailableError(`the token endpoint answered ${status}`);
      }
      return new Response(body, { status, headers: { "content-type": "application/json" } });
    } catch (error) {
      if (error instanceof IssuerUnavailableError) {
        unavailable = error;
      }
      throw error;
    }
  };
  try {
    const tokens = await openid.authorizationCodeGrant(configuration, callback, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    return { accessToken: tokens.access_token, refreshToken: tokens.refresh_token };
  } catch (cause) {
    throw unavailable ?? toFailure(cause);
  }
}

function toFailure(cause: unknown): LoginFailure {
  if (cause instanceof openid.AuthorizationResponseError) {
    const said = /^[a-z_]{1,40}$/.test(cause.error) ? cause.error : "nothing of use";
    return new LoginFailure("refused", `the identity service said ${said}`, { cause });
  }
  return cause instanceof openid.ResponseBodyError
    ? new LoginFailure("expired", "it was completed already, or took too long", { cause })
    : new LoginFailure("refused", "its answer belongs to another login, or came from another issuer", { cause });
}
