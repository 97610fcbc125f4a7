import { hash } from "node:crypto";

import { RegistryError } from "../errors.ts";

export type DigestAlgorithm = "sha256" | "sha512";

export interface Digest {
  readonly algorithm: DigestAlgorithm;
  /** `sha256:…` */
  readonly text: string;
}

const DIGEST = /^(?:(sha256):[0-9a-f]{64}|(sha512):[0-9a-f]{128})$/;

/** A digest with an algorithm that the registry knows; undefined for any other text. */
export function findDigest(text: string): Digest | undefined {
  const match = DIGEST.exec(text);
  return match === null ? undefined : { algorithm: (match[1] ?? match[2]) as DigestAlgorithm, text };
}

/** @throws {RegistryError} DIGEST_INVALID */
export function parseDigest(text: string): Digest {
  const digest = findDigest(text);
  if (digest === undefined) {
    throw new RegistryError(
      "DIGEST_INVALID",
      "The digest is invalid; it must be sha256:<64 hex> or sha512:<128 hex>.",
      {
        detail: { digest: text.slice(0, 200) },
      },
    );
  }
  return digest;
}

/** @throws {RegistryError} DIGEST_INVALID for an unknown algorithm */
export function parseAlgorithm(text: string): DigestAlgorithm {
  if (text !== "sha256" && text !== "sha512") {
    throw new RegistryError("DIGEST_INVALID", "The digest algorithm is not supported; use sha256 or sha512.");
  }
  return text;
}

export function digestOf(content: Buffer, algorithm: DigestAlgorithm): string {
  return `${algorithm}:${hash(algorithm, content, "hex")}`;
}
