import { X509Certificate, createPrivateKey, generateKeyPairSync } from "node:crypto";

import { coversHost } from "../hosts.ts";

/** A new ECDSA P-256 key, PKCS #8 as PEM. */
export function generateKeyPem(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/** A certificate with its key that may be served now or later. */
export interface ParsedCertificate {
  /** Names that it holds. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly issuer: string;
}

/** Reads chain and key from one PEM text; undefined when it is damaged or the key is another's. */
export function parseCertificate(pem: string): ParsedCertificate | undefined {
  try {
    const certificate = new X509Certificate(pem);
    if (!certificate.checkPrivateKey(createPrivateKey(pem))) {
      return undefined;
    }
    const issuer = certificate.issuer.split("\n");
    return {
      names: (certificate.subjectAltName ?? "").split(", ").map((name) => name.replace(/^DNS:/, "").toLowerCase()),
      notBefore: new Date(certificate.validFrom),
      notAfter: new Date(certificate.validTo),
      issuer: (issuer.find((part) => part.startsWith("CN=")) ?? issuer[0] ?? "").replace(/^CN=/, ""),
    };
  } catch {
    // Damaged, whatever the reason: it is replaced.
    return undefined;
  }
}

export function coversAll({ names }: ParsedCertificate, hosts: readonly string[]): boolean {
  return hosts.every((host) => coversHost(names, host));
}
