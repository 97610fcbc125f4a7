import { webcrypto } from "node:crypto";

import type { RenewalAdvice } from "./records.ts";
import { pickInWindow } from "./schedule.ts";
import type { AcmeSession } from "./session.ts";

const MIN_CHECK_MS = 60_000;
const MAX_CHECK_MS = 24 * 3_600_000;
const DEFAULT_CHECK_MS = 6 * 3_600_000;
const MAX_EXPLANATION_CHARS = 300;

/** Names a certificate as the renewal information of its server does (RFC 9773 §4.1); undefined without an authority key identifier. */
export async function findCertId(pem: string): Promise<string | undefined> {
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  x509.cryptoProvider.set(webcrypto);
  const certificate = new x509.X509Certificate(pem.slice(0, pem.indexOf("-----END CERTIFICATE-----") + 25));
  const keyId = certificate.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId;
  if (keyId === undefined) {
    return undefined;
  }
  // The content of the DER integer: without zeros in front, but one where the first bit would be a sign.
  const digits = certificate.serialNumber.replace(/^0+/, "");
  const serial = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  const content = (serial[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), serial]) : serial;
  return `${Buffer.from(keyId, "hex").toString("base64url")}.${content.toString("base64url")}`;
}

/** When the server suggests to renew a certificate; undefined where it suggests nothing. */
export async function readRenewalAdvice(
  session: AcmeSession,
  certId: string,
  now: number,
): Promise<RenewalAdvice | undefined> {
  const base = await session.directoryField("renewalInfo");
  if (base === undefined) {
    return undefined;
  }
  const url = `${base.replace(/\/$/, "")}/${certId}`;
  const { text } = await session.transport.send({ url, method: "GET" });
  const advice = JSON.parse(text) as { suggestedWindow?: { start?: string; end?: string }; explanationURL?: unknown };
  const start = Date.parse(advice.suggestedWindow?.start ?? "");
  const end = Date.parse(advice.suggestedWindow?.end ?? "");
  if (Number.isNaN(start) || Number.isNaN(end) || end <= start) {
    // RFC 9773 §4.2: such a window is to be treated as none at all.
    return undefined;
  }
  const wait = Math.min(Math.max(session.transport.retryAfterMs(url) ?? DEFAULT_CHECK_MS, MIN_CHECK_MS), MAX_CHECK_MS);
  const { explanationURL: explanation } = advice;
  return {
    certId,
    renewAt: pickInWindow({ start, end }, certId),
    checkAt: now + wait,
    ...(typeof explanation === "string" && { explanation: explanation.slice(0, MAX_EXPLANATION_CHARS) }),
  };
}
