import { createPeer } from "@swath/service";
import { createRemoteJWKSet, customFetch, jwtVerify } from "jose";

import type { VerifyToken } from "./assume-role.ts";

/**
 * Verifies tokens of an OIDC issuer: signature, issuer, times. Keys are fetched from the issuer's realm through
 * `internalUrl` (the path of the issuer below it) and kept as jose keeps them.
 */
export function createTokenVerifier(
  issuer: string,
  internalUrl: string,
): { readonly verify: VerifyToken; readonly close: () => Promise<void> } {
  const peer = createPeer(internalUrl);
  const path = new URL(issuer).pathname.replace(/\/+$/, "");
  const fetchFromPeer = async (url: string) => {
    const { pathname, search } = new URL(url);
    const answer = await peer.fetch(`${pathname}${search}`, { timeout: 5000 });
    return new Response(await answer.text(), { status: answer.status });
  };
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;
  const load = async () => {
    const answer = await peer.fetch(`${path}/.well-known/openid-configuration`, { timeout: 5000 });
    const { jwks_uri: uri } = (await answer.json()) as { jwks_uri?: string };
    if (!answer.ok || uri === undefined) {
      throw new Error(`the identity service answers ${answer.status} without a jwks_uri at its discovery document`);
    }
    return createRemoteJWKSet(new URL(uri), { [customFetch]: fetchFromPeer });
  };
  return {
    verify: async (token) => {
      keys ??= load().catch((error: unknown) => {
        keys = undefined;
        throw error;
      });
      const { payload } = await jwtVerify(token, await keys, {
        issuer,
        algorithms: ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"],
        requiredClaims: ["exp", "sub"],
      });
      return payload;
    },
    close: () => peer.close(),
  };
}
