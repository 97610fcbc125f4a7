import { randomBytes } from "node:crypto";

import type { PlatformSecret } from "@swath/manifest";

import { otherName } from "../../other-secret.ts";
import { readJsonFile, writeJsonFile } from "./json-file.ts";

/** Gives the value of a secret: the operator's, or one made at the first call and kept. */
export type SecretReader = (secret: PlatformSecret) => string;

/** The other value of a secret while it is being changed. */
export function openOtherReader(file: string): (secret: PlatformSecret) => string | undefined {
  const kept = readSecretFile(file);
  return (secret) => (secret.kind === "given" ? secret.also : kept.get(otherName(secret.name)));
}

/** Secrets that the cluster made for itself, and what is kept beside them, by their names. */
export function readSecretFile(file: string): Map<string, string> {
  return new Map(Object.entries(readJsonFile<Record<string, string>>(file) ?? {}));
}

/** Writes them all at once: whoever reads sees all of a change or nothing. */
export function writeSecretFile(file: string, secrets: ReadonlyMap<string, string>): void {
  writeJsonFile(file, Object.fromEntries(secrets));
}

/** Secrets that the cluster made for itself, kept in a file that only the operator can read. */
export function openSecretStore(file: string): SecretReader {
  const kept = readSecretFile(file);
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
    writeSecretFile(file, kept);
    return made;
  };
}
