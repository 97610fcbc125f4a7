import { existsSync } from "node:fs";

import { type ContradictionRule, isEmbedded } from "./rule.ts";

const ISSUERS = ["local-ca", "letsencrypt-staging", "letsencrypt-production"];

/** What the embedded cluster needs to get certificates. */
export const certificateRules: readonly ContradictionRule[] = [
  {
    subject: "TLS_CLUSTER_ISSUER",
    impossible: true,
    check: (input) =>
      asksForCertificates(input) &&
      input.variables.ACME_DIRECTORY_URL === undefined &&
      !ISSUERS.includes(input.variables.TLS_CLUSTER_ISSUER)
        ? `is ${input.variables.TLS_CLUSTER_ISSUER}, which the embedded cluster does not know; allowed: ${ISSUERS.join(", ")}, or another name together with ACME_DIRECTORY_URL`
        : undefined,
  },
  {
    subject: "ACME_DIRECTORY_URL",
    check: ({ variables: v }) =>
      v.ACME_DIRECTORY_URL !== undefined && v.TLS_CLUSTER_ISSUER === "local-ca"
        ? "has no effect while TLS_CLUSTER_ISSUER is local-ca"
        : undefined,
  },
  {
    subject: "ACME_EAB_KID",
    impossible: true,
    check: ({ variables: v }) =>
      (v.ACME_EAB_KID === undefined) === (v.ACME_EAB_HMAC_KEY === undefined)
        ? undefined
        : "and ACME_EAB_HMAC_KEY belong together: set both or neither",
  },
  {
    subject: "ACME_CHALLENGE",
    impossible: true,
    check: ({ variables: v }) =>
      v.ACME_CHALLENGE === "dns-01" && v.ACME_DNS_SERVER === undefined && v.ACME_DNS_HOOK === undefined
        ? "is dns-01, which needs ACME_DNS_SERVER or ACME_DNS_HOOK to change the DNS with"
        : undefined,
  },
  {
    subject: "ACME_DNS_HOOK",
    impossible: true,
    check: ({ variables: v }) =>
      v.ACME_DNS_HOOK !== undefined && v.ACME_DNS_SERVER !== undefined
        ? "and ACME_DNS_SERVER exclude each other: set one of them"
        : undefined,
  },
  ...(["ACME_DNS_HOOK", "ACME_CA_FILE"] as const).map((subject): ContradictionRule => ({
    subject,
    impossible: true,
    check: (input) => {
      const path = input.variables[subject];
      return asksForCertificates(input) && path !== undefined && !existsSync(path)
        ? `is ${path}, which does not exist`
        : undefined;
    },
  })),
  {
    subject: "ACME_DNS_KEY_NAME",
    impossible: true,
    check: ({ variables: v }) =>
      (v.ACME_DNS_KEY_NAME === undefined) === (v.ACME_DNS_KEY_SECRET === undefined)
        ? undefined
        : "and ACME_DNS_KEY_SECRET belong together: set both or neither",
  },
  {
    subject: "ACME_CHALLENGE",
    check: (input) =>
      asksForCertificates(input) &&
      input.variables.TLS_CLUSTER_ISSUER !== "local-ca" &&
      input.variables.ACME_CHALLENGE === "http-01" &&
      input.variables.REQUIRE_OBJSTORE
        ? "is http-01, which cannot prove wildcard names: the object store's hosts of single buckets (BUCKET.objstore.DOMAIN) get no certificate; its paths work (dns-01 has both)"
        : undefined,
  },
];

function asksForCertificates(input: Parameters<ContradictionRule["check"]>[0]): boolean {
  return isEmbedded(input) && input.variables.USE_TLS && input.config.action === "apply";
}
