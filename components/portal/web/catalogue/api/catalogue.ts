import type { ItemPage, StacAsset, StacContainer, StacItem, StacLink } from "@swath/ui/stac";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { requestService, serviceUrl } from "../../src/api/services.ts";
import { toFileUrl } from "../../src/api/files.ts";
import { itemAddress } from "./edit.ts";

const SERVICE = "resource-catalogue";
const PAGE_SIZE = 50;

export interface TimeBucket {
  /** Begin of the month, RFC 3339. */
  readonly key: string;
  readonly frequency: number;
}

/** A search, page by page. */
export const searchQuery = (body: Readonly<Record<string, unknown>>) =>
  infiniteQueryOptions({
    queryKey: ["catalogue", "search", body],
    queryFn: ({ pageParam, signal }) =>
      requestService<ItemPage>(SERVICE, "/stac/search", { method: "POST", body: pageParam, signal }),
    initialPageParam: { ...body, limit: PAGE_SIZE } as Readonly<Record<string, unknown>>,
    getNextPageParam: ({ links = [] }) => links.find(({ rel }) => rel === "next")?.body,
  });

/** Items of a search by month. */
export const timesQuery = (conditions: Readonly<Record<string, unknown>>) =>
  queryOptions({
    queryKey: ["catalogue", "times", conditions],
    queryFn: async ({ signal }) => {
      const found = await requestService<{
        readonly aggregations: readonly { readonly name: string; readonly buckets?: readonly TimeBucket[] }[];
      }>(SERVICE, "/stac/aggregate", {
        method: "POST",
        body: { ...conditions, aggregations: ["datetime_frequency"] },
        signal,
      });
      return found.aggregations.find(({ name }) => name === "datetime_frequency")?.buckets ?? [];
    },
  });

export const collectionsQuery = () =>
  queryOptions({
    queryKey: ["catalogue", "collections"],
    queryFn: async ({ signal }) => {
      const all: StacContainer[] = [];
      for (let path: string | undefined = "/stac/collections?limit=1000"; path !== undefined;) {
        const page: { readonly collections: readonly StacContainer[]; readonly links?: readonly StacLink[] } =
          await requestService(SERVICE, path, { signal });
        all.push(...page.collections);
        const next = page.links?.find(({ rel }) => rel === "next")?.href;
        path = next === undefined ? undefined : pathOf(next);
      }
      return all;
    },
  });

export const collectionQuery = (id: string) =>
  queryOptions({
    queryKey: ["catalogue", "collection", id],
    queryFn: ({ signal }) =>
      requestService<StacContainer>(SERVICE, `/stac/collections/${encodeURIComponent(id)}`, { signal }),
  });

export const itemQuery = (collection: string, id: string) =>
  queryOptions({
    queryKey: ["catalogue", "item", collection, id],
    queryFn: ({ signal }) => requestService<StacItem>(SERVICE, itemAddress(collection, id), { signal }),
  });

/** Where the browser reads an asset: on the portal's own host, since pages may ask no other. */
export function assetUrl({ href }: StacAsset): string | undefined {
  return toFileUrl(href) ?? ownUrl(href);
}

/** An address of the catalogue itself, by way of the portal's server. */
function ownUrl(href: string): string | undefined {
  if (!URL.canParse(href)) {
    return undefined;
  }
  const { hostname, pathname, search } = new URL(href);
  return hostname.startsWith(`${SERVICE}.`) ? serviceUrl(SERVICE, `${pathname}${search}`) : undefined;
}

const pathOf = (href: string): string => {
  const { pathname, search } = new URL(href, "http://catalogue.invalid");
  return `${pathname}${search}`;
};
