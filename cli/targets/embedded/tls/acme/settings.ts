import { createHash } from "node:crypto";

import type { PlatformSecret, Variables } from "@swath/manifest";

/** Directories by the names that TLS_CLUSTER_ISSUER knows. */
export const DIRECTORIES: Readonly<Record<string, string>> = {
  "letsencrypt-staging": "https://acme-staging-v02.api.letsencrypt.org/directory",
  "letsencrypt-production": "https://acme-v02.api.letsencrypt.org/directory",
};

export type TsigAlgorithm = "hmac-sha256" | "hmac-sha384" | "hmac-sha512";

/** How TXT records of DNS-01 get into the DNS. */
export type DnsSettings =
  | { readonly kind: "hook"; readonly program: string; readonly propagationSeconds: number }
  | {
      readonly kind: "update";
      readonly host: string;
      readonly port: number;
      /** Found by asking the server when left out. */
      readonly zone?: string;
      readonly key?: { readonly name: string; readonly algorithm: TsigAlgorithm; readonly secret: string };
      readonly propagationSeconds: number;
    };

/** What it takes to get certificates from one ACME server. */
export interface AcmeSettings {
  /** Value of TLS_CLUSTER_ISSUER. */
  readonly issuer: string;
  readonly directoryUrl: string;
  readonly email?: string;
  /** PEM file of certificate authorities that the server itself is trusted by, beside the public ones. */
  readonly caFile?: string;
  readonly externalAccount?: { readonly kid: string; readonly hmacKey: string };
  /** DNS-01 when given, HTTP-01 otherwise. */
  readonly dns?: DnsSettings;
}

/** Undefined where the configuration names no ACME server. Plans of earlier versions know none of the variables but the issuer. */
export function readAcmeSettings(
  variables: Partial<Variables>,
  readSecret: (secret: PlatformSecret) => string,
): AcmeSettings | undefined {
  const issuer = variables.TLS_CLUSTER_ISSUER ?? "";
  const directoryUrl = variables.ACME_DIRECTORY_URL ?? DIRECTORIES[issuer];
  if (issuer === "local-ca" || directoryUrl === undefined) {
    return undefined;
  }
  const { ACME_EMAIL: email, ACME_CA_FILE: caFile, ACME_EAB_KID: kid, ACME_EAB_HMAC_KEY: hmacKey } = variables;
  const dns = variables.ACME_CHALLENGE === "dns-01" ? readDnsSettings(variables, readSecret) : undefined;
  return {
    issuer,
    directoryUrl,
    ...(email !== undefined && { email }),
    ...(caFile !== undefined && { caFile }),
    ...(kid !== undefined && hmacKey !== undefined && { externalAccount: { kid, hmacKey: readSecret(hmacKey) } }),
    ...(dns !== undefined && { dns }),
  };
}

function readDnsSettings(
  variables: Partial<Variables>,
  readSecret: (secret: PlatformSecret) => string,
): DnsSettings | undefined {
  const propagationSeconds = variables.ACME_DNS_PROPAGATION ?? 0;
  if (variables.ACME_DNS_HOOK !== undefined) {
    return { kind: "hook", program: variables.ACME_DNS_HOOK, propagationSeconds };
  }
  if (variables.ACME_DNS_SERVER === undefined) {
    return undefined;
  }
  const { host, port } = parseDnsServer(variables.ACME_DNS_SERVER);
  const { ACME_DNS_ZONE: zone, ACME_DNS_KEY_NAME: name, ACME_DNS_KEY_SECRET: secret } = variables;
  const algorithm = variables.ACME_DNS_KEY_ALGORITHM ?? "hmac-sha256";
  return {
    kind: "update",
    host,
    port,
    propagationSeconds,
    ...(zone !== undefined && { zone }),
    ...(name !== undefined && secret !== undefined && { key: { name, algorithm, secret: readSecret(secret) } }),
  };
}

/** `ns1.example.org`, `192.0.2.1:5353`, `[2001:db8::1]:53`. */
export function parseDnsServer(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port] =
    /^(?:\[([^\]]+)\]|([^:]+|[0-9a-fA-F:]*::[0-9a-fA-F:]*))(?::(\d+))?$/.exec(text) ?? [];
  return { host: bracketed ?? plain ?? text, port: port === undefined ? 53 : Number(port) };
}

/** Folder of a server's account and certificates: a name that people recognize, and apart for every directory. */
export function folderName({ issuer, directoryUrl }: AcmeSettings): string {
  return DIRECTORIES[issuer] === directoryUrl
    ? issuer
    : `${issuer}-${createHash("sha256").update(directoryUrl).digest("hex").slice(0, 8)}`;
}
