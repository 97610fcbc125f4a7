const SERVICE = "data-access";

/**
 * Host of the catalogue that decides for a host of this service: `data-access.<workspace>.<domain>` has the records of that workspace
 * alone, and `data-access-open.<domain>` what the catalogue shows on its own open host.
 *
 * @param catalogueHost `resource-catalogue.<domain>`, with its port
 */
export function catalogueHostFor(hostname: string | undefined, catalogueHost: string): string {
  const dot = catalogueHost.indexOf(".");
  if (hostname === undefined || dot < 0) {
    return catalogueHost;
  }
  const [service, rest] = [catalogueHost.slice(0, dot), catalogueHost.slice(dot + 1)];
  const domain = rest.replace(/:\d+$/, "").toLowerCase();
  const name = hostname.toLowerCase();
  if (name === `${SERVICE}-open.${domain}`) {
    return `${service}-open.${rest}`;
  }
  const workspace =
    name.startsWith(`${SERVICE}.`) && name.endsWith(`.${domain}`)
      ? name.slice(SERVICE.length + 1, -domain.length - 1)
      : "";
  return /^[a-z0-9-]+$/.test(workspace) ? `${service}.${workspace}.${rest}` : catalogueHost;
}

/** Address of a path at the catalogue that decides for a host of this service. @param path with its query, from its first slash on */
export function catalogueAddressFor(hostname: string | undefined, catalogueUrl: string, path: string): string {
  const { protocol, host } = new URL(catalogueUrl);
  return `${protocol}//${catalogueHostFor(hostname, host)}${path}`;
}

/** Whether a host, with its port, is one that `catalogueHostFor` gives: the protected one, the open one, or that of a workspace. */
export function isCatalogueHost(host: string, catalogueHost: string): boolean {
  const [name, expected] = [host.toLowerCase(), catalogueHost.toLowerCase()];
  const dot = expected.indexOf(".");
  if (name === expected || dot < 0) {
    return name === expected;
  }
  const [service, rest] = [expected.slice(0, dot), expected.slice(dot + 1)];
  const workspace =
    name.startsWith(`${service}.`) && name.endsWith(`.${rest}`)
      ? name.slice(service.length + 1, -rest.length - 1)
      : undefined;
  return name === `${service}-open.${rest}` || (workspace !== undefined && /^[a-z0-9-]+$/.test(workspace));
}
