import { createHmac, timingSafeEqual } from "node:crypto";

import { decodeBase64Url, encodeJson, parseJson } from "./key-set.ts";

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

const HEADER = encodeJson({ alg: "HS256", typ: "JWT" });

/** A JWT: browser clients of the known kind decode it to see when it ends. */
export function signRefreshToken(secret: string, { offline, ...claims }: RefreshClaims): string {
  const payload = encodeJson({
    ...claims,
    aud: claims.iss,
    typ: offline ? "Offline" : "Refresh",
    session_state: claims.sid,
  });
  return `${HEADER}.${payload}.${mac(secret, payload).toString("base64url")}`;
}

/** The claims of a refresh token that this realm issued, expired or not. */
export function readRefreshToken(secret: string, issuer: string, token: string): RefreshClaims | undefined {
  const parts = token.split(".");
  const [header, payload, signature] = parts;
  if (parts.length !== 3 || header !== HEADER || !payload || !signature || token.length > 8192) {
    return undefined;
  }
  const given = decodeBase64Url(signature);
  const wanted = mac(secret, payload);
  if (given === undefined || given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    return undefined;
  }
  const claims = parseJson(payload);
  if (claims === undefined || claims["iss"] !== issuer || !["Refresh", "Offline"].includes(String(claims["typ"]))) {
    return undefined;
  }
  return { ...(claims as unknown as RefreshClaims), offline: claims["typ"] === "Offline" };
}

function mac(secret: string, payload: string): Buffer {
  return createHmac("sha256", `refresh ${secret}`).update(`${HEADER}.${payload}`).digest();
}
