import { type SecureContext, createSecureContext } from "node:tls";

import { LRUCache } from "lru-cache";

import type { CertificateIssuer } from "./issuer.ts";

const MAX_KEPT = 256;
/** Leaves of the local CA hold for longer; a process that runs for weeks gets new ones. */
const MAX_AGE_MS = 30 * 86_400_000;

interface Options {
  /** Signs names below the domain; loaded only when the first workspace's host is asked for. */
  readonly openIssuer: () => Promise<CertificateIssuer>;
  readonly domain: string;
  /** What every certificate of the ingress has in common. */
  readonly tls: { readonly minVersion: "TLSv1.2"; readonly ciphers: string };
}

/** Certificates for hosts of workspaces, `<service>.<workspace>.<domain>`: a wildcard reaches one label, and workspaces come and go. */
export interface WorkspaceCertificates {
  /** @returns `undefined` for a name that is no workspace's */
  readonly find: (serverName: string) => Promise<SecureContext> | undefined;
}

/** Has `*.<workspace>.<domain>` signed when it is first asked for, one at a time, and keeps a bounded number. */
export function createWorkspaceCertificates({ openIssuer, domain, tls }: Options): WorkspaceCertificates {
  const kept = new LRUCache<string, Promise<SecureContext>>({ max: MAX_KEPT, ttl: MAX_AGE_MS });
  let last: Promise<unknown> = Promise.resolve();
  return {
    find: (serverName) => {
      const workspace = findWorkspace(serverName, domain);
      if (workspace === undefined) {
        return undefined;
      }
      const known = kept.get(workspace);
      if (known !== undefined) {
        return known;
      }
      const context = last.then(async () => {
        const { certPem, keyPem } = await (await openIssuer()).issue([`*.${workspace}.${domain}`]);
        return createSecureContext({ cert: certPem, key: keyPem, ...tls });
      });
      last = context.catch(() => undefined);
      kept.set(workspace, context);
      context.catch(() => kept.delete(workspace));
      return context;
    },
  };
}

/** The label before the domain of a host with one label more. */
function findWorkspace(serverName: string, domain: string): string | undefined {
  const name = serverName.toLowerCase();
  const labels = name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1).split(".") : [];
  const [, workspace] = labels;
  return labels.length === 2 && workspace !== undefined && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(workspace)
    ? workspace
    : undefined;
}
