import { join } from "node:path";

import type { Plan } from "../../../platform/plan.ts";
import type { Certificate } from "../ingress/config.ts";
import { ensureCertificate } from "./certificate-file.ts";
import { type CoveredDomain, listDomains } from "./domains.ts";
import { hostsToCover } from "./hosts.ts";

interface LocalCertificates {
  /** For the ingress's configuration: one a domain, in the order of `listDomains`. */
  readonly certificates: readonly Certificate[];
  readonly renewed: boolean;
}

/**
 * Makes sure that the cluster has good certificates of its own authorities for all its hosts: one a domain.
 * @param folder where keys and certificates are kept
 */
export async function ensureLocalCertificates(plan: Plan, folder: string): Promise<LocalCertificates> {
  const ensured: { certificate: Certificate; renewed: boolean }[] = [];
  for (const domain of listDomains(plan)) {
    ensured.push(await ensureDomain(domain, folder));
  }
  return {
    certificates: ensured.map(({ certificate }) => certificate),
    renewed: ensured.some(({ renewed }) => renewed),
  };
}

async function ensureDomain({ domain, routes, file: suffix }: CoveredDomain, folder: string) {
  // Loaded only when needed: certificate libraries are the largest part of what a cluster without TLS never uses.
  const { createLocalCa } = await import("./local-ca.ts");
  const issuer = createLocalCa({ folder, domain });
  const hosts = hostsToCover(domain, routes, issuer.issuesWildcards);
  const file = join(folder, `${issuer.name}${suffix}.pem`);
  const { renewed } = await ensureCertificate({ file, hosts, issuer, caFile: await issuer.certificateFile() });
  return { certificate: { hosts, certFile: file, keyFile: file }, renewed };
}
