import { isCatalogueHost } from "./hosts.ts";

/** The catalogue's public address, and the one inside the deployment. */
export interface CatalogueAddresses {
  readonly publicUrl: string;
  /** `http://host:port` or `http+unix://…`; left out where no record has it. */
  readonly internalUrl?: string;
}

/**
 * The path below `/stac` of an item, from any address that the catalogue has: of its protected, its open and its workspaces' hosts, of the
 * deployment's inside, below `/stac` and in OGC API Features. Who may read the item is decided by the host that data access was asked on.
 */
export function findItemPath(url: string, { publicUrl, internalUrl }: CatalogueAddresses): string | undefined {
  const path =
    internalUrl !== undefined && url.startsWith(`${internalUrl}/`)
      ? url.slice(internalUrl.length)
      : pathOnHost(url, new URL(publicUrl));
  const [, collection = "", item = ""] =
    /^(?:\/stac)?\/collections\/([^/?#]+)\/items\/([^/?#]+)\/?(?:[?#].*)?$/.exec(path ?? "") ?? [];
  return collection === "" || isStep(collection) || isStep(item)
    ? undefined
    : `/collections/${collection}/items/${item}`;
}

/** The scheme need not be the same: TLS may end before the catalogue. */
function pathOnHost(url: string, catalogue: URL): string | undefined {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    return undefined;
  }
  const { host, pathname, username } = new URL(url);
  return username === "" && isCatalogueHost(host, catalogue.host) ? pathname : undefined;
}

/** `.` and `..` lead to another path. */
const isStep = (part: string): boolean => /^(?:\.|%2e){1,2}$/i.test(part);
