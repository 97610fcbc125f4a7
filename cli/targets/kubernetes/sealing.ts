import { type KeyObject, X509Certificate, createPublicKey } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

import type { KubernetesObject } from "@swath/kubernetes";

import { openSecretStore } from "../embedded/state/secrets.ts";
import { KubernetesError } from "./kubernetes-error.ts";
import { sealSecret } from "./render/seal-secret.ts";

/** Seals with a certificate of the sealed-secrets controller. Generated values are made once, and kept for this user alone. */
export function createSealing(
  certificate: string,
  secretsFile: string,
): { readonly seal: (object: KubernetesObject) => KubernetesObject; readonly keptIn: string } {
  const key = readKey(certificate);
  mkdirSync(dirname(secretsFile), { recursive: true, mode: 0o700 });
  const read = openSecretStore(secretsFile);
  const get = (name: string, bytes: number) => (bytes === 0 ? "" : read({ kind: "generated", name, bytes }));
  return { seal: (object) => sealSecret(object, { key, get }), keptIn: secretsFile };
}

/** A certificate as `kubeseal --fetch-cert` prints it, or a public key. */
function readKey(file: string): KeyObject {
  try {
    const text = readFileSync(file, "utf8");
    const key = text.includes("BEGIN CERTIFICATE") ? new X509Certificate(text).publicKey : createPublicKey(text);
    if (key.asymmetricKeyType !== "rsa") {
      throw new Error(`its key is ${key.asymmetricKeyType}, and the controller's is RSA`);
    }
    return key;
  } catch (error) {
    throw new KubernetesError(
      `${file} is not the certificate of a sealed-secrets controller: ${(error as Error).message}; get it with kubeseal --fetch-cert`,
    );
  }
}
