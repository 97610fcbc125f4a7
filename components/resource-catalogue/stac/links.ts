import { openApiType } from "@swath/service/send-openapi";
import type { FastifyRequest } from "fastify";

import { baseOf } from "../http/context.ts";

export const JSON_TYPE = "application/json";
export const GEOJSON_TYPE = "application/geo+json";
export const SCHEMA_TYPE = "application/schema+json";

/** A link of an answer. */
export interface Link {
  readonly rel: string;
  readonly href: string;
  readonly type?: string;
  readonly title?: string;
  readonly method?: "GET" | "POST";
  readonly body?: unknown;
  readonly merge?: boolean;
}

/** Root of the STAC API on the host of the request. */
export const stacRoot = (request: FastifyRequest): string => `${baseOf(request)}/stac`;

/** The address of the request itself. */
export const selfOf = (request: FastifyRequest): string => `${baseOf(request)}${request.url}`;

export const collectionUrl = (root: string, collection: string): string =>
  `${root}/collections/${encodeURIComponent(collection)}`;

export const itemUrl = (root: string, collection: string, id: string): string =>
  `${collectionUrl(root, collection)}/items/${encodeURIComponent(id)}`;

/** The catalogue of a collection's items, page by page. */
export const browseUrl = (root: string, collection: string): string => `${collectionUrl(root, collection)}/browse`;

/** Links of an item, as JSON without brackets. Written as text: a page has a hundred of them. */
export function itemLinks(root: string, collection: string, id: string): string {
  const parent = collectionUrl(root, collection);
  return (
    `{"rel":"self","type":"${GEOJSON_TYPE}","href":${JSON.stringify(`${parent}/items/${encodeURIComponent(id)}`)}},` +
    `{"rel":"collection","type":"${JSON_TYPE}","href":${JSON.stringify(parent)}},` +
    `{"rel":"parent","type":"${JSON_TYPE}","href":${JSON.stringify(parent)}},` +
    `{"rel":"root","type":"${JSON_TYPE}","href":${JSON.stringify(root)}}`
  );
}

export function collectionLinks(root: string, collection: string): string {
  const self = collectionUrl(root, collection);
  return toText([
    { rel: "self", type: JSON_TYPE, href: self },
    { rel: "root", type: JSON_TYPE, href: root },
    { rel: "parent", type: JSON_TYPE, href: root },
    { rel: "items", type: GEOJSON_TYPE, href: `${self}/items` },
    { rel: "child", type: JSON_TYPE, href: browseUrl(root, collection), title: "Items, page by page" },
    ...filterLinks(self),
  ]);
}

export function landingLinks(root: string): readonly Link[] {
  return [
    { rel: "self", type: JSON_TYPE, href: root },
    { rel: "root", type: JSON_TYPE, href: root },
    { rel: "data", type: JSON_TYPE, href: `${root}/collections`, title: "Collections" },
    { rel: "conformance", type: JSON_TYPE, href: `${root}/conformance`, title: "Conformance" },
    { rel: "search", type: GEOJSON_TYPE, href: `${root}/search`, method: "GET", title: "Search" },
    { rel: "search", type: GEOJSON_TYPE, href: `${root}/search`, method: "POST", title: "Search" },
    ...filterLinks(root),
    { rel: "service-desc", type: openApiType("3.0"), href: `${root}/api`, title: "OpenAPI document" },
    { rel: "service-doc", type: "text/html", href: `${root.replace(/\/stac$/, "")}/docs`, title: "API documentation" },
  ];
}

/** What can be asked of a collection, or of all. */
const filterLinks = (base: string): readonly Link[] => [
  {
    rel: "http://www.opengis.net/def/rel/ogc/1.0/queryables",
    type: SCHEMA_TYPE,
    href: `${base}/queryables`,
    title: "Queryables",
  },
  {
    rel: "http://www.opengis.net/def/rel/ogc/1.0/sortables",
    type: SCHEMA_TYPE,
    href: `${base}/sortables`,
    title: "Sortables",
  },
  { rel: "aggregate", type: JSON_TYPE, href: `${base}/aggregate`, title: "Aggregate" },
  { rel: "aggregations", type: JSON_TYPE, href: `${base}/aggregations`, title: "Aggregations" },
];

/** Links as JSON without brackets. */
export const toText = (links: readonly object[]): string => links.map((link) => JSON.stringify(link)).join(",");
