import { join } from "node:path";

import type { Plan } from "../../../platform/plan.ts";
import type { Certificate } from "../ingress/config.ts";
import { ensureCertificate } from "./certificate-file.ts";
import { hostsToCover } from "./hosts.ts";
import type { CertificateIssuer } from "./issuer.ts";

interface ClusterCertificate {
  /** For the ingress's configuration. */
  readonly certificate: Certificate;
  readonly renewed: boolean;
}

/**
 * Makes sure that the cluster has a good certificate for all its hosts, from the issuer that the configuration names.
 * @param folder where keys and certificates are kept
 */
export async function ensureClusterCertificate(plan: Plan, folder: string): Promise<ClusterCertificate> {
  const { domain, variables } = plan.settings;
  const { issuer, caFile } = await openIssuer(variables.TLS_CLUSTER_ISSUER, folder, domain);
  const hosts = hostsToCover(domain, plan.routes, issuer.issuesWildcards);
  const file = join(folder, `${issuer.name}.pem`);
  const { renewed } = await ensureCertificate({ file, hosts, issuer, ...(caFile !== undefined && { caFile }) });
  return { certificate: { hosts, certFile: file, keyFile: file }, renewed };
}

interface OpenIssuer {
  readonly issuer: CertificateIssuer;
  readonly caFile?: string;
}

async function openIssuer(name: string, folder: string, domain: string): Promise<OpenIssuer> {
  if (name !== "local-ca") {
    throw new Error(
      `the embedded cluster has no certificate issuer "${name}"; allowed: TLS_CLUSTER_ISSUER=local-ca, or USE_TLS=false`,
    );
  }
  // Loaded only when needed: certificate libraries are the largest part of what a cluster without TLS never uses.
  const { createLocalCa } = await import("./local-ca.ts");
  const issuer = createLocalCa({ folder, domain });
  return { issuer, caFile: await issuer.certificateFile() };
}
