import { X509Certificate, createPrivateKey } from "node:crypto";

import { readIfThere, writePrivate } from "./files.ts";
import { coversHost } from "./hosts.ts";
import type { CertificateIssuer } from "./issuer.ts";

interface EnsureOptions {
  /** Holds certificate chain and key together, so that no reader ever finds a pair that does not fit. Mode 0600. */
  readonly file: string;
  readonly hosts: readonly string[];
  readonly issuer: CertificateIssuer;
  /** Where the chain must lead, when the issuer knows: a leaf of an earlier CA is replaced. */
  readonly caFile?: string;
  readonly now?: Date;
}

/** Renewed when less than a third of its life is left: one of many daily checks may fail without harm. */
const RENEW_AT = 1 / 3;

/**
 * Makes sure that `file` holds a good certificate for all `hosts`; to be called at every start and once a day.
 * Returns whether it was issued anew (then the ingress has to be told) and when it ends.
 */
export async function ensureCertificate({
  file,
  hosts,
  issuer,
  caFile,
  now = new Date(),
}: EnsureOptions): Promise<{ readonly renewed: boolean; readonly notAfter: Date }> {
  const kept = await readIfThere(file);
  const caPem = caFile === undefined ? undefined : await readIfThere(caFile);
  const until = kept === undefined ? undefined : goodUntil(kept, hosts, caPem, now);
  if (until !== undefined) {
    return { renewed: false, notAfter: until };
  }
  const issued = await issuer.issue(hosts);
  await writePrivate(file, issued.certPem + issued.keyPem);
  return { renewed: true, notAfter: issued.notAfter };
}

/** When the certificate ends, or `undefined` when it must be replaced. */
function goodUntil(pem: string, hosts: readonly string[], caPem: string | undefined, now: Date): Date | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
    if (!certificate.checkPrivateKey(createPrivateKey(pem))) {
      return undefined;
    }
    if (caPem !== undefined && !certificate.verify(new X509Certificate(caPem).publicKey)) {
      return undefined;
    }
  } catch {
    // Damaged, whatever the reason: a new one costs little.
    return undefined;
  }
  const names = (certificate.subjectAltName ?? "").split(", ").map((name) => name.replace(/^DNS:/, ""));
  const from = Date.parse(certificate.validFrom);
  const until = Date.parse(certificate.validTo);
  const fresh = until - now.getTime() > (until - from) * RENEW_AT;
  return fresh && hosts.every((host) => coversHost(names, host)) ? new Date(until) : undefined;
}
