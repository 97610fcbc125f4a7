import { join } from "node:path";

import type { Plan } from "../../../platform/plan.ts";
import type { CertificateStatus } from "../../target.ts";
import type { ClusterPaths } from "../state/paths.ts";
import { coversAll, parseCertificate } from "./acme/keys.ts";
import { type CertificateRecord, certificateFile, readAcmeState } from "./acme/records.ts";
import { findRenewalTime } from "./acme/schedule.ts";
import { folderName, readAcmeSettings } from "./acme/settings.ts";
import { type CertificateWish, listWishes } from "./acme/wishes.ts";
import { listDomains } from "./domains.ts";
import { readIfThere } from "./files.ts";
import { acmeRoot, listStoredCertificates } from "./served-certificates.ts";

/** What certificates the hosts of a deployment have, read from the disk: it is true also while the supervisor is down. */
export async function readCertificates(
  paths: ClusterPaths,
  plan: Plan | undefined,
): Promise<readonly CertificateStatus[]> {
  if (plan === undefined || plan.settings.scheme === "http") {
    return [];
  }
  const { variables } = plan.settings;
  const settings = readAcmeSettings(variables, () => "");
  if (settings === undefined) {
    return Promise.all(
      listDomains(plan).map(async ({ domain, file }) => {
        const wish = { name: domain, hosts: [`*.${domain}`, domain] };
        const status = await describe(wish, join(paths.tls, `local-ca${file}.pem`));
        return { ...status, issuer: variables.TLS_CLUSTER_ISSUER };
      }),
    );
  }
  const server = folderName(settings);
  const folder = join(acmeRoot(paths.tls), server);
  const { certificates } = readAcmeState(folder);
  const stored = listStoredCertificates(paths.tls, server);
  const wishes = listDomains(plan).flatMap(({ domain, routes }) =>
    listWishes(domain, routes, settings.dns !== undefined),
  );
  return Promise.all(
    wishes.map(async (wish) => {
      const other = stored.find((certificate) => coversAll(certificate, wish.hosts))?.file;
      const own = certificateFile(folder, wish.name);
      const status = await describe(wish, own, certificates[wish.name]);
      const served = status.state === "temporary" && other !== undefined ? await describe(wish, other) : {};
      return { ...served, ...status, issuer: settings.issuer };
    }),
  );
}

async function describe(
  { name, hosts }: CertificateWish,
  file: string,
  record?: CertificateRecord,
): Promise<Omit<CertificateStatus, "issuer">> {
  const pem = await readIfThere(file);
  const certificate = pem === undefined ? undefined : parseCertificate(pem);
  const attempt = {
    ...(record && record.failures > 0 && { nextAttempt: new Date(record.nextAt) }),
    ...(record?.lastError && { lastError: { ...record.lastError, at: new Date(record.lastError.at) } }),
  };
  if (certificate === undefined || !coversAll(certificate, hosts)) {
    return { hosts, state: "temporary", ...attempt };
  }
  const now = Date.now();
  const renewAt = record?.advice?.renewAt ?? findRenewalTime(certificate, name);
  const state = certificate.notAfter.getTime() < now ? "expired" : renewAt <= now ? "renewing" : "issued";
  return { hosts, state, signedBy: certificate.issuer, expires: certificate.notAfter, ...attempt };
}
