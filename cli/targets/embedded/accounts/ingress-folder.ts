import { createHash } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

import type { Certificate, IngressConfig } from "../ingress/config.ts";
import type { ClusterPaths } from "../state/paths.ts";

const GROUP_READS = 0o640;
const GROUP_PASSES = 0o750;

/** The copy of the configuration that the ingress reads, where it has its own account. */
export const publishedConfig = ({ ingress }: Pick<ClusterPaths, "ingress">): string => join(ingress, "ingress.json");

/**
 * Writes what the ingress reads into its folder, for its group: the configuration, the certificates with their keys that are in it,
 * and the authority that signs for workspaces. Everything else in the folder of keys, accounts at ACME servers for one, stays root's.
 */
export function publishForIngress(config: IngressConfig, { ingress }: ClusterPaths, group: number): void {
  const keys = join(ingress, "keys");
  const authority = join(ingress, "authority");
  for (const folder of [ingress, keys, authority]) {
    mkdirSync(folder, { recursive: true, mode: GROUP_PASSES });
    chownSync(folder, -1, group);
  }
  const used = new Set<string>();
  const publish = (folder: string, name: string, content: Buffer): string => {
    const file = join(folder, name);
    used.add(file);
    writeForGroup(file, content, group);
    return file;
  };
  // Named by what is in it: a certificate that is renewed changes the configuration, and one that is in use is never rewritten.
  const publishPem = (file: string): string => {
    const content = readFileSync(file);
    return publish(keys, `${createHash("sha256").update(content).digest("hex").slice(0, 16)}.pem`, content);
  };
  const certificates = config.tls.certificates.map(({ hosts, certFile, keyFile }): Certificate => ({
    hosts,
    certFile: publishPem(certFile),
    keyFile: publishPem(keyFile),
  }));
  const { workspaces } = config.tls;
  for (const end of workspaces === undefined ? [] : ["ca.key", "ca.crt"]) {
    const name = `${workspaces?.domain}.${end}`;
    const source = join(workspaces?.caFolder ?? "", name);
    if (existsSync(source)) {
      publish(authority, name, readFileSync(source));
    }
  }
  const tls = { certificates, ...(workspaces && { workspaces: { ...workspaces, caFolder: authority } }) };
  writeForGroup(publishedConfig({ ingress }), Buffer.from(`${JSON.stringify({ ...config, tls })}\n`), group);
  for (const file of [keys, authority].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))) {
    if (!used.has(file)) {
      rmSync(file, { force: true });
    }
  }
}

/** Replaces a file in one step, where it has another content. */
function writeForGroup(file: string, content: Buffer, group: number): void {
  if (existsSync(file) && readFileSync(file).equals(content)) {
    chownSync(file, -1, group);
    return;
  }
  const unfinished = `${file}.${process.pid}.writing`;
  const descriptor = openSync(unfinished, "w", 0o600);
  try {
    writeSync(descriptor, content);
    fchownSync(descriptor, -1, group);
    fchmodSync(descriptor, GROUP_READS);
  } finally {
    closeSync(descriptor);
  }
  renameSync(unfinished, file);
}
