import { type Issuer, createTokenVerifier, openIssuer } from "@swath/auth";

import type { VerifyToken } from "./assume-role.ts";

interface VerifierOptions {
  /** What tokens say in `iss`. */
  readonly issuer: string;
  /** The same server on a way inside the deployment. */
  readonly peerUrl: string | undefined;
  /** Take ID tokens as well. */
  readonly acceptIdTokens: boolean;
  readonly audiences: readonly string[];
}

/** Verifies access tokens of one OIDC issuer that are meant for one of the audiences. */
export function createWebIdentityVerifier({ issuer: url, peerUrl, acceptIdTokens, audiences }: VerifierOptions): {
  readonly issuer: Issuer;
  readonly verify: VerifyToken;
  readonly close: () => Promise<void>;
} {
  const issuer = openIssuer({ issuer: url, acceptIdTokens, ...(peerUrl !== undefined && { peerUrl }) });
  const verifier = createTokenVerifier({ issuer });
  return {
    issuer,
    verify: async (token) => (await verifier.verify(token, { audiences })).claims,
    close: () => issuer.close(),
  };
}
