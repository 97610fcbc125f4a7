import { hostsToCover } from "../hosts.ts";

/** One certificate that the deployment needs. */
export interface CertificateWish {
  /** Names its file and its state: a host, or the domain for the one certificate with wildcards. */
  readonly name: string;
  /** Sorted. */
  readonly hosts: readonly string[];
}

type Routes = readonly { readonly host: string; readonly wildcard?: boolean }[];

/** One certificate a host by HTTP-01, which cannot prove wildcards; one for all of them by DNS-01. */
export function listWishes(domain: string, routes: Routes, provesWildcards: boolean): readonly CertificateWish[] {
  const hosts = hostsToCover(domain, routes, provesWildcards);
  return provesWildcards ? [{ name: domain, hosts }] : hosts.map((host) => ({ name: host, hosts: [host] }));
}
