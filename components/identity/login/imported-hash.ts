import { pbkdf2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(pbkdf2);

/** Digests of PBKDF2 (RFC 8018 section 5.2) that accounts of other identity services come with. */
export const PBKDF2_DIGESTS = ["sha1", "sha256", "sha512"] as const;
export type Pbkdf2Digest = (typeof PBKDF2_DIGESTS)[number];

const PATTERN = /^\$pbkdf2-(sha1|sha256|sha512)\$i=(\d{1,7})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Base64 without padding, as in PHC strings. */
export const toPhcText = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");

/** A PBKDF2 hash as it is stored: `$pbkdf2-<digest>$i=<iterations>$<salt>$<hash>`. */
export function toPbkdf2Text(digest: Pbkdf2Digest, iterations: number, salt: Buffer, hash: Buffer): string {
  return `$pbkdf2-${digest}$i=${iterations}$${toPhcText(salt)}$${toPhcText(hash)}`;
}

export const isPbkdf2Text = (stored: string): boolean => stored.startsWith("$pbkdf2-");

/** Whether the password is that of a stored PBKDF2 hash. @throws {Error} where it cannot be read */
export async function verifyPbkdf2(stored: string, password: string): Promise<boolean> {
  const [, digest = "", iterations = "", salt = "", hash = ""] = PATTERN.exec(stored) ?? [];
  if (digest === "") {
    throw new Error("a stored password hash cannot be read");
  }
  const expected = Buffer.from(hash, "base64");
  const found = await derive(password, Buffer.from(salt, "base64"), Number(iterations), expected.length, digest);
  return timingSafeEqual(found, expected);
}
