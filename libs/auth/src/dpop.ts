import { EmbeddedJWK, calculateJwkThumbprint, errors, jwtVerify } from "jose";
import { hash } from "node:crypto";

/** Signatures that proofs may have: with a key pair only, since the public key stands in the proof itself. */
export const DPOP_ALGORITHMS = ["ES256", "ES384", "RS256", "PS256", "EdDSA", "Ed25519"];

/** A proof is good for this long around the time that it says it was made at, in seconds. */
export const DPOP_SECONDS = 60;
const MAX_PROOF = 8192;
const MAX_ID = 256;

/** A proof that must not be accepted (RFC 9449 §4.3). */
export class DpopError extends Error {
  override readonly name = "DpopError";
}

export interface DpopRequest {
  readonly method: string;
  /** Where the request was sent to; its query does not count. */
  readonly url: string;
  /** The access token that comes with it, where one does. */
  readonly accessToken?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What a proof shows. */
export interface DpopProof {
  /** Thumbprint of the key that the sender holds (RFC 7638), as tokens say it in `cnf.jkt`. */
  readonly thumbprint: string;
  /** To be taken once, until then. */
  readonly id: string;
  readonly expiresAt: Date;
}

/**
 * Checks a proof of possession (RFC 9449 §4.3), all but that it is used once: whoever calls takes the `id`.
 * @throws {DpopError} saying what is wrong
 */
export async function checkDpopProof(proof: string, request: DpopRequest): Promise<DpopProof> {
  if (proof.length > MAX_PROOF) {
    throw new DpopError(`it is longer than ${MAX_PROOF} characters`);
  }
  const { payload, protectedHeader } = await verify(proof, request.now);
  const { jti, htm, htu, iat, ath } = payload;
  if (typeof jti !== "string" || jti === "" || jti.length > MAX_ID) {
    throw new DpopError(`its claim jti must be a text of at most ${MAX_ID} characters`);
  }
  if (htm !== request.method) {
    throw new DpopError("its claim htm is not the method of the request");
  }
  if (typeof htu !== "string" || toTarget(htu) === undefined || toTarget(htu) !== toTarget(request.url)) {
    throw new DpopError("its claim htu is not the address of the request");
  }
  if (typeof iat !== "number" || Math.abs(iat - request.now / 1000) > DPOP_SECONDS) {
    throw new DpopError(`its claim iat is more than ${DPOP_SECONDS} seconds away from now`);
  }
  const requested = request.accessToken === undefined ? undefined : hash("sha256", request.accessToken, "base64url");
  if (requested !== undefined && ath !== requested) {
    throw new DpopError("its claim ath is not the hash of the access token");
  }
  const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk as Parameters<typeof calculateJwkThumbprint>[0]);
  return { thumbprint, id: `${thumbprint} ${jti}`, expiresAt: new Date((iat + 2 * DPOP_SECONDS) * 1000) };
}

async function verify(proof: string, now: number) {
  try {
    return await jwtVerify(proof, EmbeddedJWK, {
      typ: "dpop+jwt",
      algorithms: DPOP_ALGORITHMS,
      currentDate: new Date(now),
      requiredClaims: ["jti", "htm", "htu", "iat"],
    });
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException) {
      throw new DpopError(`it is not a signed proof: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** An address without its query, in the one spelling that RFC 3986 §6.2.2 and §6.2.3 give it. */
function toTarget(address: string): string | undefined {
  if (!URL.canParse(address)) {
    return undefined;
  }
  const { origin, pathname } = new URL(address);
  const path = pathname.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
  return `${origin}${path}`;
}

/**
 * The token of an `Authorization: DPoP` header (RFC 9449 §7.1). `undefined` for another scheme, an empty text for none that could be one.
 */
export function readDpopToken(authorization: string | undefined): string | undefined {
  const match = /^dpop(?: +(.*))?$/i.exec(authorization ?? "");
  if (match === null) {
    return undefined;
  }
  const token = match[1]?.trim() ?? "";
  return /^[A-Za-z0-9\-._~+/]+=*$/.test(token) ? token : "";
}

/** Thumbprint of the key that a token is bound to (RFC 9449 §6.1); an empty text where its `cnf` says something else. */
export function boundKeyOf(claims: Readonly<Record<string, unknown>>): string | undefined {
  const confirmation = claims["cnf"];
  if (confirmation === undefined) {
    return undefined;
  }
  const { jkt } = Object(confirmation) as { jkt?: unknown };
  // What is bound in a way that is not known here is good for nobody.
  return typeof jkt === "string" ? jkt : "";
}
