import { randomBytes } from "node:crypto";

import type { PlatformSecret } from "@swath/manifest";

import { readJsonFile, writeJsonFile } from "./json-file.ts";

/** Gives the value of a secret: the operator's, or one made at the first call and kept. */
export type SecretReader = (secret: PlatformSecret) => string;

/** Secrets that the cluster made for itself, kept in a file that only the operator can read. */
export function openSecretStore(file: string): SecretReader {
  const kept = new Map(Object.entries(readJsonFile<Record<string, string>>(file) ?? {}));
  return (secret) => {
    if (secret.kind === "given") {
      return secret.value;
    }
    const existing = kept.get(secret.name);
    if (existing !== undefined) {
      return existing;
    }
    const made = randomBytes(secret.bytes).toString("base64url");
    kept.set(secret.name, made);
    // Written before anyone uses it: a secret that was given out is never lost.
    writeJsonFile(file, Object.fromEntries(kept));
    return made;
  };
}
