import { setTimeout as sleep } from "node:timers/promises";

import type { CertificateStatus, Target } from "../../targets/target.ts";

const TIMEOUT_MS = 120_000;
const POLL_MS = 500;

/**
 * Waits until every host has a certificate of the issuer, or the issuer's first refusal is known. Returns what the operator has to
 * know; undefined when all is well.
 */
export async function waitForCertificates(target: Target, stdout: NodeJS.WriteStream): Promise<string | undefined> {
  if (target.readCertificates === undefined) {
    return undefined;
  }
  const deadline = performance.now() + TIMEOUT_MS;
  let isAnnounced = false;
  for (;;) {
    const missing = (await target.readCertificates()).filter(
      ({ state }) => state === "temporary" || state === "expired",
    );
    const isDecided = missing.every(({ lastError }) => lastError !== undefined);
    if (isDecided || performance.now() > deadline) {
      return describe(missing);
    }
    if (!isAnnounced) {
      isAnnounced = true;
      stdout.write(
        `Waiting for ${missing.length === 1 ? "a certificate" : `${missing.length} certificates`} of ${missing[0]?.issuer} ...\n`,
      );
    }
    await sleep(POLL_MS);
  }
}

function describe(missing: readonly CertificateStatus[]): string | undefined {
  const [first] = missing;
  if (first === undefined) {
    return undefined;
  }
  const hosts = missing.flatMap((each) => each.hosts);
  const reason =
    first.lastError === undefined
      ? "it takes longer than usual"
      : `${first.lastError.text}\n  -> ${first.lastError.advice}`;
  return (
    `${first.issuer} has not signed for ${hosts.slice(0, 3).join(", ")}${hosts.length > 3 ? ` and ${hosts.length - 3} more` : ""} yet; ` +
    `browsers warn of these hosts until it has. It is asked again by itself (bin/swath certificates).\n  ${reason}`
  );
}
