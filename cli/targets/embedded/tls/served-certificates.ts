import { X509Certificate } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { Certificate } from "../ingress/config.ts";
import { type ParsedCertificate, parseCertificate } from "./acme/keys.ts";
import { coversHost } from "./hosts.ts";

export interface StoredCertificate extends ParsedCertificate {
  readonly file: string;
  /** Folder below `acme`: the server that it is from. */
  readonly server: string;
}

/** Folder of everything from ACME servers, one folder each below. */
export function acmeRoot(tlsFolder: string): string {
  return join(tlsFolder, "acme");
}

/** Certificates of ACME servers that are on disk and whole, those of `server` first, then the ones that end last. */
export function listStoredCertificates(tlsFolder: string, server: string): readonly StoredCertificate[] {
  return listFolders(acmeRoot(tlsFolder))
    .flatMap((name) => listCertificates(join(acmeRoot(tlsFolder), name), name))
    .sort(
      (left, right) =>
        Number(right.server === server) - Number(left.server === server) ||
        right.notAfter.getTime() - left.notAfter.getTime(),
    );
}

function listCertificates(folder: string, server: string): readonly StoredCertificate[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".pem"))
    .flatMap((name) => {
      const file = join(folder, name);
      const certificate = parseCertificate(readFileSync(file, "utf8"));
      return certificate === undefined ? [] : [{ ...certificate, file, server }];
    });
}

function listFolders(root: string): readonly string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return [];
    }
    throw error;
  }
}

/**
 * What the ingress serves for each host: the best certificate there is, and one of the local authority while there is none. A host
 * that has a certificate keeps it, also when the issuer is changed, until the next one is there.
 */
export function chooseCertificates(
  hosts: readonly string[],
  stored: readonly StoredCertificate[],
  fallback: Certificate,
): readonly Certificate[] {
  const chosen = new Map<string, string[]>();
  for (const host of hosts) {
    const file = stored.find(({ names }) => coversHost(names, host))?.file ?? fallback.certFile;
    chosen.set(file, [...(chosen.get(file) ?? []), host]);
  }
  // The first is also for clients that name no host.
  return [...chosen]
    .sort(([left], [right]) => Number(left === fallback.certFile) - Number(right === fallback.certFile))
    .map(([file, names]) => ({ hosts: names, certFile: file, keyFile: file }));
}

/** The last certificate of each stored chain: what a program of this machine may trust for the deployment's own hosts. */
export function listTrustAnchors(stored: readonly StoredCertificate[]): readonly string[] {
  const anchors = stored.map(({ file }) => {
    const chain = readFileSync(file, "utf8").match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    return new X509Certificate(chain.at(-1) ?? "").toString();
  });
  return [...new Set(anchors)];
}
