import { hash, randomBytes, timingSafeEqual } from "node:crypto";

const SECRET_BYTES = 32;

/** A random secret; as many bits as a digest has, so that guessing it is hopeless and a plain digest of it may be stored. */
export function createSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

export function digestSecret(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

/** Compares without telling by its time how much was right. */
export function isSecret(provided: string, digest: Buffer): boolean {
  return timingSafeEqual(digestSecret(provided), digest);
}
