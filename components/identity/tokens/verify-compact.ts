import { type CompactVerifyGetKey, compactVerify, decodeJwt, errors } from "jose";

import { decodeBase64Url } from "./base64url.ts";
import type { SigningAlgorithm } from "../store/keys.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** Longer than any token that is made here. */
const LONGEST = 32_768;

/**
 * The claims of a compact JWS when its signature is that of the key that is found for it, expired or not. Spelled as RFC 7515 §2 has it: `jose` also reads
 * other spellings of the same bytes, by which one token would have several texts.
 */
export async function verifyCompact(
  token: string,
  algorithms: readonly SigningAlgorithm[],
  findKey: CompactVerifyGetKey,
): Promise<Claims | undefined> {
  const parts = token.split(".");
  if (parts.length !== 3 || token.length > LONGEST || !parts.every((part) => decodeBase64Url(part) !== undefined)) {
    return undefined;
  }
  try {
    const verified = await compactVerify(token, findKey, { algorithms: [...algorithms] });
    const claims: unknown = JSON.parse(Buffer.from(verified.payload).toString());
    return typeof claims === "object" && claims !== null ? (claims as Claims) : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof SyntaxError || error instanceof TypeError) {
      return undefined;
    }
    throw error;
  }
}

/** What a token says, whoever made it: for finding whom to ask whether it is good. */
export function peekClaims(token: string): Claims | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}
