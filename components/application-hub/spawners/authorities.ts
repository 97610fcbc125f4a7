import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rootCertificates } from "node:tls";

import { SEEN } from "./containers/show-host.ts";

const SYSTEM = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];
/** Where a server finds the authorities that it trusts. */
const FILE = `${SEEN}/trust/authorities.pem`;

/** What a server needs for TLS to the platform where an authority of the platform's own signs its hosts. */
export interface Authorities {
  /** Folder to show at `target`, read-only. */
  readonly folder: string;
  readonly target: string;
  /** Variables by which programs find them. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Writes down the system's authorities and the platform's own in one file: programs that are told a file take no other.
 * @param shared folder of what all servers see
 * @returns undefined where the platform has no authority of its own
 */
export function shareAuthorities(shared: string, own: string | undefined): Authorities | undefined {
  if (own === undefined || !existsSync(own)) {
    return undefined;
  }
  const system = SYSTEM.find((path) => existsSync(path));
  const folder = join(shared, "trust");
  const file = join(folder, "authorities.pem");
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const text = [
    system === undefined ? rootCertificates.join("\n") : readFileSync(system, "utf8"),
    readFileSync(own, "utf8"),
  ].join("\n");
  // Whole at any moment: servers that run read it.
  writeFileSync(`${file}.new`, text, { mode: 0o644 });
  renameSync(`${file}.new`, file);
  return {
    folder,
    target: dirname(FILE),
    env: Object.fromEntries(
      [
        "SSL_CERT_FILE",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "AWS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
      ].map((name) => [name, FILE]),
    ),
  };
}
