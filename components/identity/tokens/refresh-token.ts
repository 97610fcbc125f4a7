import { createSecretSigner } from "./sign-compact.ts";
import { peekClaims } from "./verify-compact.ts";

/** What a refresh token says. Only this service reads it, so a shared secret signs it. */
export interface RefreshClaims {
  readonly iss: string;
  readonly sub: string;
  readonly sid: string;
  readonly azp: string;
  /** Id of this generation; the database knows which one is good. */
  readonly jti: string;
  /** The chain of exchanges that it is the newest link of. */
  readonly chain?: string | undefined;
  /** What the client asked to find again (OpenID Connect Core §3.1.2.1); browser adapters compare it in every token. */
  readonly nonce?: string | undefined;
  /** The key that must be shown with it (RFC 9449 §5). */
  readonly cnf?: { readonly jkt: string } | undefined;
  readonly scope: string;
  readonly offline: boolean;
  readonly iat: number;
  readonly exp: number;
}

/** Refresh tokens of one realm. */
export interface RefreshTokens {
  readonly sign: (claims: RefreshClaims) => string;
  /** The claims of a refresh token that this realm issued, expired or not. */
  readonly read: (token: string) => RefreshClaims | undefined;
}

/** Longer than any refresh token. */
const LONGEST = 8192;

/** @param secret the realm's */
export function createRefreshTokens(secret: string, issuer: string): RefreshTokens {
  const signer = createSecretSigner(`refresh ${secret}`, "JWT");
  return {
    // A JWT: browser clients of the known kind decode it to see when it ends.
    sign: ({ offline, ...claims }) =>
      signer.sign({
        ...claims,
        aud: claims.iss,
        typ: offline ? "Offline" : "Refresh",
        session_state: claims.sid,
      }),
    read: (token) => {
      const claims = token.length > LONGEST || !signer.isSigned(token) ? undefined : peekClaims(token);
      if (claims === undefined || claims["iss"] !== issuer || !["Refresh", "Offline"].includes(String(claims["typ"]))) {
        return undefined;
      }
      return { ...(claims as unknown as RefreshClaims), offline: claims["typ"] === "Offline" };
    },
  };
}
