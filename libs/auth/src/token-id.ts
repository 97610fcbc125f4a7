import { randomUUID } from "node:crypto";

/**
 * An identifier for a token: a UUIDv7, whose first 48 bits are a time in milliseconds (RFC 9562 §5.7). `iat` counts whole
 * seconds, which is too coarse to tell a token from before a change of its user from one made right after it.
 *
 * @param readAt milliseconds since 1970 at which what the token says of its user was read, at the latest
 */
export function createTokenId(readAt: number): string {
  const time = readAt.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const UUID_V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** What somebody may have done between the reading of a user and the signing of the token: entering a second factor. */
const MAX_ISSUE = 60_000;

/** Whether a token was made before a moment (milliseconds since 1970). Where only its second is known, that second counts as before. */
export function isIssuedBefore(
  { jti, iat = 0 }: { readonly jti?: string; readonly iat?: number },
  moment: number,
): boolean {
  const [, high, low] = UUID_V7.exec(jti ?? "") ?? [];
  const readAt = high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
  // An issuer of someone else may put any time into its identifiers.
  const isOfToken = readAt !== undefined && readAt < (iat + 1) * 1000 && readAt > iat * 1000 - MAX_ISSUE;
  return isOfToken ? readAt <= moment : iat <= Math.floor(moment / 1000);
}
