import { type KeyObject, constants, createCipheriv, publicEncrypt, randomBytes } from "node:crypto";

import type { KubernetesObject } from "@swath/kubernetes";

import { fillSecret } from "../state/generated-secrets.ts";

interface SealOptions {
  /** Public key of the sealed-secrets controller. */
  readonly key: KeyObject;
  /** The value of a generated secret, made at the first call and kept. */
  readonly get: (name: string, bytes: number) => string;
}

/** A Secret as the controller of sealed-secrets opens it, in its own namespace and name alone (strict scope); others as they are. */
export function sealSecret(object: KubernetesObject, { key, get }: SealOptions): KubernetesObject {
  if (object.kind !== "Secret") {
    return object;
  }
  const filled = fillSecret(object, { get });
  const { name, namespace = "default", labels } = filled.metadata;
  const data = (filled["data"] ?? {}) as Readonly<Record<string, string>>;
  const encryptedData = Object.fromEntries(
    Object.entries(data).map(([entry, value]) => [
      entry,
      seal(Buffer.from(value, "base64"), `${namespace}/${name}`, key),
    ]),
  );
  return {
    apiVersion: "bitnami.com/v1alpha1",
    kind: "SealedSecret",
    metadata: { name, namespace, ...(labels && { labels }) },
    spec: {
      encryptedData,
      template: { metadata: { name, namespace, ...(labels && { labels }) }, type: filled["type"] ?? "Opaque" },
    },
  };
}

const SESSION_KEY_BYTES = 32;

/**
 * kubeseal's format: length of the encrypted session key (16 bits), that key (RSA-OAEP with SHA-256, labelled with the scope), the
 * value (AES-256-GCM; the nonce is zero, for the key encrypts nothing else) with its tag.
 */
function seal(value: Buffer, label: string, key: KeyObject): string {
  const session = randomBytes(SESSION_KEY_BYTES);
  const wrapped = publicEncrypt(
    { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256", oaepLabel: Buffer.from(label) },
    session,
  );
  const length = Buffer.alloc(2);
  length.writeUInt16BE(wrapped.length);
  const cipher = createCipheriv("aes-256-gcm", session, Buffer.alloc(12));
  const encrypted = Buffer.concat([cipher.update(value), cipher.final()]);
  return Buffer.concat([length, wrapped, encrypted, cipher.getAuthTag()]).toString("base64");
}
