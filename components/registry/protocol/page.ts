import { RegistryError } from "../errors.ts";

const DEFAULT_PAGE = 1000;
const MAX_PAGE = 10_000;

export interface PageRequest {
  readonly n: number;
  readonly last: string;
}

/** Page of a listing: `?n=&last=`. @throws {RegistryError} PAGINATION_NUMBER_INVALID */
export function parsePage(query: URLSearchParams): PageRequest {
  const n = query.get("n");
  if (n !== null && !/^\d{1,9}$/.test(n)) {
    throw new RegistryError("PAGINATION_NUMBER_INVALID", "n must be a whole number.");
  }
  return { n: n === null ? DEFAULT_PAGE : Math.min(Number(n), MAX_PAGE), last: query.get("last") ?? "" };
}

/** The `Link` field (RFC 8288) to the page after `last`. */
export function nextLink(path: string, query: URLSearchParams, { n, last }: PageRequest): string {
  const next = new URLSearchParams(query);
  next.set("n", String(n));
  next.set("last", last);
  return `<${path}?${next.toString()}>; rel="next"`;
}
